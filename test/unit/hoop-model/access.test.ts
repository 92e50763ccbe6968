import { afterEach, beforeEach, expect, test } from 'vitest';
import { isObject } from '../../support/hoop/json.ts';
import { connection, list, object, refusal, startGateway, unknownId, word, type Gateway } from './gateway.ts';

let gateway: Gateway;
const ids = new Map<string, string>();

beforeEach(async () => {
  gateway = await startGateway();
  for (const name of ['orders', 'ledger', 'stock']) ids.set(name, word((await gateway.make('/connections', connection(name)))['id']));
});
afterEach(() => gateway.close());

const rowPath = (name: string): string => `/plugins/access_control/conn/${ids.get(name) ?? ''}`;
const idOf = (name: string): string => ids.get(name) ?? '';

async function seen(token: string): Promise<readonly unknown[]> {
  const names = list((await gateway.send('GET', '/connections', undefined, { token })).body);
  return names.map((row) => (isObject(row) ? row['name'] : row));
}

test('access control is switched on with all rows in one request, and hides the other connections', async () => {
  expect(await seen('hpk_standard')).toHaveLength(3);
  const rows = [
    { id: idOf('orders'), config: ['developers', 'sre'] },
    { id: idOf('ledger'), config: ['Developers'] },
    { id: idOf('orders'), config: [] },
  ];
  expect(await gateway.make('/plugins', { name: 'access_control', connections: rows })).toMatchObject({
    connections: [
      { name: 'orders', config: ['developers', 'sre'] },
      { name: 'ledger', config: ['Developers'] },
    ],
  });
  expect(await seen('hpk_standard')).toEqual(['orders']);
  expect(await seen('hpk_auditor')).toHaveLength(3);
  expect(refusal(await gateway.send('GET', '/connections/stock', undefined, { token: 'hpk_standard' }))).toBe('404 "not found"');
  expect(refusal(await gateway.send('POST', '/plugins', { name: 'access_control', connections: [] }))).toBe('400 "plugin already enabled"');
  expect((await gateway.send('DELETE', '/plugins/access_control')).status).toBe(404);
});

test('a plugin with a bad row is not saved', async () => {
  const post = async (id: string): Promise<string> =>
    refusal(await gateway.send('POST', '/plugins', { name: 'access_control', connections: [{ id: idOf('orders') }, { id }] }));
  expect(await post('orders')).toContain(
    '500 "failed creating plugin access_control, reason=failed persisting plugin connection orders, reason=',
  );
  expect(await post(unknownId)).toContain('plugin_connections_connection_id_fkey');
  expect(refusal(await gateway.send('POST', '/plugins', { name: 'access_control' }))).toContain("400 \"Key: 'PluginRequest.Connections'");
  expect(refusal(await gateway.send('GET', '/plugins/access_control'))).toBe('404 "plugin not found"');
});

test('connection writes maintain other plugins, which list every connection', async () => {
  await gateway.make('/connections', connection('reviewed', { reviewers: ['dba'] }));
  expect((await gateway.send('PUT', `/plugins/slack/conn/${idOf('orders')}`, { config: ['C01'] })).status).toBe(200);
  const rows = list((await gateway.send('GET', '/plugins')).body).map((row) => object(row));
  const configs = Object.fromEntries(rows.map((row) => [word(row['name']), list(row['connections']).map((one) => object(one)['config'])]));
  const none = [null, null, null, null];
  expect(configs).toEqual({ audit: none, editor: none, slack: [['C01'], null, null, null], dlp: [], review: [['dba']] });
  expect(refusal(await gateway.send('POST', '/plugins', { name: 'audit', connections: [] }))).toBe('400 "plugin already enabled"');
  expect(refusal(await gateway.send('PUT', `/plugins/review/conn/${idOf('orders')}`, {}))).toContain('400 "unable to manage review');
});

test('a row that names no groups has none, and null hides its connection too', async () => {
  await gateway.make('/plugins', { name: 'access_control', connections: [{ id: idOf('orders'), config: ['developers'] }] });
  for (const [body, config] of [
    [{ config: ['developers'] }, ['developers']],
    [{}, []],
    [{ config: null }, null],
  ] as const) {
    expect(object((await gateway.send('PUT', rowPath('orders'), body)).body)['config']).toEqual(config);
    expect(await seen('hpk_standard')).toEqual(config?.length === 1 ? ['orders'] : []);
  }
  const standard = await gateway.send('GET', rowPath('orders'), undefined, { token: 'hpk_standard' });
  expect(refusal(standard)).toBe('403 "access denied"');
  expect((await gateway.send('GET', '/plugins/access_control', undefined, { token: 'hpk_standard' })).status).toBe(200);
});

test('a PUT of a plugin replaces the rows of the plugin in its body', async () => {
  await gateway.make('/plugins', { name: 'access_control', connections: [{ id: idOf('orders'), config: ['developers'] }] });
  const sent = { name: 'access_control', connections: [{ id: idOf('stock'), config: ['developers'] }] };
  expect((await gateway.send('PUT', '/plugins/another', sent)).status).toBe(200);
  expect(await seen('hpk_standard')).toEqual(['stock']);
  expect(refusal(await gateway.send('PUT', '/plugins/access_control', { ...sent, name: 'another' }))).toBe('404 "plugin not found"');
});

