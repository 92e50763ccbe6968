import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, startTestServer, type TestServer } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, databases, idOf, type ApiAnswer, type CallServer } from '../client.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

function tokenOf({ body }: ApiAnswer): string {
  return typeof body['token'] === 'string' ? body['token'] : '';
}

describe.each(databases)('agents on %s', (_name, start) => {
  let server: TestServer;
  let call: CallServer;
  let at = Date.parse('2026-01-01T00:00:00.000Z');
  const now = (): Date => new Date(at);

  beforeAll(async () => {
    server = await start({ now });
    call = callerOf(server);
  });
  afterAll(() => server.close());

  const beat = (token: string, body?: Parameters<CallServer>[2]): Promise<ApiAnswer> =>
    call('POST', '/agents/heartbeat', { key: token, ...body });

  test('a new agent gets a token once, and is offline until its first heartbeat', async () => {
    const created = await call('POST', '/agents', { body: { name: 'new' } });
    expect(created.status).toBe(201);
    expect(created.headers.get('Location')).toBe(`/agents/${idOf(created)}`);
    expect(tokenOf(created)).toMatch(/^osa_[\w-]{43}$/);
    const { token, ...rest } = created.body;
    expect(rest).toEqual({
      id: idOf(created),
      name: 'new',
      status: 'offline',
      last_seen: null,
      hostname: '',
      version: '',
      platform: '',
      created_at: now().toISOString(),
    });
    for (const path of ['/agents/new', `/agents/${idOf(created)}`]) expect((await call('GET', path)).body).toEqual(rest);
    expect((await call('GET', '/agents')).list).toContainEqual(rest);
    expect(server.log.join('\n')).not.toContain(token);
  });

  test('the ETag of an agent changes only with its token, and If-Match is checked', async () => {
    const created = await call('POST', '/agents', { body: { name: 'tagged' } });
    const tag = async (): Promise<string> => (await call('GET', '/agents/tagged')).headers.get('ETag') ?? '';
    const first = await tag();
    expect(first).toMatch(/^"[0-9a-f]{32}"$/);
    expect(created.headers.get('ETag')).toBe(first);
    await beat(tokenOf(created));
    expect(await tag()).toBe(first);
    const renewed = await call('POST', '/agents/tagged/token', { headers: { 'If-Match': first } });
    expect([renewed.status, renewed.headers.get('ETag')]).toEqual([201, await tag()]);
    expect(await tag()).not.toBe(first);
    const stale = { headers: { 'If-Match': first } };
    expect((await call('POST', '/agents/tagged/token', stale)).status).toBe(412);
    const { status, body } = await call('DELETE', '/agents/tagged', stale);
    expect([status, body]).toEqual([412, { message: 'the agent tagged has changed since it was read' }]);
    expect((await beat(tokenOf(renewed))).status).toBe(200);
    expect((await call('DELETE', '/agents/tagged', { headers: { 'If-Match': await tag() } })).status).toBe(204);
  });

  test('an agent and its connections are online while heartbeats arrive within the timeout', async () => {
    const agent = await call('POST', '/agents', { body: { name: 'beats' } });
    const statuses = async (): Promise<readonly unknown[]> => {
      const body = connectionBody('served', idOf(agent));
      const written = await call('PUT', '/connections/served', { body });
      const listed = (await call('GET', '/connections')).list.find(({ name }) => name === 'served');
      const { body: page } = await call('GET', '/connections?page=1');
      const { body: found } = await call('GET', '/search?term=served');
      const read = [(await call('GET', '/agents/beats')).body, (await call('GET', '/connections/served')).body, written.body, listed];
      const inside = JSON.stringify([page['data'], found['connections']]).match(/"status":"\w+"/g) ?? [];
      return [...read.map((one) => one?.['status']), ...inside.map((text) => text.slice(10, -1))];
    };
    const served = await call('POST', '/connections', { body: connectionBody('served', idOf(agent)) });
    expect(served.body['status']).toBe('offline');
    expect(new Set(await statuses())).toEqual(new Set(['offline']));
    const heartbeat = await beat(tokenOf(agent), { body: { hostname: 'h1', version: '1.2.3', platform: 'linux/amd64' } });
    expect(heartbeat).toMatchObject({ status: 200, body: { id: idOf(agent), name: 'beats', status: 'online', timeout_seconds: 60 } });
    expect((await call('GET', '/agents/beats')).body).toMatchObject({ hostname: 'h1', version: '1.2.3', last_seen: now().toISOString() });
    at += 59_999;
    expect(new Set(await statuses())).toEqual(new Set(['online']));
    expect((await call('POST', '/connections', { body: connectionBody('served too', idOf(agent)) })).body['status']).toBe('online');
    await call('DELETE', '/connections/served%20too');
    at += 1;
    expect(new Set(await statuses())).toEqual(new Set(['offline']));
    expect((await beat(tokenOf(agent))).status).toBe(200);
    expect(new Set(await statuses())).toEqual(new Set(['online']));
    const moved = await call('PUT', '/connections/served', { body: connectionBody('served', await agentId(call)) });
    expect(moved.body['status']).toBe('offline');
    await call('DELETE', '/connections/served');
  });

  test('a heartbeat does not change the ETag or the times of a connection', async () => {
    const agent = await call('POST', '/agents', { body: { name: 'quiet' } });
    const created = await call('POST', '/connections', { body: connectionBody('same', idOf(agent)) });
    at += 1000;
    await beat(tokenOf(agent));
    const read = await call('GET', '/connections/same');
    expect(read.headers.get('ETag')).toBe(created.headers.get('ETag'));
    expect(read.body).toEqual({ ...created.body, status: 'online' });
    await call('DELETE', '/connections/same');
  });

  test('the token of an agent allows only the heartbeat; the key of a caller does not allow it', async () => {
    const token = tokenOf(await call('POST', '/agents', { body: { name: 'locked' } }));
    for (const path of ['/connections', '/agents', '/agents/heartbeat', '/search?term=a', '/resources', '/serverinfo', '/nothing'])
      expect((await call('GET', path, { key: token })).status).toBe(401);
    expect((await call('POST', '/agents', { key: token, body: { name: 'more' } })).status).toBe(401);
    expect((await call('GET', '/connections', { key: null, headers: { 'Api-Key': token } })).status).toBe(401);
    for (const key of [null, server.key, server.managerKey, 'osa_', `${token}x`, token.slice(4)]) {
      const answer = await call('POST', '/agents/heartbeat', { key });
      expect({ key, status: answer.status }).toEqual({ key, status: 401 });
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    }
  });

  test('the body of a heartbeat is not read before its token', async () => {
    for (const body of ['{', 'x'.repeat(900_000)]) {
      const answer = await fetch(`${server.url}/agents/heartbeat`, {
        method: 'POST',
        body,
        headers: { Authorization: 'Bearer osa_wrong' },
      });
      expect(answer.status).toBe(401);
    }
  });

  test('a registered agent without a token gets one, and a new token replaces the earlier one', async () => {
    const path = '/agents/prod-agent/token';
    const [first, second] = [await call('POST', path), await call('POST', path)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect((await beat(tokenOf(first))).status).toBe(401);
    expect((await beat(tokenOf(second))).status).toBe(200);
    expect((await call('POST', '/agents/none/token')).status).toBe(404);
  });

  test('agents are filtered by status', async () => {
    const names = async (status: string): Promise<readonly unknown[]> =>
      (await call('GET', `/agents?status=${status}`)).list.map(({ name }) => name);
    await beat(tokenOf(await call('POST', '/agents', { body: { name: 'here' } })));
    expect(await names('online')).toContain('here');
    expect(await names('offline')).not.toContain('here');
    expect(await names('')).toContain('here');
    expect((await call('GET', '/agents?status=CONNECTED')).status).toBe(422);
  });

  test('only an agent without connections can be deleted, with its token', async () => {
    const agent = await call('POST', '/agents', { body: { name: 'used' } });
    for (const name of ['u1', 'u2', 'u3', 'u4', 'u5']) await call('POST', '/connections', { body: connectionBody(name, idOf(agent)) });
    const refused = await call('DELETE', '/agents/used');
    expect(refused.status).toBe(409);
    expect(refused.body['message']).toContain('u1, u2, u3 and 2 more');
    for (const name of ['u1', 'u2', 'u3', 'u4', 'u5']) await call('DELETE', `/connections/${name}`);
    expect((await call('GET', '/resources/u1')).body['agent_id']).toBe(idOf(agent));
    expect((await call('DELETE', `/agents/${idOf(agent)}`)).status).toBe(204);
    expect((await call('DELETE', '/agents/used')).status).toBe(404);
    expect((await call('GET', '/agents/used')).status).toBe(404);
    expect((await call('GET', '/resources/u1')).body['agent_id']).toBe('');
    expect((await beat(tokenOf(agent))).status).toBe(401);
    expect((await call('POST', '/connections', { body: connectionBody('late', idOf(agent)) })).status).toBe(422);
  });

  test.each([
    ['a name that is taken', { name: 'default' }, 409],
    ['a name that looks like an id', { name: unknownId }, 422],
  ])('%s is rejected', async (_text, body, status) => {
    expect((await call('POST', '/agents', { body })).status).toBe(status);
  });
});

test('two servers on one database report the same status of an agent', async () => {
  const { url, drop } = await createDatabase();
  let at = Date.parse('2026-01-01T00:00:00.000Z');
  const options = { database: { url }, now: () => new Date(at) };
  const servers = [await startTestServer(options), await startTestServer(options)] as const;
  const [first, second] = [callerOf(servers[0]), callerOf(servers[1])];
  const agent = await first('POST', '/agents', { body: { name: 'shared' } });
  await second('POST', '/connections', { body: connectionBody('shared', idOf(agent)) });
  const statuses = async (): Promise<readonly unknown[]> => {
    const answers = await Promise.all(
      [first, second].flatMap((call) => [call('GET', '/agents/shared'), call('GET', '/connections/shared')]),
    );
    return answers.map(({ body }) => body['status']);
  };
  expect(new Set(await statuses())).toEqual(new Set(['offline']));
  await second('POST', '/agents/heartbeat', { key: tokenOf(agent) });
  expect(new Set(await statuses())).toEqual(new Set(['online']));
  at += 60_000;
  expect(new Set(await statuses())).toEqual(new Set(['offline']));
  await Promise.all(servers.map((server) => server.close()));
  await drop();
});
