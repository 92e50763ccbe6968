import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, list, object, refusal, startGateway, unknownId, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('trap 13: an admin reads secrets in clear, and hiding them reaches signed-in users only', async () => {
  await gateway.make('/connections', connection('orders', { secret: { a: 'YQ==', ref: 'X3ZhdWx0a3YyOnBhdGg6a2V5' } }));
  await gateway.send('PUT', '/orgs/hide-role-info', { hide_role_info: true });
  const secret = async (token: string): Promise<unknown> => (await gateway.get('/connections/orders', { token }))['secret'];
  expect(await secret('hpk_admin')).toEqual({ a: 'YQ==', ref: 'X3ZhdWx0a3YyOnBhdGg6a2V5' });
  expect(await secret('jwt-of-ada')).toEqual({ a: null, ref: 'X3ZhdWx0a3YyOnBhdGg6a2V5' });
  expect(await secret('hpk_auditor')).toEqual({});
  gateway.model.settings.apiKey = 'org|secret';
  expect(await gateway.get('/connections/orders', { token: undefined, headers: { 'api-key': 'org|secret' } })).toMatchObject({
    secret: { a: 'YQ==' },
  });
});

test('trap 14: under hidden secrets null keeps, the empty text overwrites, an absent key is dropped', async () => {
  await gateway.make('/connections', connection('orders', { secret: { a: 'YQ==', b: 'Yg==', c: 'Yw==' } }));
  gateway.model.settings.hideRoleInfo = true;
  const body = connection('orders', { secret: { a: null, b: '', d: null } });
  await gateway.send('PUT', '/connections/orders', body, { token: 'jwt-of-ada' });
  expect((await gateway.get('/connections/orders'))['secret']).toEqual({ a: 'YQ==', b: '', d: '' });
  const made = await gateway.send('POST', '/connections', connection('ledger', { secret: { a: null } }), { token: 'jwt-of-ada' });
  expect(object(made.body)['secret']).toEqual({ a: null });
  expect((await gateway.get('/connections/ledger'))['secret']).toEqual({ a: '<nil>' });
});

test('trap 28: resources are cut at fifty, an empty page is null, and past the end the total is 0', async () => {
  expect((await gateway.send('GET', '/resources')).body).toEqual([]);
  expect(await gateway.get('/resources?page=1')).toEqual({ pages: { total: 0, page: 1, size: 50 }, data: null });
  for (let index = 0; index < 60; index += 1) await gateway.make('/connections', connection(`conn${index}`));
  expect(list((await gateway.send('GET', '/resources')).body)).toHaveLength(50);
  expect(list((await gateway.send('GET', '/connections')).body)).toHaveLength(60);
  expect(await gateway.get('/resources?page=2')).toMatchObject({ pages: { total: 60 } });
  expect(await gateway.get('/resources?page=3')).toEqual({ pages: { total: 0, page: 3, size: 50 }, data: null });
  expect(await gateway.get('/connections?page=3')).toEqual({ pages: { total: 0, page: 3, size: 50 }, data: [] });
});

test('trap 29: in filters an underscore is a wildcard', async () => {
  for (const name of ['a_b_c', 'axbxc']) await gateway.make('/connections', connection(name, { subtype: name }));
  expect(list((await gateway.send('GET', '/connections?name=a_b_c')).body)).toHaveLength(2);
  expect(list((await gateway.send('GET', '/connections?subtype=a_b_c')).body)).toHaveLength(2);
  expect(list((await gateway.send('GET', '/connections?search=XBX')).body)).toHaveLength(1);
  expect((await gateway.send('GET', '/connections?type=')).status).toBe(422);
  expect((await gateway.send('GET', '/connections?tag_selector=nonsense')).status).toBe(500);
  expect(refusal(await gateway.send('GET', '/connections?connection_ids=x'))).toBe('422 "invalid connection ID format: x"');
});

