import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, refusal, startGateway, word, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('trap 6: DELETE accepts only the name, managed or not, and leaves the resource', async () => {
  const { id } = await gateway.make('/connections', connection('orders', { secret: { 'envvar:A': 'YQ==' } }));
  const { store } = gateway.model;
  const row = store.connections.get('orders');
  if (row !== undefined) store.saveConnection({ ...row, managedBy: 'hoopagent' });
  expect((await gateway.send('DELETE', `/connections/${word(id)}`)).status).toBe(404);
  expect((await gateway.send('DELETE', '/connections/orders')).status).toBe(204);
  expect((await gateway.get('/resources/orders'))['name']).toBe('orders');
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
