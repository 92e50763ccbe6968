import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startGitServer } from '../../support/git-repository.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushTo,
  pushToOrigin,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, guardrail, useProjects, writeFiles, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

// Each asks git some fifty times.
const patient = { timeout: 60_000 };

/** A clone whose main branch is on origin. */
function cloneOf(files: Files): string {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  commitAll(cwd);
  pushToOrigin(cwd, makeProject({}));
  return cwd;
}

/** Writes, removes and commits on the branch that is checked out. */
function save(cwd: string, files: Files, ...removed: readonly string[]): string {
  writeFiles(cwd, files);
  for (const path of removed) git(cwd, `rm --quiet ${path}`);
  return commitAll(cwd);
}

type Applying = { readonly commit?: string; readonly inputs?: Readonly<Record<string, string>> };

/** Applies what is checked out, as the push to main does. */
function apply(cwd: string, { commit = git(cwd, 'rev-parse HEAD'), inputs = {} }: Applying = {}): Promise<StepEnded> {
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  git(cwd, 'push --quiet origin main');
  return bench.step({ cwd, event: 'push', payload: { after: commit }, inputs: { mode: 'apply', ...inputs }, env });
}

/** Plans what is checked out as a pull request of that number into main. */
function plan(cwd: string, pull: { readonly number: number; readonly head: string }): Promise<StepEnded> {
  const payload = pullRequestPayload({ ...pull, base: git(cwd, 'rev-parse main') });
  return bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env: gateway.env() });
}

/** What a plan does, and which of it is the pull request's own. */
function changesOf({ outputs }: StepEnded): Readonly<Record<string, unknown>> {
  const [found] = JSON.parse(readFileSync(outputs['plan-path'] ?? '', 'utf8')).plans;
  return Object.fromEntries(found.changes.map(({ id, own }: { readonly id: string; readonly own?: boolean }) => [id, own]));
}

test('a force-pushed branch is planned again with the current main branch', patient, async () => {
  const github = bench.github();
  const cwd = cloneOf({ 'access/stays.yaml': connection('force-stays') });
  expect((await apply(cwd)).code).toBe(0);
  git(cwd, 'checkout --quiet -b topic');
  save(cwd, { 'access/own.yaml': connection('force-own'), 'access/stays.yaml': connection('force-stays', { reviewers: ['dba'] }) });
  const pull = await openPullRequest(github, 'forced');
  const first = await plan(cwd, pull);
  expect({ code: first.code, changes: changesOf(first) }).toEqual({
    code: 0,
    changes: { 'Connection/force-own': true, 'Connection/force-stays': true },
  });
  const [comment] = await commentsOn(github, pull.number);

  // Another change is merged and not applied yet; the branch is rebased on it, with one change less.
  git(cwd, 'checkout --quiet main');
  save(cwd, { 'access/theirs.yaml': connection('force-theirs') });
  git(cwd, 'checkout --quiet -B topic main');
  const head = save(cwd, { 'access/own.yaml': connection('force-own') });
  const forced = await pushTo(github, 'forced', 'again');
  const second = await plan(cwd, { number: pull.number, head: forced });
  expect({ code: second.code, changes: changesOf(second) }).toEqual({
    code: 0,
    changes: { 'Connection/force-own': true, 'Connection/force-theirs': false },
  });
  const [updated, ...others] = await commentsOn(github, pull.number);
  expect(others).toEqual([]);
  expect(updated?.id).toBe(comment?.id);
  expect(updated?.body).toContain(head.slice(0, 10));
  expect(updated?.body).not.toContain('force-stays');
});

test('the run after a cancelled one finds the removed objects, and reports the commit that removed them', patient, async () => {
  const github = bench.github();
  const cwd = cloneOf({
    'access/kept.yaml': connection('cancel-kept'),
    'access/gone.yaml': connection('cancel-gone'),
    'access/rule.yaml': guardrail('cancel-rule', ['DROP'], { connection_ids: ['cancel-gone'] }),
  });
  expect((await apply(cwd)).code).toBe(0);
  const removed = save(cwd, {}, 'access/gone.yaml', 'access/rule.yaml');
  // The run of that push never began. The next merge changes something else.
  save(cwd, { 'access/kept.yaml': connection('cancel-kept', { access_max_duration: 600 }) });
  save(cwd, { 'README.md': 'and another one' });
  const pull = await openPullRequest(github, 'after-cancelled');
  const commit = await mergePullRequest(github, pull.number);
  const ended = await apply(cwd, { commit, inputs: { prune: 'true' } });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(JSON.parse(ended.outputs['counts'] ?? '')).toMatchObject({ updated: 1, deleted: 2 });
  const [comment] = await commentsOn(github, pull.number);
  expect(comment?.body).toMatch(/\| deleted \| `Connection\/cancel-gone` \|/);
  expect(await gateway.names('/connections')).toEqual(expect.not.arrayContaining(['cancel-gone']));
  expect(await gateway.names('/guardrails')).not.toContain('cancel-rule');
  expect(ended.stdout).toContain(removed.slice(0, 7));
});

