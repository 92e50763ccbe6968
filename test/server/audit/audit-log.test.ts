import { type Arbitrary, array, assert, asyncProperty, constant, constantFrom, oneof, record, tuple } from 'fast-check';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { runCount } from '../../support/property-runs.ts';
import { createDatabase, startPgliteServer, startTestServer } from '../../support/servers.ts';
import { base64, callerOf, connectionBody, databases, idOf, createKey, rowsOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const canary = 'canary-4d1f0b';

describe.each(databases)('the audit log on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  async function latest(count = 1): Promise<readonly JsonObject[]> {
    return rowsOf(await call('GET', `/audit/logs?page_size=${count}`));
  }

  test('lists the author, time, address and content of writes, newest first', async () => {
    const key = await createKey(call, 'ci', ['admin']);
    const secret = { 'envvar:PASS': base64(canary) };
    const created = await call('POST', '/connections', { body: connectionBody('audited', gateway.agent, { secret }), key });
    const rule = await call('POST', '/guardrails', { body: { name: 'r' }, key });
    const body = connectionBody('audited', gateway.agent, {
      reviewers: ['dba'],
      guardrail_rules: [idOf(rule)],
      secret: { 'envvar:PASS': base64('new') },
    });
    await call('PUT', '/connections/audited', { body, key });
    await call('PUT', '/connections/audited', { body, key });
    await call('DELETE', `/connections/${idOf(created)}`, { key });
    const [deleted, same, updated, , first] = await latest(5);
    const me = (await call('GET', '/userinfo', { key })).body;
    const actor = {
      actor_subject: me['id'],
      actor_name: 'ci',
      actor_email: 'ci',
      client_ip: '127.0.0.1',
      outcome: true,
      error_message: '',
    };
    const about = { resource_type: 'connections', resource_id: idOf(created), resource_name: 'audited' };
    expect(first).toEqual({
      ...actor,
      ...about,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      action: 'create',
      http_method: 'POST',
      http_status: 201,
      http_path: '/connections',
      request_payload_redacted: expect.objectContaining({
        name: 'audited',
        type: 'database',
        agent_id: gateway.agent,
        secret: '[REDACTED]',
        reviewers: [],
      }),
      changed_fields: [],
    });
    expect(updated).toMatchObject({
      ...actor,
      ...about,
      action: 'update',
      http_method: 'PUT',
      http_status: 200,
      http_path: '/connections/audited',
      request_payload_redacted: { secret: '[REDACTED]', guardrail_rules: [idOf(rule)] },
      changed_fields: ['reviewers', 'secret', 'guardrail_rules'],
    });
    expect(same).toMatchObject({ action: 'update', changed_fields: [] });
    expect(deleted).toMatchObject({ ...actor, ...about, action: 'delete', http_status: 204, request_payload_redacted: {} });
  });

  test('contains writes of keys, without the key texts', async () => {
    const key = await createKey(call, 'short-lived', ['dba'], 'terraform');
    await call('PUT', '/api-keys/short-lived', { body: { name: 'short-lived', groups: ['dba', 'dev'] } });
    await call('DELETE', '/api-keys/short-lived');
    const rows = await latest(3);
    expect(rows).toMatchObject([
      { resource_type: 'api_keys', action: 'revoke', http_status: 204, resource_name: 'short-lived' },
      { action: 'update', changed_fields: ['groups', 'manager'] },
      { action: 'create', request_payload_redacted: { name: 'short-lived', groups: ['dba'], manager: 'terraform' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  test.each<readonly [string, string, string, Json | undefined, number, string]>([
    ['a body that is wrong', 'POST', '/guardrails', { name: 'x', pasword: canary }, 422, '/pasword is an unknown field'],
    ['a secret that is wrong', 'POST', '/connections', { secret: { [`envvar:${canary}`]: canary } }, 422, '/name is required'],
    ['no JSON', 'PUT', '/connections/none', undefined, 400, 'the body is not a JSON object'],
    ['a name no database can keep', 'POST', '/guardrails', { 'a\0\uD800': 1 }, 422, '\uFFFD'],
  ])('contains a rejected write: %s', async (_case, method, path, body, status, error) => {
    await call('POST', '/guardrails', { body: { name: 'taken' } });
    const answer = await call(method, path, body === undefined ? {} : { body });
    expect(answer.status).toBe(status);
    const [entry] = await latest();
    expect(entry).toMatchObject({
      http_method: method,
      http_path: path,
      http_status: status,
      outcome: false,
      changed_fields: [],
      resource_id: null,
    });
    expect(entry?.['error_message']).toContain(error);
    expect(JSON.stringify(entry)).not.toContain(canary);
  });

  test('contains the longest paths', async () => {
    const name = '😀'.repeat(254);
    const path = `/connections/${encodeURIComponent(name)}`;
    expect((await call('POST', '/connections', { body: connectionBody(name, gateway.agent, { resource_name: 'far' }) })).status).toBe(201);
    expect(
      (await call('PUT', path, { body: connectionBody(name, gateway.agent, { resource_name: 'far', reviewers: ['dba'] }) })).status,
    ).toBe(200);
    expect(await latest()).toMatchObject([{ http_path: path, resource_name: name, changed_fields: ['reviewers'] }]);
    expect((await call('DELETE', `/guardrails/${'x'.repeat(8000)}`)).status).toBe(404);
    expect(await latest()).toMatchObject([{ http_path: `/guardrails/${'x'.repeat(8000)}`, http_status: 404 }]);
  });

  test('contains forbidden requests, but neither reads nor unauthenticated requests', async () => {
    const key = await createKey(call, 'curious', []);
    await call('POST', '/connections', { key, body: { name: canary } });
    const [before] = await latest();
    expect(before).toMatchObject({ actor_name: 'curious', http_status: 403, outcome: false, request_payload_redacted: {} });
    await call('GET', '/connections', { key });
    await call('GET', '/guardrails', { key });
    await call('POST', '/connections', { key: 'unknown', body: {} });
    await call('POST', '/nowhere', { body: {} });
    await call('PATCH', '/connections', { body: {} });
    expect(await latest()).toEqual([before]);
  });

  test('is paged and filtered', async () => {
    const total = async (query: string): Promise<Json | undefined> => {
      const { body } = await call('GET', `/audit/logs?page_size=1&${query}`);
      return JSON.parse(JSON.stringify(body['pages'])).total;
    };
    const started = new Date(Date.now() - 1).toISOString();
    const rule = await call('POST', '/guardrails', { body: { name: 'filtered' } });
    await call('PUT', `/guardrails/${idOf(rule)}`, { body: { name: 'filtered 2' } });
    await call('PUT', `/guardrails/${idOf(rule)}`, { body: {} });
    expect(await total(`http_path=/guardrails/${idOf(rule)}`)).toBe(2);
    expect(await total(`http_path=/guardrails/${idOf(rule)}&outcome=false`)).toBe(1);
    expect(await total(`resource_id=${idOf(rule)}`)).toBe(2);
    expect(await total(`resource_id=${idOf(rule)}&action=create&resource_type=guardrails&http_method=POST&actor_email=admin`)).toBe(1);
    expect(await total('resource_name=filtered')).toBe(1);
    expect(await total(`created_after=${started}&resource_name=filtered`)).toBe(1);
    expect(await total(`created_before=${started}&resource_name=filtered`)).toBe(0);
    expect(await total('created_after=2099-01-01T00:00:00Z')).toBe(0);
    expect((await call('GET', '/audit/logs?created_after=2099-01-01T00:00:00Z')).body).toEqual({
      pages: { total: 0, page: 1, size: 50 },
      data: [],
    });
    const [newest, next] = await latest(2);
    expect(rowsOf(await call('GET', '/audit/logs?page=2&page_size=1'))).toEqual([next]);
    expect(newest?.['http_status']).toBe(422);
  });

  test.each(['0000-01-01T00:00:00Z', '0000-01-01T00:00:00%2B14:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999-14:00'])(
    'compares with the time %s',
    async (time) => {
      for (const query of [`created_after=${time}`, `created_before=${time}`]) {
        expect({ query, status: (await call('GET', `/audit/logs?${query}`)).status }).toEqual({ query, status: 200 });
      }
    },
  );

  test('has exactly one entry for every write, valid or not, and none for a read', async () => {
    const bodies: Arbitrary<Json> = oneof(
      record({ name: constantFrom('p', 'q') }),
      constant({ name: 'p', input: { rules: [{ type: 'deny_words_list', words: ['a'] }] } }),
      constant({ nam: 'p' }),
    );
    const writes = tuple(constantFrom('POST', 'PUT', 'DELETE', 'GET'), constantFrom('', '/first', `/${gateway.agent}`), bodies);
    await assert(
      asyncProperty(array(writes, { maxLength: 8 }), async (requests) => {
        const [before] = await latest();
        const expected: JsonObject[] = [];
        for (const [method, below, body] of requests) {
          const [first] = (await call('GET', '/guardrails')).list;
          const path = `/guardrails${below.replace('first', first === undefined ? gateway.agent : idOf({ body: first }))}`;
          const { status } = await call(method, path, method === 'GET' ? {} : { body });
          const served = method !== 'GET' && (method === 'POST') === (path === '/guardrails');
          if (served) expected.unshift({ http_method: method, http_path: path, http_status: status, outcome: status < 400 });
        }
        const rows = await latest(expected.length + 1);
        expect(rows.slice(0, expected.length)).toMatchObject(expected);
        expect(rows[expected.length]).toEqual(before);
      }),
      { numRuns: runCount(5) },
    );
  });
});

test('the database refuses to change or empty the log', async () => {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url } });
  await callerOf(server)('POST', '/guardrails', { body: { name: 'a' } });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  for (const statement of ['update audit_logs set actor_name = null', 'delete from audit_logs', 'truncate audit_logs']) {
    await expect(client.query(statement)).rejects.toThrow('the audit log is append-only');
  }
  await client.end();
  await server.close();
  await database.drop();
});

test('a write whose entry cannot be stored is rolled back', async () => {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url } });
  const call = callerOf(server);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("alter table audit_logs add constraint full_disk check (resource_name <> 'late')");
  expect((await call('POST', '/guardrails', { body: { name: 'late' } })).status).toBe(500);
  expect((await call('GET', '/guardrails')).list).toEqual([]);
  const [entry] = rowsOf(await call('GET', '/audit/logs'));
  expect(entry).toMatchObject({ http_status: 500, outcome: false, error_message: 'internal error' });
  await client.end();
  await server.close();
  await database.drop();
});

test('a committed write whose response was lost is in the log', async () => {
  const server = await startPgliteServer({ chaos: ({ method }) => (method === 'POST' ? { status500AfterCommit: true } : undefined) });
  const call = callerOf(server);
  expect((await call('POST', '/guardrails', { body: { name: 'a' } })).status).toBe(500);
  expect(rowsOf(await call('GET', '/audit/logs'))).toMatchObject([{ http_status: 201, outcome: true, resource_name: 'a' }]);
  await server.close();
});
