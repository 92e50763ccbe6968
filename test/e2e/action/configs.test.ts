import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appAccount, place } from '../../support/github.ts';
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
const bench = useAction(makeProject, { account: appAccount });

type Inputs = Readonly<Record<string, string>>;

/** The inputs of the step of one team. */
const payments: Inputs = { 'working-directory': 'teams/payments', label: 'payments', target: 'production' };
const logistics: Inputs = { 'working-directory': 'teams/logistics', label: 'logistics_eu', target: 'production' };

test('two configs with targets of one name have their own comments, deployments, issues and branches', async () => {
  const settings = config({ production: gateway.url() });
  const cwd = makeProject({ 'teams/payments/ostiary.yaml': settings, 'teams/logistics/ostiary.yaml': settings });
  const base = commitAll(cwd);
  const origin = makeProject({});
  git(origin, 'init --quiet --bare --initial-branch=main');
  git(cwd, `remote add origin file://${origin}`);
  writeFiles(cwd, {
    'teams/payments/access/a.yaml': connection('configs-payments', { reviewers: ['dba'] }),
    'teams/logistics/access/b.yaml': connection('configs-logistics', { reviewers: ['dba'] }),
  });
  commitAll(cwd);
  git(cwd, 'push --quiet origin main');
  const pull = await openPullRequest(bench.github(), 'two-configs');
  const bodies = async (): Promise<readonly string[]> => (await commentsOn(bench.github(), pull.number)).map(({ body }) => body);
  const env = gateway.env();
  const plan = (inputs: Inputs): Promise<StepEnded> =>
    bench.step({ cwd, event: 'pull_request', payload: pullRequestPayload({ ...pull, base }), inputs: { mode: 'plan', ...inputs }, env });

  const planned = await plan({ ...payments, sarif: 'findings.sarif', report: 'html=plan.html' });
  expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect(planned.outputs['sarif-path']).toBe(join(cwd, 'teams/payments/findings.sarif'));
  expect(readFileSync(planned.outputs['sarif-path'] ?? '', 'utf8')).toContain('"version": "2.1.0"');
  const linked = `https://github.test/octo/access/blob/${git(cwd, 'rev-parse HEAD').slice(0, 10)}/teams/payments/access/a.yaml#L1`;
  expect(readFileSync(join(cwd, 'teams/payments/plan.html'), 'utf8')).toContain(`href="${linked}`);
  await plan(logistics);
  expect((await bodies()).map((body) => /^### [^:\n]*/m.exec(body)?.[0])).toEqual([
    '### Plan for `production` (payments)',
    '### Plan for `production` (`logistics_eu`)',
  ]);
  expect((await bodies())[0]).toContain('/teams/payments/access/a.yaml#L1');
  expect((await bodies())[0]).not.toContain('logistics');
  const none = await plan({ ...payments, 'working-directory': 'teams/nowhere' });
  expect(none).toMatchObject({ code: 3, stdout: expect.stringContaining('the working-directory "teams/nowhere" does not exist') });
  expect(await bodies()).toHaveLength(2);

  const commit = await mergePullRequest(bench.github(), pull.number);
  const merged = { cwd, event: 'push', payload: { after: commit }, env: { ...env, GITHUB_SHA: commit } };
  const apply = (inputs: Inputs): Promise<StepEnded> => bench.step({ ...merged, inputs: { mode: 'apply', digest: 'comment', ...inputs } });
  expect((await apply(payments)).outputs).toMatchObject({ outcome: 'applied', counts: expect.stringContaining('"created":1') });
  expect((await apply(logistics)).outputs['outcome']).toBe('applied');
  const deployed = bench.github().deployments.filter(({ sha }) => sha === commit);
  expect(deployed.map(({ environment }) => environment)).toEqual(['payments/production', 'logistics_eu/production']);
  expect((await bodies()).slice(2).map((body) => /^### [^:\n]*/m.exec(body)?.[0])).toEqual([
    '### Apply to `production` (payments)',
    '### Apply to `production` (`logistics_eu`)',
  ]);

  for (const name of ['configs-payments', 'configs-logistics']) {
    const { body } = await gateway.call('GET', `/connections/${name}`);
    await gateway.call('PUT', `/connections/${name}`, { body: { ...body, reviewers: [] } });
  }
  const drift = (inputs: Inputs): Promise<StepEnded> =>
    bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', adopt: 'true', ...inputs }, env });
  const found = [await drift(payments), await drift(logistics)];
  expect(found.map(({ outputs: { outcome } }) => outcome)).toEqual(['adopted', 'adopted']);
  const { person } = bench.github();
  const numbersOf = (name: string): readonly number[] => found.map(({ outputs }) => Number(outputs[name]));
  const posts = async (): Promise<readonly (readonly [string, string])[]> => {
    const issues = numbersOf('issue').map((number) => person.issues.get({ ...place, issue_number: number }));
    const pulls = numbersOf('pull-request').map((number) => person.pulls.get({ ...place, pull_number: number }));
    return (await Promise.all([...issues, ...pulls])).map(({ data: { title, state } }) => [title, state]);
  };
  expect(await posts()).toEqual([
    ['Drift on `production` (payments): 1 object, weakens protection of 1 connection', 'open'],
    ['Drift on `production` (logistics_eu): 1 object, weakens protection of 1 connection', 'open'],
    ['Accept drift on production (payments)', 'open'],
    ['Accept drift on production (logistics_eu)', 'open'],
  ]);
  expect(git(origin, 'for-each-ref --format=%(refname:short) refs/heads/ostiary').split('\n')).toEqual([
    'ostiary/adopt/teams%2Flogistics%2Flogistics_eu%2Fproduction',
    'ostiary/adopt/teams%2Fpayments%2Fpayments%2Fproduction',
  ]);
  const undone = await bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', revert: 'true', ...payments }, env });
  expect(undone.outputs['outcome']).toBe('reverted');
  expect((await posts()).map(([, state]) => state)).toEqual(['closed', 'open', 'closed', 'open']);
});
