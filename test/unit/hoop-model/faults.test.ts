import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, object, startGateway, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('a 500 after the write keeps the write', async () => {
  gateway.model.setFault(({ method }) => (method === 'POST' ? { kind: 'answer', when: 'after', status: 500, message: 'oops' } : undefined));
  expect((await gateway.send('POST', '/connections', connection('orders'))).status).toBe(500);
  expect(gateway.model.store.connections.has('orders')).toBe(true);
});

test('a 429 before the write stores nothing, and states when to retry', async () => {
  gateway.model.setFault(({ routeIndex }) =>
    routeIndex === 1 ? { kind: 'answer', when: 'before', status: 429, headers: { 'retry-after': '1' } } : undefined,
  );
  const answer = await gateway.send('POST', '/connections', connection('orders'));
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
  expect(gateway.model.store.connections.size).toBe(0);
  expect((await gateway.send('POST', '/connections', connection('orders'))).status).toBe(201);
});

test.each([
  ['before', false],
  ['after', true],
] as const)('an answer lost %s the write breaks the connection', async (when, written) => {
  gateway.model.setFault(() => ({ kind: 'lost', when }));
  await expect(gateway.send('POST', '/connections', connection('orders'))).rejects.toThrow(/fetch failed/);
  expect(gateway.model.store.connections.has('orders')).toBe(written);
});

test('a slow response arrives', async () => {
  gateway.model.setFault(() => ({ kind: 'slow', milliseconds: 20 }));
  expect((await gateway.send('GET', '/agents')).status).toBe(200);
});

test('the log counts requests by route and lists the writes', async () => {
  await gateway.send('GET', '/connections?page=1');
  await gateway.send('GET', '/connections');
  await gateway.send('POST', '/connections', connection('orders'));
  await gateway.send('GET', '/nope');
  const { log } = gateway.model;
  expect(log.counts()).toEqual({ 'GET /connections': 2, 'POST /connections': 1, 'GET /api/nope': 1 });
  expect(log.writes().map(({ route, status, caller }) => [route, status, caller])).toEqual([['POST /connections', 201, 'ci']]);
  log.clear();
  expect(log.count()).toBe(0);
});

test('the same seed gives the same orders and ids', async () => {
  const other = await startGateway();
  const made = [gateway, other].map((one) => one.make('/connections', connection('orders')));
  const [first, second] = await Promise.all(made);
  expect(first?.['id']).toBe(second?.['id']);
  await other.close();
});

test('the status of a connection follows its agent', async () => {
  const { id } = await gateway.get('/agents/prod-agent');
  await gateway.make('/connections', connection('orders', { agent_id: id ?? '' }));
  expect((await gateway.send('GET', '/connections/orders/test')).status).toBe(400);
  gateway.model.setAgentOnline('prod-agent', true);
  expect((await gateway.get('/connections/orders'))['status']).toBe('online');
  expect(await gateway.get('/connections/orders/test')).toEqual({ success: true });
  expect(object((await gateway.send('PUT', '/connections/orders', connection('orders', { agent_id: id ?? '' }))).body)['status']).toBe(
    'online',
  );
});

test('a profile moves between connections together with its rules', async () => {
  await gateway.make('/connections', connection('orders'));
  await gateway.send('PUT', '/orgs/protection-profile', { profile: 'protection-permissive' });
  await gateway.make('/connections', connection('ledger'));
  await gateway.send('PUT', '/orgs/protection-profile', { profile: 'hipaa-ready' });
  expect(await gateway.get('/userinfo')).toMatchObject({ default_protection_profile: 'hipaa-ready' });
  expect(await gateway.get('/attributes')).toMatchObject({
    data: [{ name: 'hoop_protection_profile-hipaa_ready', connection_names: ['orders'] }],
  });
  expect(await gateway.get('/connections/orders')).toMatchObject({ jit_access_duration_sec: 14_400 });
  expect((await gateway.send('DELETE', '/access-requests/rules/Hoop-JIT_4_hours')).status).toBe(400);
  expect((await gateway.send('DELETE', '/attributes/hoop_protection_profile-hipaa_ready')).status).toBe(400);
  expect((await gateway.send('PUT', '/orgs/protection-profile', { profile: 'nonsense' })).status).toBe(400);
});

test('two dumps differ exactly in the written rows', async () => {
  await gateway.make('/connections', connection('orders', { attributes: ['pci'] }));
  const before = gateway.model.dump();
  await gateway.send('GET', '/connections/orders');
  expect(gateway.model.dump()).toEqual(before);
  await gateway.make('/guardrails', { name: 'no-drop', attributes: ['pci'] });
  const after = gateway.model.dump();
  const changed = Object.keys(after).filter((table) => after[table]?.join() !== before[table]?.join());
  expect(changed).toEqual(['guardrails', 'audit', 'guardrailAttributes']);
});
