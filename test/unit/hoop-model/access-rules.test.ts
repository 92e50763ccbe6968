import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../support/hoop/json.ts';
import { connection, refusal, startGateway, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.close());

const rules = '/access-requests/rules';
const overlap = 'an access request rule with the same connection names and access type already exists';

function rule(name: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    access_type: 'jit',
    connection_names: [],
    attributes: null,
    approval_required_groups: [],
    reviewers_groups: ['dba'],
    force_approval_groups: [],
    min_approvals: 1,
    ...more,
  };
}

const post = async (body: JsonObject): Promise<string> => refusal(await gateway.send('POST', rules, body));
const put = async (name: string, body: JsonObject): Promise<string> => refusal(await gateway.send('PUT', `${rules}/${name}`, body));

/** Gives rules ids in this order, from the lowest. */
function orderIds(names: readonly string[]): void {
  const { accessRules } = gateway.model.store;
  for (const [index, name] of names.entries()) {
    const row = accessRules.get(name);
    if (row !== undefined) accessRules.set(name, { ...row, id: `0000000${index}${row.id.slice(8)}` });
  }
}

async function jitSeconds(name: string): Promise<unknown> {
  return (await gateway.get(`/connections/${name}`))['jit_access_duration_sec'];
}

test('steps overlap: a rule for both refuses one for either, and the other way round', async () => {
  await gateway.make(rules, rule('both', { access_type: 'jit_command', connection_names: ['orders', 'ledger'] }));
  for (const type of ['jit', 'command', 'jit_command'])
    expect(await post(rule('late', { access_type: type, connection_names: ['stock', 'ledger'] }))).toBe(
      `422 "${overlap}, conflicting connection: ledger"`,
    );
  await gateway.make(rules, rule('jit', { connection_names: ['stock'] }));
  await gateway.make(rules, rule('command', { access_type: 'command', connection_names: ['stock'] }));
  expect(await put('both', rule('both', { access_type: 'jit_command', connection_names: ['stock'] }))).toBe(`422 "${overlap}"`);
});

test('a PUT with the lowest id of those that overlap is not refused', async () => {
  await gateway.make(rules, rule('low', { connection_names: ['orders'] }));
  await gateway.make(rules, rule('high', { connection_names: ['ledger'] }));
  orderIds(['low', 'high']);
  expect(await put('high', rule('high', { connection_names: ['ledger', 'orders'] }))).toBe(`422 "${overlap}"`);
  expect(await put('low', rule('low', { connection_names: ['ledger', 'orders'] }))).toContain('200');
});

test('rules by the same attribute overlap; two attributes of one connection do not', async () => {
  await gateway.make('/connections', connection('orders', { attributes: ['pii', 'prod'] }));
  await gateway.make(rules, rule('by-pii', { attributes: ['pii'], access_max_duration: 100 }));
  expect(await post(rule('late', { attributes: ['pii'], access_type: 'jit_command' }))).toBe(
    '422 "an access request rule with the same attributes and access type already exists"',
  );
  await gateway.make(rules, rule('by-prod', { attributes: ['prod'], access_max_duration: 200 }));
  await gateway.make(rules, rule('by-name', { connection_names: ['orders'], access_max_duration: 300 }));
  orderIds(['by-name', 'by-prod', 'by-pii']);
  expect(await jitSeconds('orders')).toBe(200);
  await gateway.send('PUT', '/connections/orders', connection('orders'));
  expect(await jitSeconds('orders')).toBe(300);
});

test('the gateway keeps everything of its own rules but who approves', async () => {
  await gateway.send('PUT', '/orgs/protection-profile', { profile: 'protection-high' });
  const path = 'Hoop-JIT_4_hours';
  const body = rule(path, { access_max_duration: 14_400, reviewers_groups: ['sre'], approval_required_groups: ['devs'] });
  const fixed = '400 "this rule is managed by Hoop; only approval settings and group lists can be changed"';
  for (const more of [
    { name: 'other' },
    { access_type: 'command' },
    { access_max_duration: 60 },
    { connection_names: ['orders'] },
    { attributes: [] },
  ])
    expect(await put(path, { ...body, ...more })).toBe(fixed);
  expect(await put(path, { ...body, reviewers_groups: [] })).toContain('422');
  expect(await put(path, body)).toContain('200');
  expect(await gateway.get(`${rules}/${path}`)).toMatchObject({
    reviewers_groups: ['sre'],
    access_max_duration: 14_400,
    managed_by: 'hoop',
  });
  expect(refusal(await gateway.send('DELETE', `${rules}/${path}`))).toContain('400');
});
