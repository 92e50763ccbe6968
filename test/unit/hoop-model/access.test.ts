import { afterEach, beforeEach, expect, test } from 'vitest';
import { isObject } from '../../support/hoop/json.ts';
import { connection, list, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;
const ids = new Map<string, string>();

beforeEach(async () => {
  gateway = await startGateway();
  for (const name of ['orders', 'ledger', 'stock']) ids.set(name, word((await gateway.make('/connections', connection(name)))['id']));
});
afterEach(() => gateway.close());

const idOf = (name: string): string => ids.get(name) ?? '';

async function seen(token: string): Promise<readonly unknown[]> {
  const names = list((await gateway.send('GET', '/connections', undefined, { token })).body);
  return names.map((row) => (isObject(row) ? row['name'] : row));
}

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

test('a user who is not active is not admitted', async () => {
  await gateway.send('PUT', '/users/ada@example.com', { email: 'ada@example.com', status: 'inactive', groups: ['admin'] });
  expect((await gateway.send('GET', '/connections', undefined, { token: 'jwt-of-ada' })).status).toBe(401);
});
