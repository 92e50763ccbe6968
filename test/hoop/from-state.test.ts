import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { connection } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { nightlyRule } from './expectations.ts';

const repositories = useHoopRepositories();

test('a state with rows of access control and a runbook rule becomes manifests, and the plan is empty', { timeout: 60_000 }, async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  expect(await project.ostiary(['apply', '--yes'])).toMatchObject({ code: 0 });
  const { body } = await project.send('GET', '/connections/orders-db');
  const { id } = Object(body);
  const rows = [{ id, config: ['dba', 'sre'] }];
  expect((await project.send('POST', '/plugins', { name: 'access_control', connections: rows })).status).toBe(201);

  const provider = 'provider["registry.terraform.io/hoophq/hoop"]';
  const resource = (type: string, name: string, attributes: object): object => ({
    mode: 'managed',
    type,
    name,
    provider,
    instances: [{ attributes }],
  });
  const resources = [
    resource('hoop_connection', 'orders', { name: 'orders-db', id }),
    resource('hoop_plugin_connection', 'orders', { plugin_name: 'access_control', connection_id: id, config: ['dba', 'sre'] }),
  ];
  const made = await project.send('POST', '/runbooks/rules', nightlyRule);
  expect(made.status).toBe(201);
  resources.push(resource('hoop_runbook_rule', 'nightly', { name: 'nightly', id: Object(made.body)['id'] }));
  const { repository, run } = repositories.create(project, { 'state.json': JSON.stringify({ version: 4, resources }) });
  const { folder } = repository;
  const pulled = await run('pull --from-state state.json');
  expect([pulled.code, pulled.stdout]).toEqual([0, expect.stringContaining('Terraform can forget 3 objects')]);
  expect(parse(readFileSync(join(folder, 'access/connections/orders-db.yaml'), 'utf8')).spec.access_groups).toEqual(['dba', 'sre']);
  expect(readFileSync(join(folder, 'terraform-removed.tf'), 'utf8')).toContain('from = hoop_plugin_connection.orders');
  expect(parse(readFileSync(join(folder, 'access/runbook-rules/nightly.yaml'), 'utf8')).spec.user_groups).toEqual(['sre']);
  const plan = await run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);
});
