import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { asText } from '../../../src/model/json.ts';
import { startPostgres } from '../../support/postgres.ts';
import { createDatabase, startTestServer } from '../../support/servers.ts';
import { callerOf, createKey, type CallServer } from '../client.ts';

/** A proxy to the database that can be cut. */
class Way {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  port = 0;

  constructor(to: { readonly host: string; readonly port: number }) {
    this.#server = createServer((socket) => {
      const onward = connect(to.port, to.host);
      for (const one of [socket, onward]) {
        this.#sockets.add(one);
        one.on('error', () => undefined);
        one.on('close', () => [socket, onward].forEach((end) => end.destroy()));
      }
      socket.pipe(onward).pipe(socket);
    });
  }

  async open(): Promise<void> {
    await once(this.#server.listen(this.port, '127.0.0.1'), 'listening');
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.port = address.port;
  }

  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

test('while the database is unavailable, requests get a 503 with Retry-After; then everything works again', async () => {
  const database = await createDatabase();
  const url = new URL(database.url);
  const way = new Way({ host: url.hostname, port: Number(url.port) });
  await way.open();
  url.port = String(way.port);
  const server = await startTestServer({ database: { url: url.href } });
  const call = callerOf(server);
  const key = await createKey(call, 'ci', ['admin']);
  expect((await call('POST', '/guardrails', { body: { name: 'before' }, key })).status).toBe(201);
  // The cut happens while statements run; it must not end the process.
  const underWay = Array.from({ length: 8 }, () => call('GET', '/audit/logs', { key }));
  await way.cut();
  for (const { status } of await Promise.all(underWay)) expect([200, 503]).toContain(status);
  for (const [method, path, body] of [
    ['GET', '/guardrails', undefined],
    ['POST', '/guardrails', { name: 'meanwhile' }],
    ['GET', '/resources', undefined],
  ] as const) {
    const answer = await call(method, path, { key, ...(body === undefined ? {} : { body }) });
    expect([answer.status, answer.headers.get('Retry-After'), answer.body['message']]).toEqual([503, '5', 'the database does not respond']);
  }
  expect((await call('GET', '/healthz')).status).toBe(200);
  expect((await call('GET', '/readyz')).status).toBe(503);
  await way.open();
  expect((await call('POST', '/guardrails', { body: { name: 'after' }, key })).status).toBe(201);
  expect((await call('GET', '/guardrails', { key })).list.map(({ name }) => name)).toEqual(['after', 'before']);
  await server.close();
  await way.cut();
  await database.drop();
});

test('while PostgreSQL is stopped, reads and writes get a 503 with a sentence; once it is started again, no acknowledged write is lost', async () => {
  const postgres = await startPostgres();
  const server = await startTestServer({ database: { url: postgres.url } });
  const call = callerOf(server);
  const acknowledged = new Set<string>();
  const refused = new Set<string>();
  const writers = new AbortController();
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !writers.signal.aborted; n += 1) {
      const name = `${writer}-${n}`;
      const { status, headers, body } = await call('POST', '/guardrails', { body: { name } });
      if (status === 201) acknowledged.add(name);
      else refused.add(`${status} ${headers.get('Retry-After')} ${asText(body['message'])}`);
    }
  };
  const writing = [1, 2, 3, 4].map(write);
  for (let stops = 1; stops <= 2; stops += 1) {
    const before = acknowledged.size;
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20);
    await postgres.stop();
    for (const path of ['/guardrails', '/connections/none', '/resources', '/audit/logs', '/readyz']) {
      const { status, body } = await call('GET', path);
      expect([path, status, body['message']]).toEqual([path, 503, 'the database does not respond']);
    }
    expect((await call('GET', '/healthz')).status).toBe(200);
    await postgres.start();
  }
  const before = acknowledged.size;
  await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20);
  writers.abort();
  await Promise.all(writing);
  expect([...refused]).toEqual(['503 5 the database does not respond']);
  const { list } = await call('GET', '/guardrails');
  const stored = new Set(list.map(({ name }) => asText(name)));
  expect([...acknowledged].filter((name) => !stored.has(name))).toEqual([]);
  // Each stored object has one entry of its write.
  expect((await call('GET', '/audit/logs?outcome=true&page_size=1')).body['pages']).toMatchObject({ total: list.length });
  expect((await call('GET', '/readyz')).status).toBe(200);
  await server.close();
  await postgres.close();
});

