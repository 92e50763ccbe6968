import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, list, masking, object, refusal, startGateway, unknownId, word, type Gateway } from './gateway.ts';

let gateway: Gateway;
let orders: string;

beforeEach(async () => {
  gateway = await startGateway({
    hidden: { guardrails: [{ name: 'rp_1__x', attributes: ['rp'] }], maskings: [{ name: 'rp_2__x' }], attributes: ['rp'] },
  });
  orders = word((await gateway.make('/connections', connection('orders')))['id']);
});

afterEach(() => gateway.close());

test('trap 9: null and [] mean the same, and each endpoint returns one of them', async () => {
  const rule = await gateway.make('/guardrails', { name: 'no-drop' });
  expect(rule).toMatchObject({ connection_ids: null, attributes: null, input: null, output: null });
  expect(await gateway.get(`/guardrails/${word(rule['id'])}`)).toMatchObject({ connection_ids: [], attributes: [] });
  expect(list((await gateway.send('GET', '/guardrails')).body)).toMatchObject([{ connection_ids: null, attributes: null }]);
  const mask = await gateway.make('/datamasking-rules', masking('mask', { connection_ids: [] }));
  expect(mask).toMatchObject({ connection_ids: [], attributes: null, custom_entity_types: [] });
  expect(await gateway.get(`/datamasking-rules/${word(mask['id'])}`)).toMatchObject({ connection_ids: null, attributes: [] });
  const custom = await gateway.make('/connections', connection('bash', { type: 'custom', subtype: '' }));
  expect(custom).toMatchObject({ command: null, force_approve_groups: null, mandatory_metadata_fields: [] });
});

test('trap 17: guardrail links have two writers, masking links only the rule', async () => {
  const rule = await gateway.make('/guardrails', { name: 'no-drop', connection_ids: [orders] });
  const mask = await gateway.make('/datamasking-rules', masking('mask', { connection_ids: [orders] }));
  await gateway.send('PUT', '/connections/orders', connection('orders'));
  expect(await gateway.get(`/guardrails/${word(rule['id'])}`)).toMatchObject({ connection_ids: [] });
  expect(await gateway.get(`/datamasking-rules/${word(mask['id'])}`)).toMatchObject({ connection_ids: [orders] });
  await gateway.send('PUT', '/connections/orders', connection('orders', { guardrail_rules: [rule['id'] ?? ''] }));
  await gateway.send('PUT', `/guardrails/${word(rule['id'])}`, { name: 'no-drop', connection_ids: [] });
  expect(await gateway.get('/connections/orders')).toMatchObject({ guardrail_rules: [] });
});

test('trap 18: an unknown connection is skipped by a guardrail, 400 to a new masking rule, 500 to an old one', async () => {
  expect(await gateway.make('/guardrails', { name: 'no-drop', connection_ids: [unknownId, orders, ''] })).toMatchObject({
    connection_ids: [orders],
  });
  expect(refusal(await gateway.send('POST', '/guardrails', { name: 'twice', connection_ids: [orders, orders] }))).toBe(
    '500 "Failed creating guard rail rule: duplicated key not allowed"',
  );
  expect(refusal(await gateway.send('POST', '/datamasking-rules', masking('mask', { connection_ids: [unknownId] })))).toBe(
    '400 "connection not found: a connection reference in the connection_ids field does not exist"',
  );
  const { id } = await gateway.make('/datamasking-rules', masking('mask'));
  expect((await gateway.send('PUT', `/datamasking-rules/${word(id)}`, masking('mask', { connection_ids: [unknownId] }))).status).toBe(500);
  expect((await gateway.send('PUT', '/connections/orders', connection('orders', { guardrail_rules: [unknownId] }))).status).toBe(500);
});

