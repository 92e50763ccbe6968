import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, list, object, refusal, startGateway, unknownId, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('trap 1: unknown fields are ignored and keys have no case', async () => {
  const made = await gateway.make('/connections', { ...connection('orders'), pasword: 'x', REVIEWERS: ['dba'] });
  expect(made).toMatchObject({ reviewers: ['dba'] });
  expect(Object.keys(made)).not.toContain('pasword');
});

test('trap 2: a bad type, access mode, agent or id is a 500 with the text of the database', async () => {
  const { send } = gateway;
  expect(refusal(await send('POST', '/connections', connection('bad', { type: 'x' })))).toContain(
    '500 "failed creating connection: failed upserting resource',
  );
  expect(refusal(await send('POST', '/connections', connection('bad', { access_schema: 'x' })))).toContain('private.enum_access_status');
  expect(refusal(await send('POST', '/connections', connection('bad', { agent_id: 'x' })))).toContain('invalid input syntax for type uuid');
  await gateway.make('/resources', { name: 'bad', type: 'database', env_vars: {} });
  expect(refusal(await send('POST', '/connections', connection('bad', { type: 'x' })))).toContain(
    'failed saving connections, reason=ERROR',
  );
  for (const path of ['/guardrails/x', '/datamasking-rules/x', '/runbooks/rules/x', '/reviews/x'])
    expect(refusal(await send('GET', path))).toContain('(SQLSTATE 22P02)');
});

test('trap 3: PUT resets every omitted field', async () => {
  const rule = await gateway.make('/guardrails', { name: 'no-drop' });
  const full = {
    resource_name: 'shared',
    secret: { 'envvar:A': 'YQ==' },
    guardrail_rules: [rule['id'] ?? ''],
    attributes: ['pci'],
    reviewers: ['dba'],
  };
  await gateway.make('/connections', connection('orders', full));
  await gateway.send('PUT', '/connections/orders', connection('orders'));
  expect(await gateway.get('/connections/orders')).toMatchObject({
    resource_name: 'orders',
    secret: {},
    guardrail_rules: [],
    attributes: [],
    reviewers: [],
  });
});

test('trap 4: the three access modes and the schema have no default', async () => {
  const { access_schema: _, access_mode_exec: __, ...body } = connection('orders');
  const answer = await gateway.send('POST', '/connections', body);
  expect(refusal(answer)).toBe(
    `400 ${JSON.stringify("Key: 'Connection.AccessModeExec' Error:Field validation for 'AccessModeExec' failed on the 'required' tag\nKey: 'Connection.AccessSchema' Error:Field validation for 'AccessSchema' failed on the 'required' tag")}`,
  );
});

test('trap 5: the name in the body of a PUT is required, checked and ignored', async () => {
  await gateway.make('/connections', connection('orders'));
  expect((await gateway.send('PUT', '/connections/orders', connection(''))).status).toBe(400);
  expect((await gateway.send('PUT', '/connections/orders', connection('a b'))).status).toBe(422);
  expect(object((await gateway.send('PUT', '/connections/orders', connection('other'))).body)['name']).toBe('orders');
});

test('trap 6: DELETE accepts only the name, managed or not, and leaves the resource', async () => {
  const { id } = await gateway.make('/connections', connection('orders', { secret: { 'envvar:A': 'YQ==' } }));
  const { store } = gateway.model;
  const row = store.connections.get('orders');
  if (row !== undefined) store.saveConnection({ ...row, managedBy: 'hoopagent' });
  expect((await gateway.send('DELETE', `/connections/${word(id)}`)).status).toBe(404);
  expect((await gateway.send('DELETE', '/connections/orders')).status).toBe(204);
  expect((await gateway.get('/resources/orders'))['name']).toBe('orders');
});

