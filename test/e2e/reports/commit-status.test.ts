import { expect, test } from 'vitest';
import { commitAll, openPullRequest, pullRequestPayload } from '../../support/workflow.ts';
import { useAction } from '../action/use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

/** The statuses that a step sets, by the commit. */
function statusesSince(count: number): readonly unknown[] {
  return bench
    .github()
    .heard.slice(count)
    .flatMap(({ method, path, body }) =>
      method === 'POST' && path.includes('/statuses/') && !path.includes('/deployments/')
        ? [[path.split('/').at(-1), JSON.parse(body)]]
        : [],
    );
}

test('status: true sets a status for each target, with the verdict, on the head of the pull request', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config({ staging: gateway.url(), production: 'http://127.0.0.1:9' }) });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'access/db.yaml': connection('with-status') });
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), 'with-status');
  const step = { cwd, event: 'pull_request', payload: pullRequestPayload({ ...pull, base }), env: gateway.env() };
  const before = bench.github().heard.length;
  const planned = await bench.step({ ...step, inputs: { mode: 'plan', 'all-targets': true, status: true } });
  expect(planned).toMatchObject({ code: 4 });
  const ofRun = { target_url: 'https://github.test/octo/access/actions/runs/4711' };
  expect(statusesSince(before)).toEqual([
    [
      pull.head,
      {
        ...ofRun,
        state: 'success',
        context: 'ostiary/plan: staging',
        description: 'Plan for staging: with-status becomes accessible without reviewers, guardrails or masking. 1 to create.',
      },
    ],
    [pull.head, { ...ofRun, state: 'error', context: 'ostiary/plan: production', description: 'Failed: api/unreachable' }],
  ]);
  const quiet = bench.github().heard.length;
  await bench.step({ ...step, inputs: { mode: 'plan', target: 'staging' } });
  await bench.step({
    ...step,
    inputs: { mode: 'plan', target: 'staging', status: true },
    payload: pullRequestPayload({ ...pull, base, from: 'mallory/access' }),
  });
  expect(statusesSince(quiet)).toEqual([]);
});
