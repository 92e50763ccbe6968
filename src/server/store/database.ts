import { randomBytes } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { Pool } from 'pg';
import { AppError } from '../../model/errors.ts';
import type { Log } from '../log.ts';
import { keyLength } from '../secrets.ts';
import { isExhausted } from './database-unavailable.ts';
import { createLitePool, openFolder } from './embedded-database.ts';
import { findPlaintextHost } from './plaintext-host.ts';
import type { Tables } from './schema.ts';

/** The location of the database: a folder of Ostiary (PGlite), a PGlite that the caller opens and closes, or a PostgreSQL server. */
export type DatabaseOptions = { readonly folder: string } | { readonly lite: PGlite } | { readonly url: string };

type OpenDatabase = {
  readonly db: Kysely<Tables>;
  /** The key of the operator, else that of the database folder. */
  readonly encryptionKey: Buffer | string;
  readonly close: () => Promise<void>;
};

export type OpenOptions = {
  readonly database: DatabaseOptions;
  readonly encryptionKey?: Buffer | string | undefined;
  /** Creates the folder of a database and its parents if they do not exist. */
  readonly makeFolder: (path: string, mode: number) => void;
  readonly log: Log;
  /** How long PostgreSQL may work on a statement, with its wait for locks. */
  readonly statementTimeoutMs?: number;
};

// A request that waits longer for a database connection gets a 503.
const connectionTimeoutMs = 30_000;

/** Opens the database and finds its encryption key. */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { database, makeFolder, encryptionKey } = options;
  if ('url' in database) return openServer(database.url, options);
  if ('lite' in database) {
    const db = connectTo(createLitePool(database.lite));
    return { db, encryptionKey: encryptionKey ?? randomBytes(keyLength), close: () => db.destroy() };
  }
  const { lite, ownKey, close } = await openFolder(database.folder, makeFolder);
  const db = connectTo(createLitePool(lite, database.folder));
  return { db, encryptionKey: encryptionKey ?? (await ownKey()), close: () => db.destroy().finally(close) };
}

async function openServer(connectionString: string, { encryptionKey, log, statementTimeoutMs = 0 }: OpenOptions): Promise<OpenDatabase> {
  if (encryptionKey === undefined || encryptionKey.length === 0) {
    throw new AppError('serve/no-encryption-key', 3, 'a PostgreSQL database requires an encryption key', {
      hint: 'set OSTIARY_SERVE_ENCRYPTION_KEY to the output of: openssl rand -base64 32',
    });
  }
  const host = findPlaintextHost(connectionString);
  if (host !== undefined) {
    const code = 'serve/insecure-database';
    const message = `the data of the gateway can travel unencrypted to ${host}: end the URL of the database with ?sslmode=verify-full`;
    log({ level: 'warn', message: `${code}  ${message}`, details: { code } });
  }
  const pool = new Pool({ connectionString, max: 10, connectionTimeoutMillis: connectionTimeoutMs, statement_timeout: statementTimeoutMs });
  // The pool replaces lost connections. Without listeners an error would end the process; the query in progress reports its own error.
  pool.on('error', (error) => log({ level: 'warn', message: `database connection lost: ${error.message}` }));
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const db = connectTo(pool);
  return { db, encryptionKey, close: () => pool.end() };
}

function connectTo(pool: PostgresPool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Returns the error of a start that the database refused. */
export function startError(error: unknown, { database }: Pick<OpenOptions, 'database'>): AppError {
  if (error instanceof AppError) return error;
  const hint = isExhausted(error)
    ? 'free its disk, its memory or its connections (max_connections, pg_stat_activity), then try again'
    : 'url' in database
      ? 'check that it exists and that this user has access'
      : 'check --database, its permissions and its disk; restore a damaged folder from a backup';
  return new AppError('serve/database', 3, `the database cannot be opened: ${errorReason(error)}`, { cause: error, hint });
}

/** Returns the reasons of all attempts: the message of an `AggregateError` is empty. */
function errorReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => errorReason(one)).join(', ');
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOTDIR' && 'path' in error) return `a part of ${JSON.stringify(error.path)} is not a folder`;
  return error.message.replace(/^connect ECONNREFUSED /, 'connection refused by ');
}
