import { expect, test } from 'vitest';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { connection, manifest } from '../e2e/project.ts';
import { adminToken, hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync, expectRefused } from './expectations.ts';

async function portOf({ url }: HoopProject): Promise<Awaited<ReturnType<typeof openGateway>>> {
  const gateway = await openGateway({ url, token: adminToken, auth: 'auto', dialect: 'auto', registry });
  await gateway.readAll([...registry.keys()]);
  return gateway;
}

test('3 a replacement wipes omitted fields: everything is carried', async () => {
  const project = await hoopProject();
  const rule = await project.send('POST', '/guardrails', { name: 'foreign', input: { rules: [] } });
  const { id } = Object(rule.body);
  const agent = project.model.store.agentNamed('default')?.id;
  await project.send('POST', '/connections', {
    name: 'orders-db',
    type: 'database',
    subtype: 'postgres',
    agent_id: agent,
    resource_name: 'orders',
    secret: { 'envvar:PASS': 'Y2FuYXJ5' },
    guardrail_rules: [id],
    attributes: ['pci'],
    min_review_approvals: 2,
    mandatory_metadata_fields: ['ticket'],
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'enabled',
  });
  const before = project.model.store.findConnection('orders-db');
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'], force_approve_groups: ['sre'] }) });
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('orders-db')).toEqual({ ...before, reviewers: ['dba'], forceApproveGroups: ['sre'] });
  expect(project.model.store.guardrailLinks.leftsOf(before?.id ?? '')).toEqual([id]);
  expect(project.model.store.connectionAttributes.leftsOf('orders-db')).toEqual(['pci']);
});

test('6 a connection is deleted by its name, and never a managed one, whatever the gateway allows', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db'), 'access/b.yaml': connection('other-db') });
  await applyAndExpectInSync(project);
  const { store } = project.model;
  const row = store.findConnection('other-db');
  if (row !== undefined) store.saveConnection({ ...row, managedBy: 'hoopagent' });
  const gateway = await portOf(project);
  const { value } = await gateway.readAll(['Connection']);
  for (const live of value?.resources ?? []) await gateway.remove(live).catch(() => undefined);
  expect([...store.connections.keys()]).toEqual(['other-db']);
  await gateway.close();
});

test('8 responses to writes are not what a read shows: the object is read after the write', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['pci'], secret: { 'envvar:A': { value: 'own' } } }) });
  await applyAndExpectInSync(project);
  const { store } = project.model;
  const resource = store.resources.get('orders-db');
  if (resource !== undefined) store.resources.set('orders-db', { ...resource, envVars: { 'envvar:SHARED': 'c2hhcmVk' } });
  const gateway = await portOf(project);
  const { value } = await gateway.readAll(['Connection']);
  const fresh = await gateway.readOne(value?.resources[0] ?? { id: 'Connection/none', uid: 'none' });
  if (fresh === undefined) throw new Error('it is not there');
  const request = { id: fresh.id, spec: { ...fresh.spec, reviewers: ['dba'] }, secrets: {}, dropped: [], edges: fresh.edges };
  const updated = await gateway.update(fresh, request);
  expect(Object.keys(updated.secrets)).toEqual(['/secret/envvar:A']);
  expect(updated.spec['attributes']).toEqual(['pci']);
  await gateway.close();
});

test('12 the gateway spells values that are not strings like Go: only strings are sent', async () => {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', { secret: { 'envvar:A': { value: 'true' }, 'envvar:B': '_envjson:ENV:key' } }),
  });
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('orders-db')?.secret).toEqual({ 'envvar:A': 'dHJ1ZQ==', 'envvar:B': btoa('_envjson:ENV:key') });
});

test('13 every admin receives secrets in plain text: no output shows one', async () => {
  const project = await hoopProject();
  const canary = 'canary-value-of-orders';
  project.write({
    'access/a.yaml': connection('orders-db', {
      secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_A' } }, 'envvar:DB': { value: canary } },
    }),
    'access/b.yaml': manifest('RunbookConfiguration', 'ops', {
      git_url: 'https://git.example.com/ops.git',
      git_password: { valueFrom: { env: 'OSTIARY_SECRET_A' } },
    }),
  });
  const env = { OSTIARY_SECRET_A: canary };
  const outputs: string[] = [];
  for (const args of [
    ['plan', '--format', 'json'],
    ['apply', '--yes', '--journal', 'journal'],
    ['plan'],
    ['explain', 'Connection/orders-db'],
    ['get', 'connections'],
    ['get', 'runbooks', '--format', 'json'],
  ]) {
    const { stdout, stderr } = await project.ostiary(args, env);
    outputs.push(stdout, stderr);
  }
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'another' } } }) });
  for (const args of [['plan'], ['apply', '--yes'], ['plan', '--format', 'markdown']]) {
    const { stdout, stderr } = await project.ostiary(args, env);
    outputs.push(stdout, stderr);
  }
  for (const text of [canary, btoa(canary), adminToken]) expect(outputs.join('\n')).not.toContain(text);
});

test('16 the gateway does not check agents: an unknown one is an error, one that is live is not', async () => {
  const project = await hoopProject();
  const gone = '11111111-1111-4111-8111-111111111111';
  project.write({ 'access/a.yaml': connection('orders-db', { agent_id: gone }) });
  await expectRefused(project, 'manifest/dangling-reference');
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
  const row = project.model.store.findConnection('orders-db');
  if (row !== undefined) project.model.store.saveConnection({ ...row, agentId: gone });
  project.write({ 'access/a.yaml': connection('orders-db', { agent_id: gone, reviewers: ['dba'] }) });
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('orders-db')).toMatchObject({ agentId: gone, reviewers: ['dba'] });
});