test('trap 31: reviews answer 500 instead of 404, and count approvals exactly', async () => {
  await gateway.make('/connections', connection('orders', { min_review_approvals: 1, reviewers: ['a', 'b'] }));
  const { openReview, store } = gateway.model;
  await gateway.make('/api-keys', { name: 'both', groups: ['a', 'b'] });
  const token = store.identities.at(-1)?.token;
  const put = (id: string, body: Parameters<Gateway['send']>[2], by = token): ReturnType<Gateway['send']> =>
    gateway.send('PUT', `/reviews/${id}`, body, { token: by });
  expect(refusal(await put(unknownId, { status: 'APPROVED' }))).toBe('500 "failed updating review status: review not found"');
  const review = openReview({ connection: 'orders', groups: ['a', 'b'] });
  const answer = object((await put(review.id, { status: 'approved' })).body);
  expect(answer).toMatchObject({ status: 'PENDING', access_duration: 1_800_000_000_000, revoke_at: null });
  const once = openReview({ connection: 'orders', groups: ['a'], type: 'onetime' });
  expect(object((await put(once.session, { status: 'APPROVED' })).body)['status']).toBe('APPROVED');
  expect((await put(once.id, { status: 'REVOKED' })).status).toBe(500);
  const other = openReview({ connection: 'orders', groups: ['c'] });
  expect(object((await put(other.id, { status: 'APPROVED' }, 'hpk_admin')).body)['status']).toBe('PENDING');
  expect((await put(other.id, { status: 'APPROVED' }, 'hpk_auditor')).status).toBe(403);
  expect(object((await put(other.id, { status: 'REJECTED' }, 'hpk_admin')).body)).toMatchObject({
    status: 'REJECTED',
    review_groups_data: [{}, { group: 'admin' }],
  });
  const own = openReview({ connection: 'orders', groups: ['a'], ownerId: String(store.identities.at(-1)?.id) });
  expect(refusal(await put(own.id, { status: 'APPROVED' }))).toBe('400 "unable to self approve review"');
  await gateway.send('DELETE', '/connections/orders');
  expect(refusal(await put(own.id, { status: 'REJECTED' }))).toContain('failed fetching connection for review, err=<nil>');
});

test('trap 34: lists have the order of names, backwards for guardrails, or none', async () => {
  for (const name of ['bbb', 'aaa', 'ccc']) {
    await gateway.make('/connections', connection(name, { attributes: [name] }));
    await gateway.make('/guardrails', { name });
  }
  expect(await names('/connections')).toEqual(['aaa', 'bbb', 'ccc']);
  expect(await names('/resources')).toEqual(['aaa', 'bbb', 'ccc']);
  expect(await names('/attributes')).toEqual(['aaa', 'bbb', 'ccc']);
  expect(await names('/guardrails')).toEqual(['ccc', 'bbb', 'aaa']);
});

test('trap 35: tags are at /connection-tags', async () => {
  expect((await gateway.send('GET', '/connection-tags')).status).toBe(200);
  expect((await gateway.send('GET', '/connections-tags')).status).toBe(404);
});

test('trap 36: an unknown route or method gives plain text, and a panic an empty 500', async () => {
  for (const [method, path] of [
    ['GET', '/nope'],
    ['PUT', '/agents'],
    ['POST', '/connections/x'],
    ['GET', '/connections/a%2Fb'],
  ] as const) {
    const answer = await gateway.send(method, path, undefined, { token: undefined });
    expect([answer.status, answer.contentType, answer.body]).toEqual([404, 'text/plain', '404 page not found']);
  }
  const role = { name: 'orders', type: 'database', subtype: 'mssql' };
  const panic = await gateway.send('POST', '/resources', { name: 'res', type: 'database', env_vars: {}, roles: [role] });
  expect([panic.status, panic.body]).toEqual([500, null]);
});

test('an extra slash is redirected, HEAD uses the routes of GET, OPTIONS is empty', async () => {
  const get = await gateway.send('GET', '/connections/?page=1');
  expect([get.status, get.headers.get('location')]).toEqual([301, '/api/connections?page=1']);
  expect((await gateway.send('POST', '/connections/', {})).status).toBe(307);
  const head = await gateway.send('HEAD', '/connections');
  expect([head.status, head.body]).toEqual([200, null]);
  expect((await gateway.send('OPTIONS', '/nope')).status).toBe(204);
});

test('bodies are read as Go reads them', async () => {
  const sent = async (text: string): Promise<string> => refusal(await gateway.send('POST', '/guardrails', undefined, { sent: text }));
  expect(await sent('')).toBe('400 "EOF"');
  expect(await sent('{"name":')).toBe('400 "unexpected EOF"');
  expect(await sent('nope')).toContain('invalid character');
  expect(await sent('{"name": 1}')).toBe(
    '400 "json: cannot unmarshal number into Go struct field GuardRailRuleRequest.name of type string"',
  );
  expect(await sent('{"name": "one", "NAME": "two"} and more')).toMatch(/^201 /);
  expect(list((await gateway.send('GET', '/guardrails')).body)).toMatchObject([{ name: 'two' }]);
});

async function names(path: string): Promise<unknown> {
  const { body } = await gateway.send('GET', path);
  return list(Array.isArray(body) ? body : object(body)['data']).map((item) => object(item)['name']);
}
