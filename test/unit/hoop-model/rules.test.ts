import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, masking, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway({
    hidden: { guardrails: [{ name: 'rp_1__x', attributes: ['rp'] }], maskings: [{ name: 'rp_2__x' }], attributes: ['rp'] },
  });
  await gateway.make('/connections', connection('orders'));
});

afterEach(() => gateway.close());

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
