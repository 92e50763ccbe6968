import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { inject } from 'vitest';
import { makeFolder as makeFolders } from '../../src/disk/write.ts';
import { registry } from '../../src/kinds/index.ts';
import { createLog, type LogFormat } from '../../src/server/log.ts';
import { type Chaos, injectChaos } from './chaos.ts';
import { type ServeOptions, startServer } from '../../src/server/http/start-server.ts';

/** A gateway for tests. */
export type TestServer = {
  readonly url: string;
  /** An admin key. */
  readonly key: string;
  /** An admin key that writes for the manager `platform`. */
  readonly managerKey: string;
  /** The log of the server so far. */
  readonly log: readonly string[];
  /** All routes, as `GET /connections/:id`. */
  readonly routes: readonly string[];
  readonly close: () => Promise<void>;
};

export type TestServerOptions = Partial<Omit<ServeOptions, 'adminKey' | 'managerKey' | 'log' | 'intercept'>> & {
  readonly logForm?: LogFormat;
  /** Makes requests fail. */
  readonly chaos?: Chaos;
};

export const adminKey = 'admin-key-of-the-tests';
const managerKey = 'manager-key-of-the-tests';
export const encryptionKey: Buffer = Buffer.alloc(32, 7);

/** Starts a gateway on a PGlite in memory; after `close` the next gateway uses the same PGlite. */
export async function startPgliteServer(options: TestServerOptions = {}): Promise<TestServer> {
  const lite = idle ?? (await openSnapshot());
  if (lite === idle) idle = undefined;
  const server = await startTestServer({ database: { lite }, ...options });
  let closed: Promise<void> | undefined;
  return { ...server, close: () => (closed ??= server.close().then(() => giveBack(lite))) };
}

// Opening a PGlite takes longer than most tests; a second one would use memory, which slows down every new process.
let idle: PGlite | undefined;

async function giveBack(lite: PGlite): Promise<void> {
  if (idle !== undefined) return lite.close();
  // The audit log refuses to be emptied unless its triggers are off.
  for (const statement of ['set session_replication_role = replica', emptied, 'discard all', 'checkpoint']) await lite.exec(statement);
  idle = lite;
}

const emptied = `do $$ begin
  execute (select 'truncate ' || string_agg(quote_ident(tablename), ', ') || ' restart identity' from pg_tables
    where schemaname = 'public' and tablename not like 'kysely%');
end $$`;

async function openSnapshot(): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create({ dataDir: 'memory://', loadDataDir: await openAsBlob(await fixture('snapshot')) });
}

/** Starts a gateway on its own database, copied from a migrated template, on the PostgreSQL that all tests share. */
export async function startPostgresServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { url, drop } = await createDatabase(await fixture('template'));
  const server = await startTestServer({ database: { url }, ...options });
  return { ...server, close: () => server.close().then(drop) };
}

/** Starts a gateway on the database of the options. */
export async function startTestServer({
  logForm = 'text',
  chaos,
  ...options
}: TestServerOptions & Pick<ServeOptions, 'database'>): Promise<TestServer> {
  const log: string[] = [];
  const now = options.now ?? ((): Date => new Date());
  const server = await startServer({
    port: 0,
    registry,
    ...(chaos === undefined ? {} : { intercept: injectChaos(chaos) }),
    adminKey,
    managerKey: { key: managerKey, manager: 'platform' },
    agents: ['default', 'prod-agent'],
    encryptionKey,
    makeFolder: makeFolders,
    now,
    log: createLog((line) => void log.push(line), logForm, now),
    version: '0.0.0-test',
    ...options,
  });
  return { url: server.url, key: adminKey, managerKey, log, routes: server.routes, close: server.close };
}

/** Creates a database folder like a first start, in a tenth of the time. */
export async function makeFolder(folder: string): Promise<string> {
  const data = join(folder, 'postgres');
  await mkdir(data, { recursive: true, mode: 0o700 });
  await promisify(execFile)('tar', ['-xf', await fixture('snapshot'), '-C', data]);
  return folder;
}

/** Creates a database as a copy of a template; `drop` removes it. */
export async function createDatabase(template = 'template1'): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const maintenance = await fixture('postgres');
  const name = `ostiary_${randomUUID().replaceAll('-', '')}`;
  await execute(maintenance, `create database ${name} template ${template}`);
  const url = new URL(maintenance);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(maintenance, `drop database ${name} with (force)`) };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Returns a fixture of the run; the first request creates it. */
export async function fixture(name: 'postgres' | 'snapshot' | 'template'): Promise<string> {
  const response = await fetch(`${inject('fixtures')}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
