import { afterAll, beforeAll, expect, test } from 'vitest';
import { appAccount, startGitHub, type TestGitHub } from '../../support/github.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import {
  commentsOn,
  commitAll,
  mergePullRequest,
  openPullRequest,
  openRunner,
  pullRequestPayload,
  type StepEnded,
  type StepOptions,
} from '../../support/workflow.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
let github: TestGitHub;
let runner: ReturnType<typeof openRunner>;

beforeAll(async () => {
  github = await startGitHub(appAccount);
  runner = openRunner(makeProject({}));
});
afterAll(() => github.close());

/** Runs `ostiary ci` in a step of a workflow. */
function ci(line: string, options: Omit<StepOptions, 'inputs'>): Promise<StepEnded> {
  return runner({ ...options, inputs: {}, env: { ...gateway.env(), ...options.env } }, github, async (cwd, env) => {
    const given = Object.entries({ ...env, GITHUB_TOKEN: github.token }).filter(([name]) => !name.startsWith('INPUT_'));
    const { code, ...rest } = await ostiaryInProcess(['ci', ...line.split(' ')], { cwd, env: Object.fromEntries(given) });
    return { ...rest, code };
  });
}

test('on GitHub, ostiary ci plans, applies and reports as the action does', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/one.yaml': connection('one', { reviewers: ['dba'] }) });
  const base = commitAll(cwd);
  const { number, head } = await openPullRequest(github, 'one');
  const payload = pullRequestPayload({ number, head, base });
  const planned = await ci('plan --only Connection/one --status --no-origin', { cwd, event: 'pull_request', payload });
  expect(planned).toMatchObject({
    code: 0,
    outputs: { outcome: 'planned', changed: 'true' },
    summary: expect.stringContaining('1 to create'),
  });
  expect(await commentsOn(github, number)).toEqual([expect.objectContaining({ body: expect.stringContaining('`Connection/one`') })]);

  const commit = await mergePullRequest(github, number);
  const applied = await ci('apply --only Connection/one --no-origin --digest comment', {
    cwd,
    event: 'push',
    payload: { ref: 'refs/heads/main', after: commit },
    env: { GITHUB_SHA: commit },
  });
  expect(applied).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(await gateway.isLive('one')).toBe(true);
  expect(await commentsOn(github, number)).toHaveLength(2);
});
