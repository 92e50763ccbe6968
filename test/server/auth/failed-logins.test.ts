import { expect, test } from 'vitest';
import { adminKey, startPgliteServer } from '../../support/servers.ts';
import { callerOf, createKey, rowsOf, type ApiAnswer } from '../client.ts';

const wrong = 'ostk_'.padEnd(48, 'x');
// A busy machine is slow enough to earn another attempt.
const now = (): Date => new Date('2026-01-01T00:00:00.000Z');

test('too many wrong keys of an address get a 429; a valid key is always accepted', async () => {
  const server = await startPgliteServer({ now });
  const call = callerOf(server);
  const key = await createKey(call, 'a', []);
  const answers: ApiAnswer[] = [];
  for (let n = 0; n < 25; n += 1) answers.push(await call('GET', '/serverinfo', { key: wrong }));
  expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 401));
  const waiting = answers.slice(20).filter(({ status }) => status === 429);
  expect(waiting.length).toBeGreaterThan(0);
  for (const { headers } of waiting) expect(headers.get('Retry-After')).toMatch(/^[123]$/);
  for (const right of [key, server.key, server.managerKey]) expect((await call('GET', '/serverinfo', { key: right })).status).toBe(200);
  expect(server.log.join('\n')).not.toContain(wrong);
  await server.close();
});

test.each([
  ['without a key', '/serverinfo', null],
  ['with a wrong key', '/connections', wrong],
  ['with a wrong agent token', '/agents/heartbeat', 'osa_wrong'],
  ['with a key at the heartbeat', '/agents/heartbeat', adminKey],
])('requests %s count as failed logins on every route', async (_case, path, key) => {
  const server = await startPgliteServer({ now });
  const call = callerOf(server);
  const method = path === '/agents/heartbeat' ? 'POST' : 'GET';
  for (let n = 0; n < 20; n += 1) expect((await call(method, path, { key })).status).toBe(401);
  expect((await call(method, path, { key })).status).toBe(429);
  // The count is one of all routes.
  expect((await call('POST', '/guardrails', { key: null, body: { name: 'x' } })).status).toBe(429);
  expect((await call('POST', '/agents/heartbeat', { key: 'osa_other' })).status).toBe(429);
  expect((await call('GET', '/serverinfo')).status).toBe(200);
  await server.close();
});

test.each([
  ['is believed behind a trusted proxy', true, '203.0.113.7'],
  ['is not believed otherwise', false, '127.0.0.1'],
])('the address in X-Forwarded-For %s', async (_case, trustProxy, address) => {
  const server = await startPgliteServer({ trustProxy });
  const call = callerOf(server);
  const headers = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' };
  await call('POST', '/guardrails', { body: { name: 'a' }, headers });
  await call('POST', '/guardrails', { body: { name: 'b' }, headers: { 'X-Forwarded-For': 'nonsense' } });
  const rows = rowsOf(await call('GET', '/audit/logs'));
  expect(rows.map((row) => row['client_ip'])).toEqual(['127.0.0.1', address]);
  await server.close();
});