test('trap 19: the content of a guardrail is not checked', async () => {
  const input = { rules: [{ type: 'nonsense', pattern_regex: '(?!x', zeta: 1 }], anything: true };
  expect(await gateway.make('/guardrails', { name: 'odd', input })).toMatchObject({ input });
  expect(refusal(await gateway.send('POST', '/guardrails', { name: 'list', input: [] }))).toMatch(/^400 "json: cannot unmarshal array/);
});

test('trap 20: a masking rule is not renamed, and the attributes of another rule are overwritten', async () => {
  const first = await gateway.make('/datamasking-rules', masking('first', { attributes: ['pci'] }));
  const second = await gateway.make('/datamasking-rules', masking('second', { attributes: ['gdpr'] }));
  const path = `/datamasking-rules/${word(first['id'])}`;
  const answer = await gateway.send('PUT', path, masking('second', { attributes: ['sox'] }));
  expect(object(answer.body)).toMatchObject({ name: 'second', attributes: ['sox'] });
  expect(await gateway.get(path)).toMatchObject({ name: 'first', attributes: ['pci'] });
  expect(await gateway.get(`/datamasking-rules/${word(second['id'])}`)).toMatchObject({ name: 'second', attributes: ['sox'] });
  expect((await gateway.send('PUT', path, masking('missing', { attributes: ['sox'] }))).status).toBe(500);
});

test('trap 20: a guardrail is renamed, with its links', async () => {
  const { id } = await gateway.make('/guardrails', { name: 'before', attributes: ['pci'] });
  await gateway.make('/guardrails', { name: 'taken' });
  expect(refusal(await gateway.send('PUT', `/guardrails/${word(id)}`, { name: 'taken' }))).toContain(
    '500 "Failed updating guard rail rule: duplicated key',
  );
  await gateway.send('PUT', `/guardrails/${word(id)}`, { name: 'after', attributes: ['pci'] });
  expect(await gateway.get('/attributes/pci')).toMatchObject({ guardrail_rule_names: ['after'] });
});

test('trap 21: without a provider a masking write is refused before its body is read', async () => {
  const { id } = await gateway.make('/datamasking-rules', masking('mask'));
  gateway.model.settings.provider = null;
  const path = `/datamasking-rules/${word(id)}`;
  expect(refusal(await gateway.send('POST', '/datamasking-rules', undefined, { sent: '{nope' }))).toMatch(
    /^422 "no data masking provider is configured/,
  );
  expect((await gateway.send('PUT', path, undefined, { sent: '' })).status).toBe(422);
  expect((await gateway.send('GET', path)).status).toBe(200);
  expect((await gateway.send('DELETE', path)).status).toBe(204);
});

test('trap 22: the free license has one rule of each kind, and always applies to the organization’s key', async () => {
  gateway.model.settings.licence = 'oss';
  const post = async (path: string, body: Parameters<Gateway['send']>[2]): Promise<number> =>
    (await gateway.send('POST', path, body)).status;
  expect(await post('/guardrails', { name: 'two', input: { rules: [{}, {}] } })).toBe(403);
  expect(await post('/guardrails', { name: 'one' })).toBe(201);
  expect(await post('/guardrails', { name: 'two' })).toBe(403);
  expect(await post('/datamasking-rules', masking('mask', { supported_entity_types: [{ name: 'PII', entity_types: ['A', 'B'] }] }))).toBe(
    403,
  );
  expect(await post('/datamasking-rules', masking('mask'))).toBe(201);
  expect(await post('/datamasking-rules', masking('more'))).toBe(403);
  gateway.model.settings.licence = 'enterprise';
  expect(await post('/guardrails', { name: 'two' })).toBe(201);
  gateway.model.settings.apiKey = 'org|secret';
  const headers = { 'api-key': 'org|secret' };
  expect((await gateway.send('POST', '/guardrails', { name: 'three' }, { headers })).status).toBe(403);
  expect(await gateway.get('/serverinfo', { headers })).toMatchObject({ license_info: { type: 'oss' } });
});

test('trap 23: the masking rules of a connection cannot be cleared from its side', async () => {
  const { id } = await gateway.make('/datamasking-rules', masking('mask', { connection_ids: [orders] }));
  const path = '/connections/orders/datamasking-rules';
  expect(refusal(await gateway.send('PUT', path, []))).toBe(
    '500 "failed updating data masking rule connection: failed creating data masking rule connection: empty slice found"',
  );
  const answer = await gateway.send('PUT', path, [{ rule_id: id ?? '', status: 'inactive' }]);
  expect(answer.body).toMatchObject([{ rule_id: id, connection_id: orders, status: 'inactive' }]);
  expect(await gateway.get(`/datamasking-rules/${word(id)}`)).toMatchObject({ connection_ids: null });
  expect((await gateway.send('PUT', path, [{ rule_id: unknownId, status: 'active' }])).status).toBe(500);
  expect((await gateway.send('PUT', '/connections/missing/datamasking-rules', [])).status).toBe(404);
});

test('trap 32: an unknown and an existing attribute are a 500, and a rulepack’s is an empty 200', async () => {
  expect(refusal(await gateway.send('GET', '/attributes/none'))).toBe('500 "failed fetching attribute: record not found"');
  await gateway.make('/attributes', { name: 'pci' });
  expect(refusal(await gateway.send('POST', '/attributes', { name: 'pci' }))).toBe(
    '500 "failed creating attribute: duplicated key not allowed"',
  );
  expect((await gateway.send('POST', '/attributes', { name: 'x', connection_names: ['missing'] })).status).toBe(500);
  for (const method of ['PUT', 'DELETE']) {
    const answer = await gateway.send(method, '/attributes/rp', { name: 'other' });
    expect([answer.status, answer.body, answer.contentType]).toEqual([200, null, null]);
  }
  expect((await gateway.send('PUT', '/attributes/none', { name: 'none' })).status).toBe(404);
  expect(await gateway.get('/attributes')).toMatchObject({ pages: { total: 1 }, data: [{ name: 'pci' }] });
});

test('trap 32: an attribute’s PUT keeps omitted fields and renames', async () => {
  await gateway.make('/attributes', { name: 'pci', connection_names: ['orders'] });
  await gateway.send('PUT', '/attributes/pci', { name: 'sox' });
  expect(await gateway.get('/attributes/sox')).toMatchObject({ connection_names: ['orders'] });
  await gateway.send('PUT', '/attributes/sox', { name: 'sox', connection_names: [] });
  expect(await gateway.get('/connections/orders')).toMatchObject({ attributes: [] });
});

test('trap 37: attributes are written in a separate transaction that can fail', async () => {
  gateway.model.setFault(({ route }) => (route === 'POST /connections' ? { kind: 'attributes' } : undefined));
  const answer = await gateway.send('POST', '/connections', connection('ledger', { attributes: ['pci'] }));
  expect(refusal(answer)).toMatch(/^500 "failed upserting connection attributes: /);
  expect(await gateway.get('/connections/ledger')).toMatchObject({ name: 'ledger', attributes: [] });
  gateway.model.setFault(undefined);
  await gateway.make('/guardrails', { name: 'no-drop', attributes: ['pci'] });
  expect(await gateway.get('/attributes/pci')).toMatchObject({ guardrail_rule_names: ['no-drop'] });
  expect((await gateway.send('PUT', '/connections/orders', connection('orders', { attributes: ['x'.repeat(256)] }))).status).toBe(500);
});

test('trap 40: rules of a rulepack are hidden from lists and not written', async () => {
  const { store, settings } = gateway.model;
  const id = String(store.guardrailNamed('rp_1__x')?.id);
  expect((await gateway.send('GET', '/guardrails')).body).toEqual([]);
  expect((await gateway.send('GET', '/datamasking-rules')).body).toEqual([]);
  expect(await gateway.get(`/guardrails/${id}`)).toMatchObject({ name: 'rp_1__x', attributes: ['rp'] });
  expect(refusal(await gateway.send('PUT', `/guardrails/${id}`, { name: 'x' }))).toBe(
    '400 "this rule is owned by a rulepack and cannot be modified directly"',
  );
  expect(refusal(await gateway.send('DELETE', `/guardrails/${id}`))).toBe(
    '400 "this rule is owned by a rulepack and cannot be deleted directly"',
  );
  store.connectionAttributes.add('rp', 'orders');
  await gateway.send('PUT', '/connections/orders', connection('orders', { attributes: ['pci'] }));
  expect(store.connectionAttributes.leftsOf('orders').toSorted()).toEqual(['pci', 'rp']);
  expect(await gateway.get('/connections/orders')).toMatchObject({ attributes: ['pci'] });
  settings.rulepacks = false;
  expect((await gateway.send('DELETE', `/guardrails/${id}`)).status).toBe(204);
});
