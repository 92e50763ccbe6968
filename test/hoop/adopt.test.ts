import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { commitAll, git } from '../support/workflow.ts';
import { applyAndExpectInSync } from './expectations.ts';

test('a change on the public gateway is adopted in place; then there is no drift and no change to plan', async () => {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', { reviewers: ['dba', 'sre'], connection_tags: { env: 'prod' } }),
    'access/b.yaml': connection('sales-db', { connection_tags: { env: 'prod' } }),
    'access/rule.yaml': guardrail('no-drop', ['DROP'], { connection_selector: { match_tags: { env: 'prod' } } }),
  });
  await applyAndExpectInSync(project);
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
  expect(git(project.folder, 'show ostiary/adopt/prod:access/connections/added-db.yaml')).toMatch(/envvar:KEY: \{ keep: true \}/);
  git(project.folder, 'merge --quiet ostiary/adopt/prod');
  expect(await project.ostiary(['drift'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
  expect(adopted.stderr).toMatch(/notice adopt\/selected[\s\S]*the next apply also attaches GuardrailRule\/no-drop to added-db/);
  expect((await project.ostiary(['plan'])).stdout).toMatch(
    /no-drop[^\n]*\n *\+ Connection\/added-db \(by selector\)\n[\s\S]*\nPlan: 1 to update, 3 drifts accepted in the manifests, 3 unchanged\./,
  );
});

test('adopt names the other targets whose manifests would differ, with the objects', async () => {
  const project = await hoopProject();
  const targets = { prod: [], staging: [], dev: ['overlays/dev'], away: [] };
  const words = Object.entries(targets).map(([name, overlays]) => {
    const folder = name === 'away' ? 'away/' : 'access/';
    return `  ${name}: { url: '${project.url}', manifests: [${folder}], overlays: ${JSON.stringify(overlays)} }\n`;
  });
  const patch = { apiVersion: 'ostiary/v1', kind: 'Connection', metadata: { name: 'orders-db' }, spec: { reviewers: ['sre'] } };
  project.write({
    'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\ntargets:\n${words.join('')}`,
    'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }),
    'access/own.yaml': connection('sales-db', { reviewers: ['dba'] }, { targets: ['prod', 'dev'] }),
    'away/b.yaml': connection('stock-db'),
    'overlays/dev/a.yaml': JSON.stringify(patch),
  });
  expect((await project.ostiary(['apply', '--yes', '--target', 'prod'])).code).toBe(0);
  for (const name of ['orders-db', 'sales-db']) {
    const { body } = await project.send('GET', `/connections/${name}`);
    await project.send('PUT', `/connections/${name}`, { ...Object(body), reviewers: ['security'] });
  }
  const { body: there } = await project.send('GET', '/connections/sales-db');
  await project.send('POST', '/connections', { ...Object(there), name: 'added-db' });
  const adopt = ['drift', '--adopt', '--no-commit', '--target', 'prod', '--new', 'Connection/added-db', '--format', 'json'];
  const { code, stdout } = await project.ostiary(adopt);
  const [{ adoption }] = JSON.parse(stdout).drifts;
  const skipped = adoption.left.map((one: { readonly code: string }) => one.code);
  expect([code, skipped]).toEqual([0, ['adopt/shared', 'adopt/shared']]);
});
