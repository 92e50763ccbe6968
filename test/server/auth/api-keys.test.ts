import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPgliteServer, type TestServer } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, databases, idOf, createKey, type CallServer } from '../client.ts';

describe.each(databases)('keys on %s', (_name, start) => {
  let server: TestServer;
  let call: CallServer;

  beforeAll(async () => {
    server = await start();
    call = callerOf(server);
  });
  afterAll(() => server.close());

  function status(key: string): Promise<number> {
    return call('GET', '/serverinfo', { key }).then((answer) => answer.status);
  }

  test.each([
    ['admin', 422],
    ['  Admin ', 422],
    ['agent prod', 422],
    ['ostiary serve --init', 422],
    ['CI部署', 201],
    ['नीति', 201],
    ['deploy-прод', 201],
    ['déploiement', 201],
    ['admins', 201],
    ['the admin of databases', 201],
  ])('creating a key named %j, or renaming one to it, gets a %d', async (name, expected) => {
    const created = await call('POST', '/api-keys', { body: { name } });
    expect(created.status).toBe(expected);
    if (expected === 201) await call('DELETE', `/api-keys/${idOf(created)}`);
    const other = await call('POST', '/api-keys', { body: { name: 'other' } });
    expect((await call('PUT', `/api-keys/${idOf(other)}`, { body: { name } })).status).toBe(expected === 201 ? 200 : expected);
    await call('DELETE', `/api-keys/${idOf(other)}`);
  });

  test('the key text is returned once, on creation', async () => {
    const created = await call('POST', '/api-keys', { body: { name: 'ci', groups: ['admin', 'ops', 'ops'] } });
    expect(created.status).toBe(201);
    const { key: made, ...shown } = created.body;
    const key = typeof made === 'string' ? made : '';
    expect(key).toMatch(/^ostk_[\w-]{43}$/);
    expect(shown).toEqual({
      id: idOf(created),
      name: 'ci',
      masked_key: `${key.slice(0, 9)}****`,
      groups: ['admin', 'ops'],
      role: 'admin',
      manager: '',
      status: 'active',
      created_by: 'admin',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      deactivated_by: null,
      deactivated_at: null,
      last_used_at: null,
    });
    expect(created.headers.get('Location')).toBe(`/api-keys/${idOf(created)}`);
    expect(created.headers.get('Cache-Control')).toBe('no-store');
    for (const reference of ['ci', idOf(created)]) {
      const found = await call('GET', `/api-keys/${reference}`);
      expect(found.body).toEqual(shown);
      expect(found.headers.get('ETag')).toBe(created.headers.get('ETag'));
    }
    expect((await call('GET', '/api-keys')).list).toContainEqual(shown);
    expect(await status(key)).toBe(200);
    const used = (await call('GET', '/api-keys/ci')).body['last_used_at'];
    expect(used).toBeTypeOf('string');
    expect(server.log.join('\n')).not.toContain(key);
  });

  test('a revoked key stays invalid and stays in the list', async () => {
    const key = await createKey(call, 'leaver', []);
    expect(await status(key)).toBe(200);
    const { body } = await call('GET', '/api-keys/leaver');
    expect((await call('DELETE', '/api-keys/leaver')).status).toBe(204);
    expect(await status(key)).toBe(401);
    const revoked = await call('GET', `/api-keys/${idOf({ body })}`);
    expect(revoked.body).toMatchObject({ status: 'revoked', deactivated_by: 'admin', deactivated_at: expect.any(String) });
    expect((await call('DELETE', `/api-keys/${idOf({ body })}`)).status).toBe(204);
    expect((await call('GET', `/api-keys/${idOf({ body })}`)).body).toMatchObject({ deactivated_at: revoked.body['deactivated_at'] });
    expect((await call('PUT', `/api-keys/${idOf({ body })}`, { body: { name: 'leaver' } })).status).toBe(409);
    expect((await call('GET', '/api-keys/leaver')).status).toBe(404);
    const second = await createKey(call, 'leaver', []);
    expect([await status(key), await status(second)]).toEqual([401, 200]);
  });

  test('changes by another admin take effect immediately', async () => {
    const key = await createKey(call, 'mover', ['admin']);
    expect((await call('GET', '/guardrails', { key })).status).toBe(200);
    const body = { name: 'moved', groups: ['dev'], manager: '' };
    const changed = await call('PUT', '/api-keys/mover', { body });
    expect(changed.body).toMatchObject({ ...body, role: 'standard' });
    expect((await call('GET', '/guardrails', { key })).status).toBe(403);
    expect((await call('GET', '/userinfo', { key })).body).toMatchObject({ name: 'moved', groups: ['dev'] });
    expect((await call('PUT', '/api-keys/moved', { body: { ...changed.body } })).status).toBe(200);
  });

  test('only keys of the same manager may change an object', async () => {
    const [first, second, other] = [
      await createKey(call, 'terraform', ['admin'], 'terraform'),
      await createKey(call, 'terraform 2', ['admin'], 'terraform'),
      await createKey(call, 'ansible', ['admin'], 'ansible'),
    ];
    const body = connectionBody('managed', await agentId(call));
    expect((await call('POST', '/connections', { body, key: first })).body['managed_by']).toBe('terraform');
    const statuses = [second, other, server.key].map(async (key) => (await call('PUT', '/connections/managed', { body, key })).status);
    expect(await Promise.all(statuses)).toEqual([200, 409, 409]);
  });

  test('active keys have unique names', async () => {
    await createKey(call, 'one', []);
    await createKey(call, 'two', []);
    expect((await call('POST', '/api-keys', { body: { name: 'one' } })).status).toBe(409);
    expect((await call('PUT', '/api-keys/two', { body: { name: 'one' } })).status).toBe(409);
  });
});

test('without keys the list of groups is null', async () => {
  const server = await startPgliteServer();
  const groups = async (): Promise<unknown> => (await fetch(`${server.url}/users/groups`, { headers: { 'Api-Key': server.key } })).json();
  expect(await groups()).toBeNull();
  await createKey(callerOf(server), 'a', ['b']);
  expect(await groups()).toEqual(['admin', 'b']);
  await callerOf(server)('DELETE', '/api-keys/a');
  expect(await groups()).toBeNull();
  await server.close();
});
