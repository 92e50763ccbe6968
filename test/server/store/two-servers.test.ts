import { array, assert, asyncProperty, constantFrom, record } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCount } from '../../support/property-runs.ts';
import { createDatabase, startTestServer, type TestServer } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, idOf, idsIn, createKey, rowsOf, type CallServer } from '../client.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let servers: readonly TestServer[];
let calls: readonly [CallServer, CallServer];
let agent: string;

beforeAll(async () => {
  database = await createDatabase();
  // Both start at once, on an empty database.
  const [left, right] = await Promise.all([startTestServer({ database }), startTestServer({ database })]);
  servers = [left, right];
  calls = [callerOf(left), callerOf(right)];
  agent = await agentId(calls[0]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await database.drop();
});

test('a key is valid on both servers exactly while it is active', async () => {
  const names = constantFrom('x', 'y');
  const step = record({ at: constantFrom(0, 1), name: names, act: constantFrom('make' as const, 'revoke' as const, 'promote' as const) });
  await assert(
    asyncProperty(array(step, { maxLength: 8 }), async (steps) => {
      const active = new Map<string, { readonly key: string; readonly role: string }>();
      const revoked: string[] = [];
      for (const { at, name, act } of steps) {
        const call = calls[at === 0 ? 0 : 1];
        const known = active.get(name);
        const { status, body } = await carryOut(call, act, name);
        const right = { make: [409, 201], promote: [200, 404], revoke: [204, 404] }[act];
        expect(status).toBe(right[known === undefined ? 1 : 0]);
        if (act === 'make' && known === undefined)
          active.set(name, { key: typeof body['key'] === 'string' ? body['key'] : '', role: 'standard' });
        if (act === 'promote' && known !== undefined) active.set(name, { ...known, role: 'auditor' });
        if (act === 'revoke' && known !== undefined) revoked.push(known.key);
        if (act === 'revoke') active.delete(name);
        for (const ask of calls) {
          for (const { key, role } of active.values()) expect((await ask('GET', '/serverinfo', { key })).body['role']).toBe(role);
          for (const key of revoked) expect([401, 429]).toContain((await ask('GET', '/serverinfo', { key })).status);
        }
      }
      for (const name of active.keys()) await calls[0]('DELETE', `/api-keys/${name}`);
    }),
    { numRuns: runCount(4) },
  );
});

test('of concurrent writes on two servers with one name or version, one succeeds', async () => {
  const both = Array.from({ length: 30 }, (_, n) => calls[n % 2 === 0 ? 0 : 1]);
  const creates = await Promise.all(both.map((call) => call('POST', '/connections', { body: connectionBody('once', agent) })));
  expect(creates.map(({ status }) => status).filter((status) => status !== 409)).toEqual([201]);
  const headers = { 'If-Match': creates.find(({ status }) => status === 201)?.headers.get('ETag') ?? '' };
  const body = connectionBody('once', agent, { reviewers: ['dba'] });
  const writes = await Promise.all(both.map((call) => call('PUT', '/connections/once', { body, headers })));
  expect(writes.map(({ status }) => status).filter((status) => status !== 412)).toEqual([200]);
});

test('both ends of an edge, written on different servers, agree; the log has every write in one order', async () => {
  const [left, right] = calls;
  const rule = idOf(await left('POST', '/guardrails', { body: { name: 'edges' } }));
  const names = Array.from({ length: 20 }, (_, n) => `edge-${n}`);
  const key = await createKey(left, 'writer', ['admin']);
  const ids = await Promise.all(
    names.map(async (name) => idOf(await right('POST', '/connections', { body: connectionBody(name, agent), key }))),
  );
  const writes = names.flatMap((name, n) => [
    left('PUT', `/connections/${name}`, { body: connectionBody(name, agent, { guardrail_rules: [rule] }), key }),
    right('PUT', `/guardrails/${rule}`, { body: { name: 'edges', connection_ids: ids.slice(0, n) }, key }),
  ]);
  expect(new Set((await Promise.all(writes)).map(({ status }) => status))).toEqual(new Set([200]));
  const listed = new Set(idsIn(await left('GET', `/guardrails/${rule}`), 'connection_ids'));
  const { list } = await right('GET', '/connections');
  const held = list.filter((body) => idsIn({ body }, 'guardrail_rules').includes(rule)).map((body) => idOf({ body }));
  expect(new Set(held)).toEqual(listed);
  const log = rowsOf(await left('GET', '/audit/logs?page_size=100&actor_email=writer'));
  expect(log).toHaveLength(60);
  expect(rowsOf(await right('GET', '/audit/logs?page_size=100&actor_email=writer'))).toEqual(log);
});

type Act = 'make' | 'revoke' | 'promote';

function carryOut(call: CallServer, act: Act, name: string): ReturnType<CallServer> {
  if (act === 'make') return call('POST', '/api-keys', { body: { name, groups: [] } });
  if (act === 'promote') return call('PUT', `/api-keys/${name}`, { body: { name, groups: ['auditor'] } });
  return call('DELETE', `/api-keys/${name}`);
}
