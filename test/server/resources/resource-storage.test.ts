import { Client } from 'pg';
import { expect, test } from 'vitest';
import { createDatabase, startTestServer } from '../../support/servers.ts';
import { base64, callerOf } from '../client.ts';

test('the audit log contains every write of a resource and of an agent, without secrets', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  const call = callerOf(server);
  const body = { name: 'audited', type: 'custom', env_vars: { 'envvar:A': base64('canary') } };
  await call('POST', '/resources', { body });
  await call('PUT', '/resources/audited', { body: { ...body, subtype: 'ssh', env_vars: { 'envvar:A': base64('canary two') } } });
  await call('DELETE', '/resources/audited');
  await call('POST', '/agents', { body: { name: 'audited' } });
  const renewed = await call('POST', '/agents/audited/token');
  await call('POST', '/agents/heartbeat', { key: JSON.stringify(renewed.body['token']).slice(1, -1) });
  await call('DELETE', '/agents/audited');
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    'select resource_type, action, resource_name, http_status, changed, payload from audit_logs order by seq',
  );
  await client.end();
  expect(rows.map((row) => [row.resource_type, row.action, row.resource_name, row.http_status, row.changed])).toEqual([
    ['resources', 'create', 'audited', 201, []],
    ['resources', 'update', 'audited', 200, ['subtype', 'env_vars']],
    ['resources', 'delete', 'audited', 204, []],
    ['agents', 'create', 'audited', 201, []],
    ['agents_token', 'update', 'audited', 201, ['token']],
    ['agents', 'delete', 'audited', 204, []],
  ]);
  expect(rows[0].payload).toEqual({ name: 'audited', type: 'custom', subtype: '', agent_id: '', env_vars: '[REDACTED]' });
  expect(JSON.stringify(rows)).not.toMatch(new RegExp(`canary|${base64('canary')}|osa_`));
  await server.close();
  await drop();
});

test('the environment of a resource is encrypted again when the key changes', async () => {
  const { url, drop } = await createDatabase();
  const [before, after] = [base64('a'.repeat(32)), base64('b'.repeat(32))];
  const first = await startTestServer({ database: { url }, encryptionKey: before });
  const env = { 'envvar:A': base64('kept') };
  await callerOf(first)('POST', '/resources', { body: { name: 'kept', type: 'custom', env_vars: env } });
  await first.close();
  const second = await startTestServer({ database: { url }, encryptionKey: after, previousEncryptionKeys: before });
  while (!second.log.join('\n').includes('re-encrypted 1 secrets')) await new Promise((resolve) => setTimeout(resolve, 10));
  await second.close();
  const third = await startTestServer({ database: { url }, encryptionKey: after });
  expect((await callerOf(third)('GET', '/resources/kept')).body['env_vars']).toEqual(env);
  await third.close();
  await drop();
});
