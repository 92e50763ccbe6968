import { expect, test } from 'vitest';
import { appAccount, place } from '../../support/github.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushTo,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject, { account: appAccount });

test('a merge queue plans the queued commit with the config of its branch, and writes nothing to GitHub', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/a.yaml': connection('queued') });
  const head = commitAll(cwd);
  const before = bench.github().heard.length;
  const planned = await bench.step({
    cwd,
    event: 'merge_group',
    payload: {
      merge_group: { base_sha: base, base_ref: 'refs/heads/main', head_sha: head, head_ref: 'refs/heads/gh-readonly-queue/main/pr-1' },
    },
    inputs: { mode: 'plan' },
    env: { ...gateway.env(), GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-1' },
  });
  expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned', changed: 'true' } });
  expect(planned.summary).toMatch(
    /^### Plan for `production`: Changes its checks: url of target production changed from `\S+` to `http:\/\/127\.0\.0\.1:9`\. .* 1 to create\.\n/,
  );
  expect(
    bench
      .github()
      .heard.slice(before)
      .filter(({ method }) => method !== 'GET'),
  ).toEqual([]);
});

/** A clone with two applied connections on main, and its commit. */
async function appliedClone(name: string): Promise<{ readonly cwd: string; readonly main: string }> {
  const manifests = ['a', 'b'].map((one) => [`access/${one}.yaml`, connection(`${name}-${one}`, { reviewers: ['x'] })]);
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...Object.fromEntries(manifests) });
  const main = commitAll(cwd);
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  return { cwd, main };
}

type Pushed = { readonly number: number; readonly head: string; readonly before?: string; readonly at?: string };

/** Plans what is checked out as the pull request. */
function plan(cwd: string, base: string, { number, head, before, at }: Pushed): Promise<StepEnded> {
  const payload = JSON.parse(JSON.stringify(pullRequestPayload({ number, head, base })));
  Object.assign(payload, before === undefined ? {} : { before });
  Object.assign(payload.pull_request, at === undefined ? {} : { updated_at: at });
  return bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env: gateway.env() });
}

function applyAgreed(cwd: string, commit: string): Promise<StepEnded> {
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  const inputs = { mode: 'apply', digest: 'comment', overrides: 'true' };
  return bench.step({ cwd, event: 'push', payload: { ref: 'refs/heads/main', after: commit }, inputs, env });
}

async function lastOn(number: number): Promise<string> {
  return (await commentsOn(bench.github(), number)).at(-1)?.body ?? '';
}

/** Commits files on the branch that is checked out. */
function change(cwd: string, name: string, reviewers: readonly string[]): string {
  writeFiles(cwd, { [`access/${name.slice(-1)}.yaml`]: connection(name, { reviewers }) });
  return commitAll(cwd, name);
}

/** Makes GitHub answer with an earlier head of a pull request. */
function answerWith(number: number, head: string, updatedAt?: string): void {
  bench.github().intercept(({ method, path }) =>
    method === 'GET' && path.endsWith(`/pulls/${number}`)
      ? {
          status: 200,
          body: { number, user: { login: 'ada' }, head: { sha: head }, base: { ref: 'main' }, merged_at: null, updated_at: updatedAt },
        }
      : undefined,
  );
}

test('the run of the newest commit shows its plan while GitHub still answers with the commit before', async () => {
  const { cwd, main } = await appliedClone('lags');
  const { number } = await openPullRequest(bench.github(), 'lags');
  git(cwd, 'checkout --quiet -b lags');
  const first = change(cwd, 'lags-a', ['x', 'y']);
  const second = change(cwd, 'lags-a', []);
  answerWith(number, first);
  expect(await plan(cwd, main, { number, head: second })).toMatchObject({ code: 0 });
  expect(await lastOn(number)).toContain(`of ${second} -->`);

  // A branch that was pushed with force: only the payload names the commit before.
  git(cwd, `checkout --quiet -B lags ${main}`);
  const forced = change(cwd, 'lags-a', ['z']);
  answerWith(number, second);
  expect((await plan(cwd, main, { number, head: forced })).stdout).toContain('forge/newer-commit');
  expect(await lastOn(number)).toContain(`of ${second} -->`);
  expect(await plan(cwd, main, { number, head: forced, before: second })).toMatchObject({ code: 0 });
  expect(await lastOn(number)).toContain(`of ${forced} -->`);

  // The branch went back to its parent since then.
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z'];
  const next = change(cwd, 'lags-a', ['w']);
  answerWith(number, forced, late);
  expect((await plan(cwd, main, { number, head: next, before: forced, at: early })).stdout).toContain('forge/newer-commit');
  answerWith(number, forced, early);
  expect((await plan(cwd, main, { number, head: next, before: forced, at: late })).stdout).not.toContain('forge/newer-commit');
  expect(await lastOn(number)).toContain(`of ${next} -->`);
});

test('a refused apply says that nothing is applied and what is live, and names the other pull request', async () => {
  const { cwd, main } = await appliedClone('union');
  const github = bench.github();
  const pulls: number[] = [];
  const merges: string[] = [];
  for (const one of ['union-a', 'union-b']) {
    const { number } = await openPullRequest(github, one);
    git(cwd, `checkout --quiet -b ${one} ${main}`);
    const head = change(cwd, one, ['x', 'y']);
    github.useCommit(await pushTo(github, one, 'two'), head);
    expect((await plan(cwd, main, { number, head })).code).toBe(0);
    git(cwd, 'checkout --quiet main');
    git(cwd, ['merge', '--quiet', '--no-ff', '-m', `Merge ${one}`, one]);
    const commit = git(cwd, 'rev-parse HEAD');
    github.useCommit(await mergePullRequest(github, number), commit);
    pulls.push(number);
    merges.push(commit);
  }
  const [first = 0, second = 0] = pulls;
  const refused = await applyAgreed(cwd, merges[1] ?? '');
  expect(refused).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
  const named = `pull request ${first} was merged, too`;
  expect(refused.stdout).toMatch(new RegExp(`^::notice title=forge/other-merges::.*${named}`, 'm'));
  for (const number of pulls) {
    const body = await lastOn(number);
    expect(body).toMatch(
      /^### Not applied\n(?:<!-- .* -->\n)+\n+> This run wrote nothing: .* the last complete apply is of commit [^\n]*\n\n/,
    );
    expect(body).toContain(main.slice(0, 12));
    expect(body).toContain(named);
  }
  const { data } = await github.person.issues.listComments({ ...place, issue_number: second });
  expect(data).toHaveLength(2);
  const words = { ...place, issue_number: second, body: `/ostiary apply ${refused.outputs['digest']}` };
  await github.reviewer.issues.createComment(words);
  expect(await applyAgreed(cwd, merges[1] ?? '')).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect((await gateway.call('GET', '/connections/union-a')).body).toMatchObject({ reviewers: ['x', 'y'] });
});
