import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { TestServer } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, databases, idOf, createKey, type CallServer } from '../client.ts';

type Role = 'admin' | 'auditor' | 'standard';

const roles: readonly Role[] = ['admin', 'auditor', 'standard'];
const unknownId = '00000000-0000-4000-8000-000000000000';

/** The status for each role; 404 and 422 mean that the role is allowed. */
const answers: readonly (readonly [request: string, admin: number, auditor: number, standard: number])[] = [
  ['GET /serverinfo', 200, 200, 200],
  ['GET /userinfo', 200, 200, 200],
  ['GET /users/groups', 200, 200, 200],
  ['GET /agents', 200, 200, 200],
  ['GET /connections', 200, 200, 200],
  ['GET /connections?page=1', 200, 200, 200],
  ['GET /connections/c', 200, 200, 200],
  ['HEAD /connections/c', 200, 200, 200],
  ['POST /connections', 422, 403, 403],
  ['PUT /connections/none', 422, 403, 403],
  ['DELETE /connections/none', 404, 403, 403],
  ['GET /resources', 200, 200, 200],
  ['GET /resources/c', 200, 200, 200],
  ['POST /resources', 422, 403, 403],
  ['PUT /resources/c', 422, 403, 403],
  ['DELETE /resources/none', 404, 403, 403],
  ['GET /search?term=c', 200, 200, 200],
  ['GET /reviews', 200, 200, 200],
  ['POST /agents', 422, 403, 403],
  ['DELETE /agents/none', 404, 403, 403],
  ['POST /agents/none/token', 404, 403, 403],
  ['GET /guardrails', 200, 200, 403],
  ['HEAD /guardrails', 200, 200, 403],
  [`GET /guardrails/${unknownId}`, 404, 404, 403],
  ['POST /guardrails', 422, 403, 403],
  ['GET /datamasking-rules', 200, 200, 403],
  ['POST /datamasking-rules', 422, 403, 403],
  ['GET /runbooks/configurations', 200, 200, 403],
  ['POST /runbooks/configurations', 422, 403, 403],
  ['GET /audit/logs', 200, 200, 403],
  ['GET /api-keys', 200, 403, 403],
  [`GET /api-keys/${unknownId}`, 404, 403, 403],
  ['POST /api-keys', 422, 403, 403],
  [`PUT /api-keys/${unknownId}`, 422, 403, 403],
  [`DELETE /api-keys/${unknownId}`, 404, 403, 403],
  ['GET /nope', 404, 404, 404],
  ['PATCH /connections', 405, 405, 405],
];

describe.each(databases)('roles on %s', (_name, start) => {
  let server: TestServer;
  let call: CallServer;
  const keys = new Map<Role, string>();

  beforeAll(async () => {
    server = await start();
    call = callerOf(server);
    for (const role of roles) keys.set(role, await createKey(call, `a ${role}`, role === 'standard' ? ['dba', 'dev'] : ['dba', role]));
    const secret = { 'envvar:DB': base64('orders'), 'envvar:PASS': base64('canary') };
    await call('POST', '/connections', { body: connectionBody('c', await agentId(call), { secret }) });
    const git = { git_url: 'https://git.example.com/r', git_password: 'canary', git_user: 'u' };
    await call('POST', '/runbooks/configurations', { body: git });
  });
  afterAll(() => server.close());

  function as(role: Role, method: string, path: string, body?: JsonObject): ReturnType<CallServer> {
    return call(method, path, { key: keys.get(role) ?? '', ...(body === undefined ? {} : { body }) });
  }

  test.each(answers)('%s is allowed according to the role', async (request, ...statuses) => {
    const [method = '', path = ''] = request.split(' ');
    const body = method === 'POST' || method === 'PUT' ? {} : undefined;
    const found = await Promise.all(roles.map((role) => as(role, method, path, body)));
    expect(found.map(({ status }) => status)).toEqual(statuses);
    const refused = method === 'HEAD' ? [] : found.filter(({ status }) => status === 403);
    for (const { body: said } of refused) expect(said['message']).toMatch(/^access denied: the role (?:auditor|standard) cannot /);
  });

  test('each caller sees its own identity', async () => {
    for (const role of roles) {
      expect((await as(role, 'GET', '/serverinfo')).body).toMatchObject({ role });
      const { body } = await as(role, 'GET', '/userinfo');
      expect(body).toMatchObject({ role, name: `a ${role}`, email: `a ${role}`, is_admin: role === 'admin', manager: '' });
    }
    expect((await as('standard', 'GET', '/users/groups')).list).toEqual([]);
    const groups = await fetch(`${server.url}/users/groups`, { headers: { 'Api-Key': keys.get('standard') ?? '' } });
    expect(await groups.json()).toEqual(['admin', 'auditor', 'dba', 'dev']);
  });

  test('only admins see secret values; others see their names and the time of the last change', async () => {
    const [whole, ...others] = await Promise.all(roles.map((role) => as(role, 'GET', '/connections/c')));
    expect(whole?.body).toMatchObject({ default_database: 'orders', secret: { 'envvar:PASS': base64('canary') } });
    const changed = whole?.body['secrets_updated_at'];
    expect(changed).toBeTypeOf('string');
    for (const { body } of others) {
      const hidden = { secret: { 'envvar:DB': null, 'envvar:PASS': null }, default_database: '', secrets_updated_at: changed };
      expect(body).toEqual({ ...whole?.body, ...hidden });
    }
    for (const role of roles) {
      const [listed] = (await as(role, 'GET', '/connections')).list;
      expect(listed).toEqual((await as(role, 'GET', '/connections/c')).body);
    }
    const [configuration] = (await as('auditor', 'GET', '/runbooks/configurations')).list;
    expect(configuration).toMatchObject({ git_password: null, ssh_key: '', git_user: 'u' });
    const one = await as('auditor', 'GET', `/runbooks/configurations/${idOf({ body: configuration ?? {} })}`);
    expect(one.body).toEqual(configuration);
  });

  test('a response to an auditor, sent back by an admin, changes no secret', async () => {
    const before = await as('admin', 'GET', '/connections/c');
    const seen = await as('auditor', 'GET', '/connections/c');
    expect((await as('admin', 'PUT', '/connections/c', seen.body)).status).toBe(200);
    const after = await as('admin', 'GET', '/connections/c');
    expect(after.body).toEqual({ ...before.body, revision: 2, updated_at: after.body['updated_at'] });
  });

  test('the body of a forbidden request is not read', async () => {
    const answer = await call('POST', '/connections', { key: keys.get('standard') ?? '', text: '{' });
    expect(answer.status).toBe(403);
  });
});
