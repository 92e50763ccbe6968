import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../support/hoop/json.ts';
import { connection, list, object, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
  await gateway.make('/connections', connection('orders'));
});
afterEach(() => gateway.close());

const path = '/event-routing/subscriptions';
const onLeak: JsonObject = {
  name: 'on-leak',
  event_types: ['session.closed'],
  runbook_repository: 'github.com/acme/runbooks',
  runbook_file: 'ops/lock',
  connection_name: 'orders',
  parameter_mapping: {},
};

const namesIn = async (query = ''): Promise<readonly string[]> =>
  list((await gateway.send('GET', `${path}${query}`)).body).map((row) => word(object(row)['name']));

test('a connection cannot be deleted while a subscription names it, even a paused one', async () => {
  const { id } = await gateway.make(path, { ...onLeak, status: 'paused' });
  const remove = async (): Promise<number> => (await gateway.send('DELETE', '/connections/orders')).status;
  expect(refusal(await gateway.send('DELETE', '/connections/orders'))).toBe('500 "failed removing connection"');
  expect((await gateway.send('DELETE', `${path}/${word(id)}`)).status).toBe(204);
  expect(await remove()).toBe(204);
});

test('every role reads subscriptions, newest first and by status; only admins write them', async () => {
  await gateway.make(path, onLeak);
  await gateway.make(path, { ...onLeak, name: 'on-close', status: 'paused' });
  expect([await namesIn(), await namesIn('?status=active')]).toEqual([['on-close', 'on-leak'], ['on-leak']]);
  const auditor = { token: 'hpk_auditor' };
  expect((await gateway.send('GET', path, undefined, auditor)).status).toBe(200);
  expect((await gateway.send('POST', path, onLeak, auditor)).status).toBe(403);
});

test('subscriptions with a taken name, an unknown connection or event type, or a missing field are refused', async () => {
  await gateway.make(path, onLeak);
  const post = async (body: JsonObject): Promise<string> => refusal(await gateway.send('POST', path, body));
  expect(await post(onLeak)).toBe('409 "subscription with this name already exists"');
  expect(await post({ ...onLeak, connection_name: 'stock' })).toBe('400 "connection not found: stock"');
  expect(await post({ ...onLeak, event_types: ['session.lost'] })).toBe('400 "unknown event type: session.lost"');
  expect(await post({ ...onLeak, runbook_file: '' })).toContain("400 \"Key: 'EventSubscriptionRequest.RunbookFile'");
  expect(await post({ ...onLeak, event_types: [] })).toContain("failed on the 'min' tag");
  expect(refusal(await gateway.send('GET', `${path}/00000000-0000-4000-8000-000000000000`))).toBe('404 "resource not found"');
});
