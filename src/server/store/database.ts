import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, type PostgresCursor, PostgresDialect, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { AppError } from '../../model/errors.ts';
import { lockFolder } from '../process/folder-lock.ts';
import type { Log } from '../process/log.ts';
import { parseEncryptionKey, readOrCreateKeyFile } from './cipher.ts';
import type { Tables } from './tables.ts';

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
  const { PGlite } = await import('@electric-sql/pglite');
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
