import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync, jitRule, nightlyRule } from './expectations.ts';

const jit = { ...jitRule, access_max_duration: 3600 };
const nightly = { ...nightlyRule, connections: ['orders-db', 'other-db'] };
const shop = { 'access/a.yaml': connection('shop-db', {}, { replaces: 'orders-db' }) };

async function prepared(): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
  return project;
}

async function made(project: HoopProject, path: string, body: object): Promise<void> {
  expect((await project.send('POST', path, body)).status).toBe(201);
}

test('references to a replaced connection are listed and refuse the plan until a reason is given', { timeout: 60_000 }, async () => {
  const project = await prepared();
  const { connections } = project.model.store;
  await made(project, '/access-requests/rules', jit);
  await made(project, '/runbooks/rules', nightly);
  await made(project, '/runbooks/rules', { ...nightly, name: 'everywhere', connections: [] });
  await made(project, '/runbooks/rules', { ...nightly, name: 'both', connections: ['orders-db', 'shop-db'] });
  const enabled = [{ id: connections.get('orders-db')?.id, config: ['sre'] }];
  await made(project, '/plugins', { name: 'access_control', connections: enabled });
  project.write(shop);

  const planned = await project.ostiary(['plan', '--format', 'json']);
  const [plan] = JSON.parse(planned.stdout).plans;
  const ends = { id: 'Connection/shop-db', replaces: 'Connection/orders-db' };
  expect(planned.code).toBe(6);
  expect(plan.references).toEqual([
    { ...ends, sort: 'access-request rule', name: 'prod-jit', how: '1 of dba for jit; at most 1 h' },
    { ...ends, sort: 'runbook rule', name: 'nightly', how: 'github.com/acme/runbooks:ops/ for sre' },
  ]);
  expect(plan.refusals).toEqual([
    expect.objectContaining({
      code: 'plan/replaces-references',
      allowable: true,
      message: 'access-request rule "prod-jit" and runbook rule "nightly" name Connection/orders-db, and do not move to shop-db',
      at: expect.objectContaining({ file: 'access/a.yaml' }),
    }),
  ]);
  const refused = await project.ostiary(['apply', '--yes']);
  expect([refused.code, refused.requests.filter((line) => !line.startsWith('GET '))]).toEqual([6, []]);

  const allowed = await project.ostiary(['apply', '--yes', '--allow', 'plan/replaces-references=the rules follow tonight']);
  expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('runbook rule "nightly"') });
  expect([...connections.keys()].toSorted()).toEqual(['orders-db', 'shop-db']);
  expect(connections.get('orders-db')).toMatchObject({ connect: 'disabled', exec: 'disabled', runbooks: 'disabled' });
  // The successor has the groups of its predecessor.
  expect(project.model.store.pluginRows('access_control').map(({ config }) => config)).toEqual([['sre'], ['sre']]);
  const after = await project.ostiary(['plan']);
  expect(after).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  expect(after.requests).not.toContain('GET /api/plugins');
});

test('a connection without references is replaced without a warning', { timeout: 60_000 }, async () => {
  const project = await prepared();
  await made(project, '/access-requests/rules', { ...jit, connection_names: ['orders-db', 'shop-db'] });
  await made(project, '/runbooks/rules', { ...nightly, connections: ['other-db'] });
  project.write(shop);
  const { code, stdout } = await project.ostiary(['plan', '--format', 'json']);
  expect([code, JSON.parse(stdout).plans[0].references]).toEqual([0, undefined]);
});

test.each([
  ['are not shown', 403],
  ['cannot be read', 500],
  ['may be hidden by a proxy', 404],
])('runbook rules that %s', { timeout: 60_000 }, async (_, status) => {
  const project = await prepared();
  project.write(shop);
  project.model.setFault(({ path }) => (path.endsWith('/runbooks/rules') ? { kind: 'answer', when: 'before', status } : undefined));
  const planned = await project.ostiary(['plan']);
  expect(planned.code).toBe(6);
  const message = 'the token cannot see whether runbook rules name Connection/orders-db';
  expect(planned.stdout.replaceAll(/\s+/g, ' ')).toContain(message);
});
