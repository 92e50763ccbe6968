import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, type PostgresCursor, PostgresDialect, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { AppError } from '../../model/errors.ts';
import type { Log } from '../http/request-context.ts';
import { parseEncryptionKey, readOrCreateKeyFile } from './secrets.ts';
import { loadPglite } from './load-pglite.ts';
import type { Tables } from './migrations.ts';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** The location of the database: a folder of Ostiary (PGlite), a PGlite that the caller opens and closes, or a PostgreSQL server. */
export type DatabaseOptions = { readonly folder: string } | { readonly lite: PGlite } | { readonly url: string };

export type OpenDatabase = {
  readonly db: Kysely<Tables>;
  readonly encryptionKey: Buffer;
  readonly close: () => Promise<void>;
};

export type OpenOptions = {
  readonly database: DatabaseOptions;
  readonly encryptionKey?: Buffer | string | undefined;
  /** Creates the folder of a database and its parents if they do not exist. */
  readonly makeFolder: (path: string, mode: number) => void;
  readonly log: Log;
};

// A request that waits longer for a database connection gets a 503.
const connectionTimeoutMs = 30_000;

/** Opens the database and finds its encryption key. Throws `AppError` when either fails. */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { database } = options;
  try {
    if ('url' in database) return await openServer(database.url, options);
    return 'folder' in database ? await openFolder(database.folder, options) : await openProvided(database.lite, options);
  } catch (error) {
    throw error instanceof AppError
      ? error
      : new AppError('serve/database', 3, `the database cannot be opened: ${errorReason(error)}`, {
          cause: error,
          hint: 'url' in database ? 'is it there, and may this user in?' : 'check --database, and who may write there',
        });
  }
}

async function openServer(connectionString: string, { encryptionKey, log }: OpenOptions): Promise<OpenDatabase> {
  if (encryptionKey === undefined || encryptionKey.length === 0) {
    throw new AppError('serve/no-encryption-key', 3, 'a PostgreSQL database needs an encryption key', {
      hint: 'set OSTIARY_SERVE_ENCRYPTION_KEY to the output of: openssl rand -base64 32',
    });
  }
  const key = parseEncryptionKey(encryptionKey);
  const pool = new Pool({ connectionString, max: 10, connectionTimeoutMillis: connectionTimeoutMs });
  logLostConnections(pool, log);
  try {
    await pool.query('select 1');
  } catch (error) {
    await pool.end();
    throw error;
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, encryptionKey: key, close: () => db.destroy() };
}

async function openFolder(folder: string, { encryptionKey, makeFolder, log }: OpenOptions): Promise<OpenDatabase> {
  // Nothing is created before the database can be opened.
  await loadPglite();
  makeFolder(folder, 0o700);
  const lock = await lockFolder(join(folder, 'ostiary.lock'));
  try {
    const key = encryptionKey === undefined ? await readOrCreateKeyFile(join(folder, 'encryption.key')) : parseEncryptionKey(encryptionKey);
    const { db, close } = await openLite(join(folder, 'postgres'), log);
    return { db, encryptionKey: key, close: () => close().finally(lock.release) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openProvided(lite: PGlite, { encryptionKey, log }: OpenOptions): Promise<OpenDatabase> {
  const key = encryptionKey === undefined ? randomBytes(32) : parseEncryptionKey(encryptionKey);
  const db = await connect(lite, log);
  return { db, encryptionKey: key, close: () => db.destroy() };
}

async function openLite(dataDir: string, log: Log): Promise<Pick<OpenDatabase, 'db' | 'close'>> {
  const { PGlite } = await loadPglite();
  const lite = await PGlite.create({ dataDir });
  const db = await connect(lite, log);
  return { db, close: () => db.destroy().then(() => lite.close()) };
}

async function connect(lite: PGlite, log: Log): Promise<Kysely<Tables>> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres');
  // PGlite has a single connection: a transaction must never ask the pool for another one.
  const pool = new Pool(Object.assign(createPgConfig(lite), { idleTimeoutMillis: 0 }));
  logLostConnections(pool, log);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPreparedPool(pool) }) });
}

