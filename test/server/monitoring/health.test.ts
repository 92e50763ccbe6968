import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, startTestServer } from '../../support/servers.ts';
import { openDatabases, type OpenedServer } from '../open-databases.ts';
import { callerOf, type CallServer } from '../client.ts';

const readyOf = (call: CallServer) => async (): Promise<readonly unknown[]> => {
  const { status, body } = await call('GET', '/readyz', { key: null });
  return [status, body['message'] ?? ''];
};

describe.each(openDatabases)('readiness on %s', (_name, start) => {
  let place: OpenedServer;
  let call: CallServer;
  let ready: () => Promise<readonly unknown[]>;
  beforeAll(async () => {
    place = await start();
    call = callerOf(place.server);
    ready = readyOf(call);
  });
  afterAll(() => place.close());

  test('a check leaves nothing in the audit log, and hides no later entry', async () => {
    for (let checks = 0; checks < 3; checks += 1) expect(await ready()).toEqual([200, '']);
    expect((await call('POST', '/guardrails', { body: { name: 'first' } })).status).toBe(201);
    expect((await call('GET', '/audit/logs')).body['pages']).toMatchObject({ total: 1 });
  });

  test('it is 503 while the audit log refuses entries, although reads succeed', async () => {
    await place.run('alter table audit_logs add constraint none check (false) not valid');
    await expect.poll(ready).toEqual([503, 'writes fail: the database refuses them or does not respond']);
    expect((await call('GET', '/guardrails')).status).toBe(200);
    expect((await call('POST', '/guardrails', { body: { name: 'refused' } })).status).toBe(500);
    expect((await call('GET', '/healthz', { key: null })).status).toBe(200);
    expect(place.server.log.join('\n')).toMatch(/^not ready: .*"none"/m);
    await place.run('alter table audit_logs drop constraint none');
    expect(await ready()).toEqual([200, '']);
  });

  test('it is 503 once the encryption key of the server is retired', async () => {
    await place.run('create table kept as select * from encryption_keys; delete from encryption_keys');
    await expect.poll(ready).toEqual([503, 'writes fail: the encryption key of this server is retired']);
    await place.run('insert into encryption_keys select * from kept; drop table kept');
    expect(await ready()).toEqual([200, '']);
  });
});

test('it is 503 while a write was refused for the database, until one succeeds', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url }, timeouts: { statement: 2000 } });
  const [call, other] = [callerOf(server), new Client({ connectionString: url })];
  const ready = readyOf(call);
  await other.connect();
  await other.query('begin; lock table guardrails in exclusive mode');
  expect((await call('POST', '/guardrails', { body: { name: 'a' } })).status).toBe(503);
  expect(await ready()).toEqual([503, 'writes fail: the database is busy']);
  await other.query('rollback');
  expect(await ready()).toEqual([503, 'writes fail: the database is busy']);
  expect((await call('POST', '/guardrails', { body: { name: 'a' } })).status).toBe(201);
  expect(await ready()).toEqual([200, '']);
  await other.end();
  await server.close();
  await drop();
});

test('it is 503 while the audit log is locked', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query('begin; lock table audit_logs in exclusive mode');
  expect(await readyOf(callerOf(server))()).toEqual([503, 'writes fail: the database refuses them or does not respond']);
  await other.query('rollback');
  await expect.poll(readyOf(callerOf(server))).toEqual([200, '']);
  await other.end();
  await server.close();
  await drop();
});

test('it is 503 while the database is read-only, and reads are answered', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  const [call, owner] = [callerOf(server), new Client({ connectionString: url })];
  await owner.connect();
  const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
    await owner.query(`set default_transaction_read_only = off`);
    await owner.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = ${value}`);
    await owner.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  };
  await setReadOnly('on');
  await expect.poll(readyOf(call)).toEqual([503, 'writes fail: the database is read-only']);
  expect((await call('GET', '/guardrails')).status).toBe(200);
  await setReadOnly('off');
  await expect.poll(readyOf(call)).toEqual([200, '']);
  await owner.end();
  await server.close();
  await drop();
});