test('trap 7: a list omits fields of the detail', async () => {
  const hidden = { force_approve_groups: ['sre'], access_max_duration: 60, min_review_approvals: 1, mandatory_metadata_fields: ['ticket'] };
  await gateway.make('/connections', connection('orders', { ...hidden, secret: { 'envvar:DB': 'YQ==' } }));
  await gateway.send('PUT', '/orgs/protection-profile', { profile: 'protection-permissive' });
  const none = {
    secret: {},
    default_database: '',
    force_approve_groups: null,
    access_max_duration: null,
    min_review_approvals: null,
    attributes: [],
    effective_features: null,
  };
  const whole = object(list((await gateway.send('GET', '/connections')).body)[0]);
  expect(whole).toMatchObject({ ...none, mandatory_metadata_fields: null, managed_attributes: [expect.any(String)] });
  expect(whole).not.toHaveProperty('secrets_updated_at');
  const paged = await gateway.get('/connections?page=1');
  expect(list(paged['data'])[0]).toMatchObject({ ...none, mandatory_metadata_fields: ['ticket'] });
  expect(await gateway.get('/connections/orders')).toMatchObject({ ...hidden, default_database: 'a', attributes: [expect.any(String)] });
});

test('trap 8: the response to a write differs from a read', async () => {
  await gateway.make('/resources', { name: 'shared', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': 'aA==' } });
  const written = await gateway.make('/connections', connection('orders', { resource_name: 'shared', secret: { 'envvar:A': 'YQ==' } }));
  expect(written).toMatchObject({ attributes: null, effective_features: null, secret: { 'envvar:HOST': 'aA==', 'envvar:A': 'YQ==' } });
  expect(await gateway.get('/connections/orders')).toMatchObject({ attributes: [], secret: { 'envvar:A': 'YQ==' } });
});

test('trap 10: the command and the mssql secret are filled in by subtype', async () => {
  const made = await gateway.make('/connections', connection('orders', { subtype: 'mssql', command: [] }));
  expect(made).toMatchObject({ secret: { 'envvar:INSECURE': 'ZmFsc2U=' } });
  expect(list(made['command'])[0]).toBe('sqlcmd');
  const kept = await gateway.make(
    '/connections',
    connection('ledger', { subtype: 'mssql', command: ['x'], secret: { 'envvar:INSECURE': 'dHJ1ZQ==' } }),
  );
  expect(kept).toMatchObject({ command: ['x'], secret: { 'envvar:INSECURE': 'dHJ1ZQ==' } });
  expect(await gateway.make('/connections', connection('legacy', { type: 'mysql', subtype: '' }))).toMatchObject({
    command: expect.arrayContaining(['mysql']),
  });
});

test('trap 11: mongodb gets the command with the connection string unless that is empty', async () => {
  const filled = await gateway.make('/connections', connection('mongo', { subtype: 'mongodb', secret: { 'envvar:HOST': 'aA==' } }));
  expect(filled).toMatchObject({ command: ['mongo', '--quiet', '$CONNECTION_STRING'], secret: { 'envvar:HOST': 'aA==' } });
  const parts = await gateway.make('/connections', connection('parts', { subtype: 'mongodb', secret: { 'envvar:CONNECTION_STRING': '' } }));
  expect(parts['secret']).toEqual({ 'envvar:CONNECTION_STRING': '', 'envvar:OPTIONS': 'dGxzPXRydWU=', 'envvar:PORT': 'MjcwMTc=' });
});

test('trap 12: secret values become texts as Go prints them', async () => {
  const secret = { a: null, b: true, c: 1_000_000, d: 12.5, e: 123_456_789, f: 0.000_01, g: [1, 'x'], h: { k: 'v' }, i: 'not base64!' };
  const made = await gateway.make('/connections', connection('orders', { secret }));
  expect(made['secret']).toEqual({
    a: '<nil>',
    b: 'true',
    c: '1e+06',
    d: '12.5',
    e: '1.23456789e+08',
    f: '1e-05',
    g: '[1 x]',
    h: 'map[k:v]',
    i: 'not base64!',
  });
});

test('trap 15: a tag value has no dot, a connection at most ten tags, a key at most 64 letters', async () => {
  const send = async (tags: Record<string, string>): Promise<string> =>
    refusal(await gateway.send('POST', '/connections', connection('orders', { connection_tags: tags })));
  expect(await send({ version: '1.2' })).toMatch(/^422 "connection_tags \(version\), values/);
  expect(await send({ ['k'.repeat(65)]: 'v' })).toMatch(/^422 "connection_tags \(k+\), keys/);
  expect(await send({ 'a/': 'v' })).toMatch(/^422 "connection_tags \(a\/\), keys/);
  expect(await send(Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'v'])))).toBe(
    '422 "max tag association reached (10)"',
  );
  await gateway.make('/connections', connection('orders', { connection_tags: { 'a.b/c-d': 'x y_z+@:/=' } }));
});

test('trap 16: an agent need not exist, and its id follows from its name', async () => {
  await gateway.make('/connections', connection('orders', { agent_id: unknownId }));
  const before = await gateway.get('/agents/prod-agent');
  await gateway.make('/connections', connection('ledger', { agent_id: before['id'] ?? '' }));
  expect((await gateway.send('DELETE', '/agents/prod-agent')).status).toBe(204);
  expect((await gateway.send('DELETE', '/agents/prod-agent')).status).toBe(204);
  expect((await gateway.get('/connections/ledger'))['agent_id']).toBe(before['id']);
  expect(Object.keys(await gateway.make('/agents', { name: 'prod-agent' }))).toEqual(['token']);
  expect((await gateway.get('/agents/prod-agent'))['id']).toBe(before['id']);
  expect(refusal(await gateway.send('POST', '/agents', { name: 'x-y' }))).toContain('422 "name: it must contain');
  expect(refusal(await gateway.send('POST', '/agents', { name: 'other', mode: 'x' }))).toBe(String.raw`422 "unknown agent mode \"x\""`);
});

test('trap 38: names have three word characters at least, and 128 in practice', async () => {
  expect(await post('a-b')).toBe(422);
  expect(await post('ab-c')).toBe(201);
  expect(await post('a--bc')).toBe(422);
  expect(await post('a'.repeat(128))).toBe(201);
  expect(await post('b'.repeat(129))).toBe(500);
  expect(await post('b'.repeat(129), { resource_name: 'short' })).toBe(201);
  expect(await post('-'.repeat(5000))).toBe(422);
});

test('trap 39: PATCH makes the env_vars of the resource the own secrets of the connection', async () => {
  await gateway.make('/resources', { name: 'shared', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': 'aA==' } });
  await gateway.make('/connections', connection('orders', { resource_name: 'shared', reviewers: ['dba'] }));
  expect((await gateway.get('/connections/orders'))['secret']).toEqual({});
  const patched = object((await gateway.send('PATCH', '/connections/orders', { access_mode_exec: 'disabled' })).body);
  expect(patched).toMatchObject({ reviewers: ['dba'], access_mode_exec: 'disabled', attributes: [] });
  expect((await gateway.get('/connections/orders'))['secret']).toEqual({ 'envvar:HOST': 'aA==' });
  expect(object((await gateway.send('PATCH', '/connections/orders', { reviewers: [] })).body)['reviewers']).toEqual([]);
});

test('trap 40: objects that an agent manages are not written, and no client can set managed_by', async () => {
  const made = await gateway.make('/connections', connection('orders', { managed_by: 'me' }));
  expect(made['managed_by']).toBeNull();
  const { store } = gateway.model;
  const row = store.connections.get('orders');
  if (row !== undefined) store.saveConnection({ ...row, managedBy: 'hoopagent' });
  for (const method of ['PUT', 'PATCH'])
    expect(refusal(await gateway.send(method, '/connections/orders', connection('orders')))).toBe(
      '400 "unable to update a connection managed by its agent"',
    );
  expect((await gateway.get('/connections/orders'))['managed_by']).toBe('hoopagent');
});

async function post(name: string, extra = {}): Promise<number> {
  return (await gateway.send('POST', '/connections', connection(name, extra))).status;
}