/** Logs lost connections, which the pool replaces. Without listeners an error would end the process; the query in progress reports its own error. */
function logLostConnections(pool: Pool, log: Log): void {
  pool.on('error', (error) => log({ level: 'warn', message: `database connection lost: ${error.message}` }));
  pool.on('connect', (client) => void client.on('error', () => undefined));
}

/** Returns the reasons of all attempts: the message of an `AggregateError` is empty. */
function errorReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => errorReason(one)).join(', ');
  return error instanceof Error ? error.message : String(error);
}

const writeCommands = ['UPDATE', 'DELETE', 'INSERT', 'MERGE'] as const;

/** Returns a pool that prepares each statement once, which halves the cost of a small statement on PGlite. The number of distinct texts must stay small. */
export function createPreparedPool(pool: Pool): PostgresPool {
  const names = new Map<string, string>();
  return { connect: async () => new PreparedClient(await pool.connect(), names), end: () => pool.end() };
}

class PreparedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #names: Map<string, string>;

  constructor(client: PoolClient, names: Map<string, string>) {
    this.#client = client;
    this.#names = names;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    return typeof text === 'string' ? this.#run<R>(text, values) : text;
  }

  async #run<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const name = this.#names.get(text) ?? `s${this.#names.size}`;
    this.#names.set(text, name);
    const { command, rowCount, rows } = await this.#client.query({ name, text, values: [...values] });
    return { command: writeCommands.find((write) => write === command) ?? 'SELECT', rowCount: rowCount ?? 0, rows };
  }

  release(): void {
    this.#client.release();
  }
}

/** A lock that this process holds; `release` removes it. */
export type FolderLock = { readonly release: () => Promise<void> };

// A takeover takes a millisecond; after a second, the process that started it is dead.
const attempts = 50;
const pauseMs = 20;

/** Creates the lock file for this process. Replaces the lock of a dead process; throws `AppError` when the process is alive. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const claim = `${path}.${randomUUID()}`;
  await writeFile(claim, `${process.pid} ${await startTime(process.pid)}\n`, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await succeeds(link(claim, path))) return { release: () => rm(path, { force: true }) };
      const holder = await textOf(path);
      if (holder === undefined) continue;
      await refuseLiving(path, holder);
      if (await takeOver(path, claim, holder)) return { release: () => rm(path, { force: true }) };
      await delay(pauseMs);
    }
  } finally {
    await rm(claim, { force: true });
  }
  throw new AppError('serve/locked', 3, `another process is taking over the database (${path}.takeover)`, {
    hint: 'if there is none, remove that file',
  });
}

async function refuseLiving(path: string, holder: string): Promise<void> {
  const [pid = '', start = ''] = holder.trim().split(' ');
  if (!(await isAlive(Number(pid), start))) return;
  throw new AppError('serve/locked', 3, `process ${pid} has the database open (${path})`, {
    hint: 'a folder serves one process; stop that one, or use PostgreSQL',
  });
}

/** Replaces the lock of a dead process. Only one process at a time may do so; otherwise it could replace a new lock. */
async function takeOver(path: string, claim: string, stale: string): Promise<boolean> {
  const takeoverPath = `${path}.takeover`;
  if (!(await succeeds(link(claim, takeoverPath)))) return false;
  try {
    if ((await textOf(path)) !== stale) return false;
    await rename(claim, path);
    return true;
  } finally {
    await rm(takeoverPath, { force: true });
  }
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return (await startTime(pid)) === start;
}

/** Returns when the process started, in kernel ticks; this distinguishes it from a later process with the same id. Only Linux has it. */
async function startTime(pid: number): Promise<string> {
  const stat = await textOf(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

async function succeeds(action: Promise<void>): Promise<boolean> {
  try {
    await action;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOENT')) return false;
    throw error;
  }
}
