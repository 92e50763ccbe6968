import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../support/hoop/json.ts';
import { connection, list, object, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
  gateway.model.settings.listeners = true;
  await gateway.make('/connections', connection('orders'));
  await gateway.make('/connections', connection('ledger', { attributes: ['batch'] }));
});
afterEach(() => gateway.close());

const identities = '/machineidentities';
/** The secrets of an identity by connection. */
async function secretsOf(name: string): Promise<Readonly<Record<string, Json | undefined>>> {
  const rows = list((await gateway.send('GET', `${identities}/${name}/credentials`)).body).map(object);
  return Object.fromEntries(rows.map((row) => [word(row['connection_name']), row['secret_key']]));
}

test('an identity gets a credential for each connection that it names or shares an attribute with', async () => {
  expect(await gateway.make(identities, { name: 'ci', connection_names: ['orders'], attributes: ['batch'] })).toMatchObject({
    connection_names: ['orders'],
    credentials: [{ connection_name: 'orders' }, { connection_name: 'ledger' }],
  });
  await gateway.make('/connections', connection('stock', { attributes: ['batch'] }));
  expect(Object.keys(await secretsOf('ci'))).toEqual(['orders', 'ledger', 'stock']);
  await gateway.send('PUT', '/attributes/batch', { name: 'batch', connection_names: ['stock'] });
  expect(Object.keys(await secretsOf('ci'))).toEqual(['orders', 'stock']);
  await gateway.send('DELETE', '/attributes/batch');
  expect(Object.keys(await secretsOf('ci'))).toEqual(['orders', 'stock']);
  const auditor = await gateway.send('GET', `${identities}/ci/credentials`, undefined, { token: 'hpk_auditor' });
  expect(auditor.status).toBe(403);
});

test('an identity that names a deleted connection gives its credential to the next connection of that name', async () => {
  await gateway.make(identities, { name: 'ci', connection_names: ['orders'] });
  const before = await secretsOf('ci');
  await gateway.send('DELETE', '/connections/orders');
  expect(await secretsOf('ci')).toEqual({});
  expect((await gateway.get(`${identities}/ci`))['connection_names']).toEqual(['orders']);
  await gateway.make('/connections', connection('orders'));
  expect(await secretsOf('ci')).toEqual(before);
});

test('a PUT renames an identity, revokes what it does not name, and keeps names of deleted connections', async () => {
  await gateway.make(identities, { name: 'ci', connection_names: ['orders', 'ledger'], attributes: ['batch'] });
  await gateway.make(identities, { name: 'other', connection_names: [] });
  await gateway.send('DELETE', '/connections/orders');
  const put = (path: string, body: JsonObject): ReturnType<Gateway['send']> => gateway.send('PUT', `${identities}/${path}`, body);
  expect(refusal(await put('ci', { name: 'other', connection_names: [] }))).toContain('409');
  expect(refusal(await put('absent', { name: 'absent', connection_names: [] }))).toContain('400 "failed updating machine identity');
  const answer = await put('ci', { name: 'cd', connection_names: ['orders'] });
  expect(answer.body).toMatchObject({ name: 'cd', attributes: [], created_at: '0001-01-01T00:00:00Z', new_credentials: null });
  expect(await secretsOf('cd')).toEqual({});
  const listed = list((await gateway.send('GET', identities, undefined, { token: 'hpk_standard' })).body).map(object);
  expect(listed.map(({ name }) => name)).toEqual(['other', 'cd']);
  const deleted = await gateway.send('DELETE', `${identities}/cd`);
  expect([deleted.status, deleted.body]).toEqual([200, { message: 'machine identity deleted' }]);
  expect(gateway.model.store.machineCredentials.size).toBe(0);
});
