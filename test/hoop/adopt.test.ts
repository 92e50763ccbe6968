import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { commitAll, git } from '../support/workflow.ts';
import { converges } from './trap.ts';

test('what somebody changed on the public gateway is accepted in place; then there is no drift, and nothing to plan', async () => {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', { reviewers: ['dba', 'sre'], connection_tags: { env: 'prod' } }),
    'access/b.yaml': connection('sales-db', { connection_tags: { env: 'prod' } }),
    'access/rule.yaml': guardrail('no-drop', ['DROP'], { connection_selector: { match_tags: { env: 'prod' } } }),
  });
  await converges(project);
  commitAll(project.folder);
  const change = async (name: string, spec: object): Promise<void> => {
    const { body } = await project.send('GET', `/connections/${name}`);
    expect((await project.send('PUT', `/connections/${name}`, { ...Object(body), ...spec })).status).toBe(200);
  };
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  await change('orders-db', { reviewers: ['dba', 'security'], access_max_duration: 600 });
  await change('sales-db', { guardrail_rules: [] });
  const { body: there } = await project.send('GET', '/connections/sales-db');
  const { id: _, ...unmanaged } = { ...Object(there), name: 'added-db', secret: { 'envvar:KEY': 'Y2FuYXJ5' } };
  expect((await project.send('POST', '/connections', unmanaged)).status).toBe(201);
  const adopted = await project.ostiary(['drift', '--adopt', '--new', 'Connection/added-db']);
  expect([adopted.code, adopted.stdout]).toEqual([
    0,
    expect.stringMatching(/Accepted: \d objects and 1 new manifest, in \d files of the branch\s+ostiary\/adopt\/prod/),
  ]);
  expect(git(project.folder, 'show ostiary/adopt/prod:access/rule.yaml')).toMatch(/"except":\s*\[\s*"sales-db"/);
  expect(git(project.folder, 'show ostiary/adopt/prod:access/connections/added-db.yaml')).toMatch(/"envvar:KEY": \{ keep: true \}/);
  git(project.folder, 'merge --quiet ostiary/adopt/prod');
  expect(await project.ostiary(['drift'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift.') });
  expect(adopted.stderr).toMatch(/notice adopt\/selected[\s\S]*the next apply also attaches GuardrailRule\/no-drop to added-db/);
  expect((await project.ostiary(['plan'])).stdout).toMatch(
    /no-drop[^\n]*\n *\+ Connection\/added-db \(by selector\)\n[\s\S]*\nPlan: 1 to update, 3 unchanged\./,
  );
});