/** Starts a gateway, and locks one of its tables in another connection. */
async function serveLocked(table: string, statement: number): Promise<{ call: CallServer; other: Client; close: () => Promise<void> }> {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url }, timeouts: { statement } });
  const other = new Client({ connectionString: database.url });
  await other.connect();
  await other.query(`begin; lock table ${table}`);
  const close = async (): Promise<void> => {
    await other.end();
    await server.close();
    await database.drop();
  };
  return { call: callerOf(server), other, close };
}

test('a statement that waits for a lock longer than its deadline is answered 503 with Retry-After', async () => {
  const { call, other, close } = await serveLocked('guardrails in access exclusive mode', 2000);
  for (const [method, body] of [
    ['GET', undefined],
    ['POST', { name: 'a' }],
  ] as const) {
    const answer = await call(method, '/guardrails', body === undefined ? {} : { body });
    expect([answer.status, answer.headers.get('Retry-After'), answer.body['message']]).toEqual([503, '5', 'the database is busy']);
  }
  expect((await call('GET', '/connections')).status).toBe(200);
  await other.query('rollback');
  expect((await call('POST', '/guardrails', { body: { name: 'a' } })).status).toBe(201);
  await close();
});

test('a write that waits for the audit log is answered at its deadline, and recorded later', async () => {
  const { call, other, close } = await serveLocked('audit_logs in exclusive mode', 4000);
  const { status, headers } = await call('POST', '/guardrails', { body: { name: 'a' } });
  expect([status, headers.get('Retry-After')]).toEqual([503, '5']);
  await other.query('rollback');
  await expect
    .poll(async () => (await call('GET', '/audit/logs')).body['data'])
    .toEqual([expect.objectContaining({ http_status: 503, http_path: '/guardrails', outcome: false })]);
  await close();
});

test.each([
  // PostgreSQL also ends the connection, which may be noticed first.
  ['transaction_timeout = 300', /^the database (?:is busy|does not respond)$/, 'lock table guardrails in access exclusive mode'],
  ['lock_timeout = 300', /^the database is busy$/, 'lock table guardrails in access exclusive mode'],
  ['default_transaction_read_only = on', /^the database is read-only$/, 'select 1'],
])('a write that the database ends by its own %s is answered 503 with Retry-After', async (setting, message, meanwhile) => {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url } });
  const call = callerOf(server);
  const owner = new Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`alter database ${new URL(database.url).pathname.slice(1)} set ${setting}`);
  await owner.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await owner.query(`begin; ${meanwhile}`);
  const write = async (): Promise<unknown> => {
    const { status, headers, body } = await call('POST', '/guardrails', { body: { name: 'a' } });
    return [status, headers.get('Retry-After'), body['message']];
  };
  // The first writes may still find the closed connections.
  await expect.poll(write).toEqual([503, '5', expect.stringMatching(message)]);
  await owner.end();
  await server.close();
  await database.drop();
});

test('a database that accepts no more connections is answered 503 with Retry-After, and not called full', async () => {
  const database = await createDatabase();
  const role = `limited_${randomUUID().replaceAll('-', '')}`;
  const owner = new Client({ connectionString: database.url });
  await owner.connect();
  const url = new URL(database.url);
  await owner.query(`create role ${role} login password 'limited'; alter database ${url.pathname.slice(1)} owner to ${role}`);
  [url.username, url.password] = [role, 'limited'];
  const server = await startTestServer({ database: { url: url.href } });
  const call = callerOf(server);
  await owner.query(`alter role ${role} connection limit 0`);
  const answers = await Promise.all(Array.from({ length: 12 }, () => call('GET', '/guardrails')));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, headers, body } of refused) {
    expect([status, headers.get('Retry-After'), body['message']]).toEqual([503, '5', 'the database has no memory or connections left']);
  }
  await owner.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  await expect
    .poll(async () => (await call('GET', '/readyz', { key: null })).body['message'])
    .toBe('the database has no memory or connections left');
  await owner.query(`alter role ${role} connection limit -1`);
  expect((await call('GET', '/guardrails')).status).toBe(200);
  await server.close();
  await owner.query(`alter role ${role} connection limit 0`);
  await expect(startTestServer({ database: { url: url.href } })).rejects.toMatchObject({
    code: 'serve/database',
    message: expect.stringContaining('too many connections'),
    hint: expect.stringContaining('max_connections'),
  });
  await owner.query(`reassign owned by ${role} to postgres; drop owned by ${role}`);
  await owner.end();
  await database.drop();
});
