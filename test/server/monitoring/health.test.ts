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

  test('a check leaves nothing in the audit log', async () => {
    for (let checks = 0; checks < 3; checks += 1) expect(await ready()).toEqual([200, '']);
    expect((await call('POST', '/guardrails', { body: { name: 'first' } })).status).toBe(201);
    expect((await call('GET', '/audit/logs')).body['pages']).toMatchObject({ total: 1 });
  });

  test('it is 503 once the encryption key of the server is retired', async () => {
    await place.run('create table kept as select * from encryption_keys; delete from encryption_keys');
    await expect.poll(ready).toEqual([503, 'the encryption key of this server is retired']);
    await place.run('insert into encryption_keys select * from kept; drop table kept');
    expect(await ready()).toEqual([200, '']);
  });
});

test('it is 503 while the database does not answer', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  const [call, other] = [callerOf(server), new Client({ connectionString: url })];
  await other.connect();
  await other.query('begin; lock table encryption_keys in access exclusive mode');
  expect(await readyOf(call)()).toEqual([503, 'the database does not respond']);
  expect((await call('GET', '/healthz', { key: null })).status).toBe(200);
  await other.query('rollback');
  await expect.poll(readyOf(call)).toEqual([200, '']);
  await other.end();
  await server.close();
  await drop();
});
