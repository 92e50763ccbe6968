import { describe, expect, test } from 'vitest';
import { compareText } from '../../../src/model/json.ts';
import { base64, connectionBody, databases, idOf, rowsOf, type ApiAnswer } from '../client.ts';
import { useServer } from '../use-server.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

function namesOf(answer: ApiAnswer): readonly unknown[] {
  return rowsOf(answer).map(({ name }) => name);
}

describe.each(databases)('resources on %s', (_name, start) => {
  let at = new Date('2026-01-01T00:00:00.000Z');
  const gateway = useServer(start, { now: () => at });
  const { call } = gateway;

  const found = async (query: string): Promise<readonly unknown[]> => namesOf(await call('GET', `/resources?${query}`));

  test('a connection creates the resource that it names, with its own type, once', async () => {
    const more = { subtype: 'postgres', resource_name: 'orders', secret: { 'envvar:PASS': base64('x') } };
    await call('POST', '/connections', { body: connectionBody('orders-ro', gateway.agent, more) });
    at = new Date('2026-01-02T00:00:00.000Z');
    await call('POST', '/connections', { body: { ...connectionBody('orders-rw', gateway.agent, more), type: 'custom', subtype: 'ssh' } });
    const { status, body, headers } = await call('GET', '/resources/orders');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'orders',
      type: 'database',
      subtype: 'postgres',
      agent_id: gateway.agent,
      env_vars: {},
      secrets_updated_at: null,
      managed_by: '',
      revision: 1,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    });
    expect(headers.get('ETag')).toBe(`"${idOf({ body })}.1"`);
    expect(rowsOf(await call('GET', '/resources?name=orders'))).toEqual([body]);
  });

  test('a connection without a resource name gets its own resource; a replace may change it', async () => {
    await call('POST', '/connections', { body: connectionBody('alone', gateway.agent) });
    expect((await call('GET', '/resources/alone')).status).toBe(200);
    await call('PUT', '/connections/alone', { body: connectionBody('alone', gateway.agent, { resource_name: 'together' }) });
    expect((await call('GET', '/resources/together')).body).toMatchObject({ type: 'database', agent_id: gateway.agent });
    expect((await call('GET', '/resources/alone')).status).toBe(200);
  });

  test('a resource stays after its last connection is deleted, until it is deleted itself', async () => {
    await call('POST', '/connections', { body: connectionBody('last', gateway.agent) });
    const refused = await call('DELETE', '/resources/last');
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('(last)') } });
    await call('DELETE', '/connections/last');
    expect((await call('GET', '/resources/last')).status).toBe(200);
    expect((await call('DELETE', '/resources/last')).status).toBe(204);
    expect((await call('GET', '/resources/last')).status).toBe(404);
    expect((await call('DELETE', '/resources/last')).status).toBe(404);
  });

  test('a rejected write creates no resource', async () => {
    const taken = await call('POST', '/connections', { body: connectionBody('orders-ro', gateway.agent, { resource_name: 'never' }) });
    const unknown = await call('POST', '/connections', { body: connectionBody('u', gateway.agent, { guardrail_rules: [unknownId] }) });
    expect([taken.status, unknown.status]).toEqual([409, 422]);
    for (const name of ['never', 'u']) expect((await call('GET', `/resources/${name}`)).status).toBe(404);
  });

  test('a connection whose name is too long for a resource requires a resource name', async () => {
    const name = 'n'.repeat(200);
    const refused = await call('POST', '/connections', { body: connectionBody(name, gateway.agent) });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: '/resource_name' }] } });
    const created = await call('POST', '/connections', { body: connectionBody(name, gateway.agent, { resource_name: 'ä'.repeat(128) }) });
    expect(created.status).toBe(201);
    expect((await call('PUT', `/connections/${name}`, { body: created.body })).status).toBe(200);
    await call('DELETE', `/connections/${name}`);
    await call('DELETE', `/resources/${encodeURIComponent('ä'.repeat(128))}`);
  });

  test('a resource is created, read, replaced and deleted by its name', async () => {
    const body = { name: 'own / 100%', type: 'application', subtype: 'tcp', agent_id: gateway.agent.toUpperCase() };
    const environment = { 'envvar:HOST': base64('db'), 'envvar:TOKEN': '_cloudsecrets:a:b', 'filesystem:CA': base64('ca') };
    const created = await call('POST', '/resources', { body: { ...body, env_vars: environment } });
    expect(created).toMatchObject({ status: 201, body: { ...body, agent_id: gateway.agent, env_vars: environment } });
    const path = created.headers.get('Location') ?? '';
    expect((await call('GET', path)).body).toEqual(created.body);
    const replaced = await call('PUT', path, { body: { ...created.body, env_vars: { 'envvar:HOST': null } } });
    expect(replaced).toMatchObject({ status: 200, body: { id: idOf(created), env_vars: { 'envvar:HOST': base64('db') } } });
    const least = await call('PUT', path, { body: { name: body.name, type: 'custom' } });
    expect(least).toMatchObject({ status: 200, body: { type: 'custom', subtype: '', agent_id: '', env_vars: {} } });
    expect((await call('DELETE', path)).status).toBe(204);
  });

  test('the ID of a resource wins over a name that has its form', async () => {
    const made = await call('POST', '/resources', { body: { name: 'its-own', type: 'database', subtype: 'postgres', agent_id: '' } });
    const id = idOf(made);
    await call('POST', '/connections', { body: connectionBody('by-id', gateway.agent, { resource_name: id }) });
    await call('POST', '/connections', { body: connectionBody('by-other-id', gateway.agent, { resource_name: unknownId }) });
    expect((await call('GET', `/resources/${unknownId}`)).body['name']).toBe(unknownId);
    expect((await call('GET', `/resources/${id}`)).body['name']).toBe('its-own');
  });

  test('a new name is written to the connections, unless another manager manages one', async () => {
    const before = await call('POST', '/connections', { body: connectionBody('follows', gateway.agent, { resource_name: 'first' }) });
    const body = { name: 'second', type: 'database' };
    expect((await call('PUT', '/resources/first', { body })).status).toBe(200);
    const after = await call('GET', '/connections/follows');
    expect(after.body['resource_name']).toBe('second');
    expect(after.headers.get('ETag')).not.toBe(before.headers.get('ETag'));
    expect((await call('GET', '/resources/first')).status).toBe(404);
    expect((await call('PUT', '/resources/second', { body: { ...body, name: 'orders' } })).status).toBe(409);
    const managed = connectionBody('managed', gateway.agent, { resource_name: 'second' });
    await call('POST', '/connections', { body: managed, key: gateway.server.managerKey });
    expect((await call('PUT', '/resources/second', { body: { ...body, name: 'third' } })).status).toBe(409);
    expect((await call('GET', '/connections/follows')).body['resource_name']).toBe('second');
    expect((await call('PUT', '/resources/second', { body: { ...body, name: 'third' }, key: gateway.server.managerKey })).status).toBe(200);
  });

  test('the type and subtype of a resource with connections cannot change', async () => {
    await call('POST', '/connections', { body: connectionBody('typed', gateway.agent, { subtype: 'mysql' }) });
    const body = { name: 'typed', type: 'database', subtype: 'mysql', agent_id: gateway.agent };
    for (const other of [{ type: 'custom' }, { subtype: '' }]) {
      const refused = await call('PUT', '/resources/typed', { body: { ...body, ...other } });
      expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('typed') } });
    }
    expect((await call('PUT', '/resources/typed', { body: { ...body, agent_id: '' } })).status).toBe(200);
  });

  test('the list is sorted, always paged, and counts the matches', async () => {
    for (const name of ['page-b', 'page-a', 'page-C']) await call('POST', '/resources', { body: { name, type: 'custom', subtype: 'p_%' } });
    const { body, ...all } = await call('GET', '/resources?subtype=p_%25');
    expect(namesOf({ body, ...all })).toEqual(['page-C', 'page-a', 'page-b']);
    expect(body['pages']).toEqual({ page: 1, size: 50, total: 3 });
    const second = await call('GET', '/resources?subtype=p_%25&page=2&page_size=2');
    expect(namesOf(second)).toEqual(['page-b']);
    expect(second.body['pages']).toEqual({ page: 2, size: 2, total: 3 });
    expect((await call('GET', '/resources?subtype=p_%25&page=9')).body).toEqual({ data: [], pages: { page: 9, size: 50, total: 3 } });
    const whole = namesOf(await call('GET', '/resources?page_size=100')).map(String);
    expect(whole).toEqual(whole.toSorted(compareText));
  });

  test('filters are exact, search ignores case, and together they narrow the list', async () => {
    expect(await found('name=page-C')).toEqual(['page-C']);
    expect(await found('name=page')).toEqual([]);
    expect(await found('name=page-_')).toEqual([]);
    expect(await found('search=PAGE-')).toEqual(['page-C', 'page-a', 'page-b']);
    expect(await found('search=p_%25')).toEqual(['page-C', 'page-a', 'page-b']);
    expect(await found('search=%25')).toEqual(['page-C', 'page-a', 'page-b']);
    expect(await found('search=page&name=page-a')).toEqual(['page-a']);
    expect(await found('search=page&type=database')).toEqual([]);
    expect(await found(`agent_id=${gateway.agent.toUpperCase()}&name=orders`)).toEqual(['orders']);
    expect(await found(`agent_id=${unknownId}`)).toEqual([]);
    expect((await found('name=&type=&search=&unknown=1')).length).toBeGreaterThan(3);
  });

  test('only admins write resources and see the values of the environment; others see the names', async () => {
    const keyOf = async (group: string): Promise<string> => {
      const made = await call('POST', '/api-keys', { body: { name: `resources ${group}`, groups: [group] } });
      return typeof made.body['key'] === 'string' ? made.body['key'] : '';
    };
    const body = { name: 'seen', type: 'custom', env_vars: { 'envvar:A': base64('canary') } };
    await call('POST', '/resources', { body });
    for (const key of [await keyOf('auditor'), await keyOf('dba')]) {
      const one = await call('GET', '/resources/seen', { key });
      expect(one).toMatchObject({ status: 200, body: { env_vars: { 'envvar:A': null } } });
      expect(rowsOf(await call('GET', '/resources?name=seen', { key }))).toEqual([one.body]);
      expect((await call('GET', '/search?term=seen', { key })).body['resources']).toMatchObject([{ name: 'seen' }]);
      for (const [method, path] of [
        ['POST', '/resources'],
        ['PUT', '/resources/seen'],
        ['DELETE', '/resources/seen'],
        ['POST', '/agents'],
        ['DELETE', '/agents/default'],
        ['POST', '/agents/default/token'],
      ] as const)
        expect((await call(method, path, { body, key })).status).toBe(403);
    }
    expect((await call('GET', '/resources/seen')).body).toMatchObject(body);
    expect((await call('PUT', '/resources/seen', { body: { ...body, env_vars: { 'envvar:A': null } } })).body).toMatchObject(body);
  });

  test('no request creates a duplicate name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', '/resources', { body: { name: 'raced', type: 'custom' } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
  });
});
