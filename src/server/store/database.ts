import { randomBytes } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { AppError } from '../../model/errors.ts';
import type { Log } from '../log.ts';
import {
  closeToOthers,
  createDraft,
  databasePaths,
  type FolderKey,
  givenKey,
  hasDatabase,
  keepDraft,
  openFolderKey,
  requirePrivateFolder,
} from './database-folder.ts';
import { connectLite, createEmbedded, loadPglite, logLostConnections, openEmbedded, requireWholeTables } from './embedded-database.ts';
import { exhaustedHint, isExhausted } from './database-unavailable.ts';
import { type FolderLock, lockFolder, type LockTimes } from './folder-lock.ts';
import type { Tables } from './migrations.ts';
import { keyLength, parseEncryptionKey } from '../secrets.ts';

/** The location of the database: a folder of Ostiary (PGlite), a PGlite that the caller opens and closes, or a PostgreSQL server. */
export type DatabaseOptions = { readonly folder: string } | { readonly lite: PGlite } | { readonly url: string };

type OpenDatabase = {
  readonly db: Kysely<Tables>;
  readonly encryptionKey: Buffer;
  /** Keeps a new encryption key: the caller has registered it in the database. */
  readonly accept: () => Promise<void>;
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
  /** For tests: other times than those of production. */
  readonly lockTimes?: LockTimes;
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
          hint: isExhausted(error)
            ? exhaustedHint
            : 'url' in database
              ? 'check that it exists and that this user has access'
              : 'check --database, its permissions and its disk; restore a damaged folder from a backup',
        });
  }
}

async function openServer(connectionString: string, { encryptionKey, log, statementTimeoutMs = 0 }: OpenOptions): Promise<OpenDatabase> {
  if (encryptionKey === undefined || encryptionKey.length === 0) {
    throw new AppError('serve/no-encryption-key', 3, 'a PostgreSQL database requires an encryption key', {
      hint: 'set OSTIARY_SERVE_ENCRYPTION_KEY to the output of: openssl rand -base64 32',
    });
  }
  const key = parseEncryptionKey(encryptionKey);
  const pool = new Pool({ connectionString, max: 10, connectionTimeoutMillis: connectionTimeoutMs, statement_timeout: statementTimeoutMs });
  logLostConnections(pool, log);
  try {
    await pool.query('select 1');
  } catch (error) {
    await pool.end();
    throw error;
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, encryptionKey: key, accept: () => Promise.resolve(), close: () => db.destroy() };
}

async function openFolder(folder: string, { encryptionKey, makeFolder, log, lockTimes }: OpenOptions): Promise<OpenDatabase> {
  // Nothing is created before the database can be opened.
  await loadPglite();
  makeFolder(folder, 0o700);
  await requirePrivateFolder(folder);
  const given = encryptionKey === undefined ? undefined : parseEncryptionKey(encryptionKey);
  await hasDatabase(folder);
  const lock = await lockFolder(databasePaths(folder).lock, { log, ...(lockTimes === undefined ? {} : { times: lockTimes }) });
  try {
    const key = given === undefined ? await openFolderKey(folder) : givenKey(given);
    return await openLocked(folder, { log, lock, key });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type LockedOptions = { readonly log: Log; readonly lock: FolderLock; readonly key: FolderKey };

async function openLocked(folder: string, { log, lock, key }: LockedOptions): Promise<OpenDatabase> {
  const paths = databasePaths(folder);
  try {
    const isKnown = await hasDatabase(folder);
    if (!isKnown) {
      await createDraft(paths);
      await createEmbedded(paths.draft);
      await keepDraft(paths);
    }
    await closeToOthers(paths.data, log);
    const { db, close } = await openEmbedded(paths.data, { log, confirm: lock.confirm });
    if (isKnown) {
      await requireWholeTables(db).catch(async (error: unknown) => {
        await close();
        throw error;
      });
    }
    return {
      db,
      encryptionKey: key.key,
      accept: key.keep,
      close: () => close().finally(() => key.discard().finally(lock.release)),
    };
  } catch (error) {
    await key.discard();
    throw error;
  }
}

async function openProvided(lite: PGlite, { encryptionKey, log }: OpenOptions): Promise<OpenDatabase> {
  const key = encryptionKey === undefined ? randomBytes(keyLength) : parseEncryptionKey(encryptionKey);
  const db = await connectLite(lite, log);
  return { db, encryptionKey: key, accept: () => Promise.resolve(), close: () => db.destroy() };
}

/** Returns the reasons of all attempts: the message of an `AggregateError` is empty. */
function errorReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => errorReason(one)).join(', ');
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOTDIR' && 'path' in error) return `a part of ${JSON.stringify(error.path)} is not a folder`;
  return error.message.replace(/^connect ECONNREFUSED /, 'connection refused by ');
}
