import { expect, test } from 'vitest';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

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
  expect(planned.summary).toMatch(/^### Plan for `production`: .* 1 to create\.\n[\s\S]*config\/after-merge/);
  expect(
    bench
      .github()
      .heard.slice(before)
      .filter(({ method }) => method !== 'GET'),
  ).toEqual([]);
});

test('an old apply that runs again is refused, and says so on its pull request', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('rerun') });
  const origin = makeProject({});
  commitAll(cwd);
  git(origin, 'init --quiet --bare --initial-branch=main');
  git(cwd, `remote add origin file://${origin}`);
  git(cwd, 'push --quiet origin main');
  const { number } = await openPullRequest(bench.github(), 'rerun');
  const merged = await mergePullRequest(bench.github(), number);
  const apply = (commit?: string): Promise<StepEnded> =>
    bench.step({
      cwd,
      event: 'push',
      payload: {},
      inputs: { mode: 'apply' },
      env: { ...gateway.env(), ...(commit === undefined ? {} : { GITHUB_SHA: commit }) },
    });
  expect((await apply(merged)).outputs['outcome']).toBe('applied');
  const old = git(cwd, 'rev-parse HEAD');
  writeFiles(cwd, { 'access/a.yaml': connection('rerun', { reviewers: ['dba'] }) });
  commitAll(cwd);
  git(cwd, 'push --quiet origin main');
  expect((await apply()).outputs['outcome']).toBe('applied');
  git(cwd, `checkout --quiet --detach ${old}`);
  const again = await apply(merged);
  expect(again).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
  expect(again.summary).toContain('git/older-commit');
  expect((await gateway.call('GET', '/connections/rerun')).body).toMatchObject({ reviewers: ['dba'] });
  const [comment] = await commentsOn(bench.github(), number);
  expect(comment?.body).toMatch(
    /\n### Apply to `production`: [^#]*\*\*Earlier runs\*\*\n\n- \[run\][^\n]*: Not applied: git\/older-commit\.\n$/,
  );
  await apply(merged);
  const [repeated] = await commentsOn(bench.github(), number);
  expect(repeated?.body).toBe(comment?.body);
});

test('a locked conversation is named, and the plan stays valid', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'access/a.yaml': connection('locked') });
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), 'locked');
  bench
    .github()
    .intercept(({ method, path }) =>
      method === 'POST' && path.endsWith('/comments')
        ? { status: 403, body: { message: 'Unable to create comment because issue is locked.' } }
        : undefined,
    );
  const payload = pullRequestPayload({ ...pull, base });
  const planned = await bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env: gateway.env() });
  expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect(planned.summary).toMatch(/warning `github\/refused`.*the conversation is locked: unlock it/);
  expect(planned.stdout + planned.summary).not.toContain('{owner}');
});