test('the limits of the target branch apply to a pull request that raises them, and are reported', patient, async () => {
  const limited = config(gateway.url()).replace("' }", "', limits: { from: 2, updates: 30% } }");
  const cwd = cloneOf({ 'ostiary.yaml': limited, 'access/a.yaml': connection('limit-a'), 'access/b.yaml': connection('limit-b') });
  expect((await apply(cwd)).code).toBe(0);
  git(cwd, 'checkout --quiet -b raise');
  save(cwd, {
    'ostiary.yaml': limited.replace('30%', '100%'),
    'access/a.yaml': connection('limit-a', { access_max_duration: 600 }),
    'access/b.yaml': connection('limit-b', { access_max_duration: 600 }),
  });
  const pull = await openPullRequest(bench.github(), 'raise-limits');
  expect(await plan(cwd, pull)).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
  const [comment] = await commentsOn(bench.github(), pull.number);
  const body = comment?.body ?? '';
  expect(body).toContain('plan/too-many-updates');
  expect(body).toMatch(/^### Plan for `production`: Refused\. Changes its checks: `?limits\.updates`? of target production changed\./);
  expect(body).toMatch(/Check changed: `?limits\.updates`? of target production, from `?0\.3`? to `?1/);
  // After the merge they are those of main.
  git(cwd, 'checkout --quiet main');
  git(cwd, 'merge --quiet --ff-only raise');
  expect(await apply(cwd)).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
});

test("renaming, splitting and moving a manifest's file is neither a change nor a removal", patient, async () => {
  const two = `${connection('moved-a')}---\n${connection('moved-b')}`;
  const cwd = cloneOf({ 'access/two.yaml': two });
  expect((await apply(cwd)).code).toBe(0);
  git(cwd, 'checkout --quiet -b move');
  save(cwd, { 'access/teams/a.yaml': connection('moved-a'), 'access/b.yml': connection('moved-b') }, 'access/two.yaml');
  const pull = await openPullRequest(bench.github(), 'move-files');
  const planned = await plan(cwd, pull);
  expect(planned).toMatchObject({ code: 0, outputs: { changed: 'false' }, summary: expect.stringContaining('No changes.') });
  expect(planned.summary).not.toContain('orphan');
  expect(await commentsOn(bench.github(), pull.number)).toEqual([]);
});

test("a private repository's record is read and written with the job's token, which is never printed", patient, async () => {
  const root = makeProject({});
  const { token } = bench.github();
  git(root, 'init --quiet --bare --initial-branch=main access.git');
  git(join(root, 'access.git'), 'config http.receivepack true');
  const server = await startGitServer({ root, login: { user: 'x-access-token', password: token } });
  try {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('private-a') });
    const head = commitAll(cwd);
    git(cwd, `remote add origin ${server.url}/access.git`);
    git(cwd, ['push', '--quiet', join(root, 'access.git'), 'main']);
    git(cwd, `update-ref refs/remotes/origin/main ${head}`);
    git(cwd, 'symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main');
    const env = { ...gateway.env(), GITHUB_SERVER_URL: server.url, DEBUG: '*' };
    const step = { cwd, event: 'push', payload: {}, env };
    const applied = await bench.bundled({ ...step, inputs: { mode: 'apply' } });
    expect(applied).toMatchObject({ code: 0, summary: expect.stringContaining('here and on origin') });
    expect(git(join(root, 'access.git'), 'rev-parse refs/ostiary/applied/production^1')).toBe(head);
    git(cwd, 'update-ref -d refs/ostiary/applied/production');
    git(cwd, 'update-ref -d refs/ostiary/origin/production');
    const planned = await bench.step({ ...step, inputs: { mode: 'plan' } });
    expect(planned).toMatchObject({ code: 0, outputs: { changed: 'false' } });
    expect(git(cwd, 'rev-parse refs/ostiary/applied/production^1')).toBe(head);
    const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
    for (const { stdout, stderr, summary } of [applied, planned]) expect(`${stdout}${stderr}${summary}`).not.toContain(basic);
    const other = await bench.step({ ...step, inputs: { mode: 'plan', 'github-token': 'ghs_of-another-app', comment: 'false' } });
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/git\/origin-unreachable[\s\S]*could not read Username|Authentication failed/),
    });
  } finally {
    await server.close();
  }
});
