import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, list, object, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('a resource is created with its roles, and cannot be deleted while it has connections', async () => {
  const roles = [{ name: 'orders-rw', type: 'database', subtype: 'postgres', secret: { 'envvar:USER': 'dQ==' }, attributes: ['pci'] }];
  await gateway.make('/resources', { name: 'orders', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': 'aA==' }, roles });
  expect(await gateway.get('/connections/orders-rw')).toMatchObject({
    resource_name: 'orders',
    agent_id: '',
    attributes: ['pci'],
    access_schema: 'enabled',
  });
  expect(refusal(await gateway.send('POST', '/resources', { name: 'orders', type: 'database', env_vars: {} }))).toBe(
    '409 "resource name already exists"',
  );
  expect(refusal(await gateway.send('POST', '/resources', { name: 'more', type: 'database', env_vars: {}, roles }))).toBe(
    '409 "connection with the same name, orders-rw"',
  );
  expect((await gateway.send('DELETE', '/resources/orders')).status).toBe(403);
  expect((await gateway.send('PUT', '/resources/orders', { name: 'orders', type: 'custom', env_vars: {} })).status).toBe(403);
  await gateway.send('PUT', '/resources/orders', { name: 'renamed', type: 'database', subtype: 'postgres', env_vars: {} });
  expect(await gateway.get('/connections/orders-rw')).toMatchObject({ resource_name: 'renamed' });
  await gateway.send('DELETE', '/connections/orders-rw');
  expect((await gateway.send('DELETE', '/resources/renamed')).status).toBe(204);
});

test('the two bulk reads have every field of the detail except secrets', async () => {
  const rule = await gateway.make('/guardrails', { name: 'no-drop' });
  const bodies = [
    connection('plain'),
    connection('rich', {
      secret: { 'envvar:DB': 'YQ==' },
      reviewers: ['b', 'a'],
      redact_types: ['URL'],
      connection_tags: { env: 'prod' },
      tags: ['legacy'],
      guardrail_rules: [rule['id'] ?? ''],
      force_approve_groups: ['sre'],
      access_max_duration: 60,
      min_review_approvals: 1,
      mandatory_metadata_fields: ['ticket'],
      attributes: ['pci', 'sox'],
      resource_name: 'shared',
    }),
  ];
  for (const body of bodies) await gateway.make('/connections', body);
  const listed = list((await gateway.send('GET', '/connections')).body).map(object);
  const resources = list((await gateway.get('/resources?page=1&page_size=100'))['data']).map(object);
  const roles = resources.flatMap((resource) => list(resource['roles']).map(object));
  for (const row of listed) {
    const detail = await gateway.get(`/connections/${word(row['name'])}`);
    const role = roles.find((other) => other['id'] === row['id']) ?? {};
    const joined = { ...row };
    for (const key of ['force_approve_groups', 'access_max_duration', 'min_review_approvals', 'secrets_updated_at'])
      if (key in role) Object.assign(joined, { [key]: role[key] });
    Object.assign(joined, { mandatory_metadata_fields: role['mandatory_metadata_fields'] ?? [] });
    const { secret: _, default_database: __, effective_features: ___, attributes, ...wanted } = detail;
    expect(joined).toMatchObject(wanted);
    expect(new Set(list(joined['attributes']))).toEqual(new Set(list(attributes)));
  }
});

test('secrets_updated_at changes only with the stored secrets, and always on a resource with env_vars', async () => {
  const moment = async (name: string): Promise<unknown> => (await gateway.get(`/connections/${name}`))['secrets_updated_at'];
  const body = connection('orders', { secret: { a: 'YQ==' } });
  await gateway.make('/connections', body);
  const first = await moment('orders');
  await gateway.send('PUT', '/connections/orders', { ...body, reviewers: ['dba'] });
  expect(await moment('orders')).toBe(first);
  await gateway.send('PUT', '/connections/orders', { ...body, secret: { a: 'Yg==' } });
  expect(await moment('orders')).not.toBe(first);
  await gateway.make('/resources', { name: 'shared', type: 'database', subtype: 'postgres', env_vars: { host: 'aA==' } });
  const shared = connection('ledger', { secret: { a: 'YQ==' }, resource_name: 'shared' });
  await gateway.make('/connections', shared);
  const before = await moment('ledger');
  await gateway.send('PUT', '/connections/ledger', shared);
  expect(await moment('ledger')).not.toBe(before);
});

test('a standard key sees what access control permits, an auditor sees no secrets, and neither can write', async () => {
  const one = await gateway.make('/connections', connection('orders'));
  await gateway.make('/connections', connection('ledger'));
  const names = async (token: string): Promise<readonly unknown[]> =>
    list((await gateway.send('GET', '/connections', undefined, { token })).body).map((row) => object(row)['name']);
  expect(await names('hpk_standard')).toEqual(['ledger', 'orders']);
  await gateway.make('/plugins', { name: 'access_control', connections: [{ id: one['id'] ?? '', config: ['developers'] }] });
  expect(await names('hpk_standard')).toEqual(['orders']);
  expect(await names('hpk_auditor')).toEqual(['ledger', 'orders']);
  expect((await gateway.send('GET', '/connections/ledger', undefined, { token: 'hpk_standard' })).status).toBe(404);
  for (const token of ['hpk_standard', 'hpk_auditor'])
    expect((await gateway.send('DELETE', '/connections/orders', undefined, { token })).status).toBe(403);
  const noBearer = await gateway.send('GET', '/connections', undefined, {
    token: undefined,
    headers: { authorization: 'bearer hpk_admin' },
  });
  expect(noBearer.status).toBe(401);
  expect(refusal(await gateway.send('GET', '/connections', undefined, { headers: { 'api-key': 'x' } }))).toBe('401 "access denied"');
  gateway.model.settings.apiKey = 'org|key';
  expect(refusal(await gateway.send('GET', '/connections', undefined, { headers: { 'api-key': 'x' } }))).toBe('401 "unauthorize"');
});
