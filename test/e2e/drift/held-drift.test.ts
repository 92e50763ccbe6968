import { expect, test } from 'vitest';
import { agentId, idOf } from '../../server/client.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail } from '../project.ts';

const gateway = useGateway();
const { make } = useRepositories();

const words = ['xp_cmdshell'];

test('a stricter live value is held, also through a rename, until a user reverts it', async () => {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/orders.yaml': connection('orders-db', { reviewers: ['dba'], secret: { 'envvar:HOST': { value: '10.0.0.5' } } }),
    'access/no-drop.yaml': guardrail('no-drop', words, { connection_ids: ['orders-db'] }),
  });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('git/applied-recorded') });

  const found = await gateway.call('GET', '/connections/orders-db');
  const tightened = { ...found.body, reviewers: ['dba', 'night-shift'], access_max_duration: 600 };
  expect((await gateway.call('PUT', `/connections/${idOf(found)}`, { body: tightened })).status).toBe(200);
  const held = await run('plan');
  expect(held).toMatchObject({ code: 0, stdout: expect.stringContaining(': 1 held: Connection/orders-db.') });
  expect((await run('apply --yes')).stdout).toContain('1 held');
  expect((await gateway.call('GET', '/connections/orders-db')).body).toMatchObject({ reviewers: ['dba', 'night-shift'] });

  const secret = { 'envvar:HOST': { keep: true } };
  repository.remove('access/orders.yaml', 'access/no-drop.yaml');
  repository.save({
    'access/shop.yaml': connection('shop-db', { reviewers: ['dba'], secret }, { replaces: 'orders-db' }),
    'access/no-destruction.yaml': guardrail('no-destruction', words, { connection_ids: ['shop-db'] }, { renamedFrom: 'no-drop' }),
  });
  const { code, stdout } = await gateway.run('apply --yes --prune', repository.folder, gitEnv);
  expect({ code, last: /^Apply to .*/m.exec(stdout)?.[0] }).toEqual({ code: 0, last: 'Apply to production: 1 renamed, 1 replaced.' });
  expect(await gateway.names('/connections')).toEqual(['shop-db']);
  expect(await gateway.names('/guardrails')).toEqual(['no-destruction']);
  const taken = (await gateway.call('GET', '/connections/shop-db')).body;
  expect(taken).toMatchObject({
    agent_id: await agentId(gateway.call),
    reviewers: ['dba', 'night-shift'],
    access_max_duration: 600,
    secret: { 'envvar:HOST': Buffer.from('10.0.0.5').toString('base64') },
    guardrail_rules: [expect.any(String)],
  });

  expect((await run('apply --yes --revert Connection/shop-db')).stdout).toContain(': 1 updated.');
  expect((await run('plan')).stdout).toContain('No changes.');
});
