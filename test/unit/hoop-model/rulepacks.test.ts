import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../support/hoop/json.ts';
import { connection, list, masking, object, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway({ rulepacks: 'default' });
  for (const name of ['orders', 'ledger']) await gateway.make('/connections', connection(name));
});
afterEach(() => gateway.close());

const deny = { name: 'deny', input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] } };
const mine = { display_name: 'Mine, too', description: 'd', guardrail_rules: [deny], data_masking_rules: [masking('mask')] };

async function apply(id: Json | undefined, names: readonly string[], token = 'hpk_admin'): Promise<string> {
  return refusal(await gateway.send('POST', `/rulepacks/${word(id)}/apply`, { connection_names: names }, { token }));
}

const featuresOf = async (name: string): Promise<JsonObject> => object((await gateway.get(`/connections/${name}`))['effective_features']);

test('a rulepack protects the connections that it is applied to, and lists hide its rules', async () => {
  const { id } = await gateway.make('/rulepacks', mine);
  expect(await apply(id, ['orders', 'ledger'])).toContain('204');
  expect((await gateway.get(`/rulepacks/${word(id)}`))['connection_names']).toEqual(['ledger', 'orders']);
  expect(await apply(id, ['orders'])).toContain('204');
  expect(await featuresOf('orders')).toMatchObject({ guardrails: true });
  expect(await featuresOf('ledger')).toMatchObject({ guardrails: false });
  expect(await gateway.get('/connections/orders')).toMatchObject({ guardrail_rules: [], attributes: [] });
  await gateway.send('PUT', '/connections/orders', connection('orders'));
  expect(await featuresOf('orders')).toMatchObject({ guardrails: true });
  for (const path of ['/guardrails', '/datamasking-rules']) expect((await gateway.send('GET', path)).body).toEqual([]);
  expect(list((await gateway.get('/attributes'))['data'])).toEqual([]);
  const own = await gateway.send('DELETE', '/attributes/rulepack_mine_too');
  expect([own.status, own.body]).toEqual([200, null]);
});

test('a replaced rulepack has rules with new ids, and stays on its connections under another name', async () => {
  const { id, guardrail_rules: before } = await gateway.make('/rulepacks', mine);
  await apply(id, ['orders']);
  const path = `/rulepacks/${word(id)}`;
  const answer = object((await gateway.send('PUT', path, { display_name: 'Other', guardrail_rules: [deny] })).body);
  expect(answer).toMatchObject({
    display_name: 'Other',
    connection_names: ['orders'],
    data_masking_rules: [],
    guardrail_rules: [{ name: 'deny' }],
  });
  expect(object(list(answer['guardrail_rules'])[0])['id']).not.toBe(object(list(before)[0])['id']);
  await gateway.send('DELETE', '/connections/orders');
  expect((await gateway.get(path))['connection_names']).toEqual([]);
  expect((await gateway.send('DELETE', path)).status).toBe(204);
  expect(gateway.model.store.attributes.has('rulepack_other')).toBe(false);
  expect([...gateway.model.store.guardrails.values()].filter(({ name }) => name.endsWith('__deny'))).toEqual([]);
});

test('a deleted rulepack takes every rule with its attribute along', async () => {
  const { id } = await gateway.make('/rulepacks', mine);
  const attributes = ['rulepack_mine_too'];
  await gateway.make('/guardrails', { name: 'own', attributes });
  const rule = { name: 'ask', access_type: 'jit', connection_names: [], approval_required_groups: [], reviewers_groups: ['dba'] };
  await gateway.make('/access-requests/rules', { ...rule, force_approval_groups: [], min_approvals: 1, attributes });
  expect((await gateway.send('DELETE', `/rulepacks/${word(id)}`)).status).toBe(204);
  expect((await gateway.send('GET', '/guardrails')).body).toEqual([]);
  expect((await gateway.get('/access-requests/rules'))['data']).toEqual([]);
});