test('a deleted connection loses its row and its attributes, and a successor of the same name does not inherit them', async () => {
  await gateway.make('/plugins', { name: 'access_control', connections: [{ id: idOf('orders'), config: ['developers'] }] });
  await gateway.make('/attributes', { name: 'team', connection_names: ['orders', 'stock'], access_control_group_names: ['developers'] });
  expect(await seen('hpk_standard')).toEqual(['orders', 'stock']);
  await gateway.send('DELETE', '/connections/orders');
  expect((await gateway.get('/plugins/access_control'))['connections']).toEqual([]);
  await gateway.make('/connections', connection('orders'));
  expect(await seen('hpk_standard')).toEqual(['stock']);
});

test('a deleted group leaves its callers and attributes; rows keep its name, and a later group inherits them', async () => {
  await gateway.make('/plugins', { name: 'access_control', connections: [{ id: idOf('orders'), config: ['developers'] }] });
  await gateway.make('/attributes', { name: 'team', connection_names: ['stock'], access_control_group_names: ['developers'] });
  expect((await gateway.send('DELETE', '/users/groups/developers')).status).toBe(204);
  expect(await seen('hpk_standard')).toEqual([]);
  expect((await gateway.get('/attributes/team'))['access_control_group_names']).toEqual([]);
  expect(list((await gateway.send('GET', '/users/groups')).body)).not.toContain('developers');
  await gateway.make('/users', { email: 'eve@example.com', groups: ['developers'] });

  for (const [index, row] of gateway.model.store.identities.entries())
    if (row.email === 'eve@example.com') gateway.model.store.identities[index] = { ...row, token: 'jwt-of-eve' };
  expect(await seen('jwt-of-eve')).toEqual(['orders']);
});

test('a group exists while a user or a key has it, or since it was created empty', async () => {
  const groups = async (): Promise<readonly unknown[]> => list((await gateway.send('GET', '/users/groups')).body);
  await gateway.make('/users', { email: 'eve@example.com', groups: ['temps'] });
  expect(refusal(await gateway.send('POST', '/users/groups', { name: 'temps' }))).toBe('409 "group temps already exists"');
  await gateway.make('/users/groups', { name: 'empty' });
  await gateway.send('PUT', '/users/eve@example.com', { email: 'eve@example.com', status: 'active' });
  expect(await groups()).toContain('empty');
  expect(await groups()).not.toContain('temps');
  expect(refusal(await gateway.send('DELETE', '/users/groups/admin'))).toBe('422 "cannot delete admin group admin"');
});

test('users are read by all, by address or id, and written by admins', async () => {
  expect(await gateway.make('/users', { email: 'eve@example.com', name: 'Eve', groups: ['sre', 'sre'], password: 'p' })).toMatchObject({
    email: 'eve@example.com',
    status: 'active',
    groups: ['sre', 'sre'],
    password: 'p',
  });
  const standard = { token: 'hpk_standard' };
  expect(await gateway.get('/users/eve@example.com', standard)).toMatchObject({ id: 'eve@example.com', role: 'standard', groups: ['sre'] });
  const emails = list((await gateway.send('GET', '/users', undefined, standard)).body).map((row) => object(row)['email']);
  expect(emails).toEqual(['eve@example.com', 'ada@example.com']);
  const post = async (email: string): Promise<string> => refusal(await gateway.send('POST', '/users', { email }));
  expect(await post('eve')).toBe('422 "invalid email"');
  expect(await post('eve@example.com')).toBe('409 "user already exists with email eve@example.com"');
  expect(refusal(await gateway.send('GET', '/users/nobody@example.com'))).toBe('404 "user nobody@example.com not found"');
});

test('admins keep their own group, and neither delete nor deactivate themselves', async () => {
  const ada = { token: 'jwt-of-ada' };
  const path = '/users/ada@example.com';
  const put = async (status: string): Promise<Awaited<ReturnType<Gateway['send']>>> =>
    gateway.send('PUT', path, { email: 'ada@example.com', status, groups: [] }, ada);
  expect(refusal(await put('inactive'))).toBe('422 "cannot deactivate yourself"');
  expect((await put('active')).body).toMatchObject({ role: 'admin', groups: ['admin'] });
  expect(refusal(await gateway.send('DELETE', path, undefined, ada))).toBe('422 "cannot delete yourself"');
  expect((await gateway.send('DELETE', path)).status).toBe(204);
  expect((await gateway.send('GET', '/connections', undefined, ada)).status).toBe(401);
});

test('a user who is not active is not admitted', async () => {
  await gateway.send('PUT', '/users/ada@example.com', { email: 'ada@example.com', status: 'inactive', groups: ['admin'] });
  expect((await gateway.send('GET', '/connections', undefined, { token: 'jwt-of-ada' })).status).toBe(401);
});
