import { statfs } from 'node:fs/promises';
import { getAsset, getAssetAsBlob, isSea } from 'node:sea';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { AppError, systemCodeOf } from '../../model/errors.ts';
import type { Log } from '../log.ts';
import type { Tables } from './migrations.ts';

type EmbeddedDatabase = { readonly db: Kysely<Tables>; readonly close: () => Promise<void> };

type EmbeddedOptions = {
  readonly log: Log;
  /** Runs before and after each statement; throws when the process may not use the files. */
  readonly confirm: () => void;
};

/** The embedded database has stopped, as PostgreSQL does when it cannot write its log. `code` is an SQLSTATE. */
class DatabaseStopped extends Error {
  readonly code: string;

  constructor(reason: string) {
    super(reason);
    this.name = 'DatabaseStopped';
    // disk_full or crash_shutdown
    this.code = /No space left|quota/i.test(reason) ? '53100' : '57P02';
  }
}

/** Opens the files of an embedded database. When it stops, the next statement opens it again as soon as there is room. */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const pool = new ReopeningPool(dataDir, await startLite(dataDir), options);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, close: () => db.destroy() };
}

/** Creates the files of a new embedded database. */
export async function createEmbedded(dataDir: string): Promise<void> {
  await (await startLite(dataDir)).lite.close();
}

/** Uses an embedded database that the caller opens and closes. */
export async function connectLite(lite: PGlite, log: Log): Promise<Kysely<Tables>> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPreparedPool(await poolOf(lite, log)) }) });
}

/** A running PGlite; `stopped` is set when it has ended by itself. */
type RunningLite = { readonly lite: PGlite; stopped: DatabaseStopped | undefined };

const keptLines = 20;

async function startLite(dataDir: string): Promise<RunningLite> {
  const [{ PGlite, parts }, { NodeFS }] = await Promise.all([loadPglite(), import('@electric-sql/pglite/nodefs')]);
  const lines: string[] = [];
  const onStderr = (line: string): boolean => {
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
    return false;
  };
  const fs = new NodeFS(dataDir);
  const init = fs.init.bind(fs);
  fs.init = async (lite, given) => {
    const { emscriptenOpts } = await init(lite, given);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), closeFilesToOthers] } };
  };
  try {
    return superviseLite(await PGlite.create({ ...parts, fs, onStderr }), lines);
  } catch (error) {
    const thrown = error instanceof Error ? error.message : 'PGlite did not start';
    throw new DatabaseStopped(fatalReason(lines) ?? ((await hasRoom(dataDir)) ? thrown : `No space left on the disk of ${dataDir}`));
  }
}

/** Returns whether the disk of a folder has room for PostgreSQL to start. */
async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= neededBytes;
}

/** Lets PGlite give modes to the owner of a file only. It sets the mode of each file that it creates, whatever the umask of the process. */
function closeFilesToOthers({ FS: files }: PGlite['Module']): void {
  const { chmod } = files;
  files.chmod = (path: string, mode: number, dontFollow?: boolean): void => void chmod.call(files, path, mode & 0o700, dontFollow);
}

/** Returns what PostgreSQL reported before it ended, such as `could not open file "global/pg_control": No such file or directory`. */
function fatalReason(lines: readonly string[]): string | undefined {
  const found = lines.flatMap((line) => /\b(?:PANIC|FATAL|DETAIL): +(.+)$|^postgres: (.+)$/.exec(line)?.slice(1).find(Boolean) ?? []);
  return found.length === 0 ? undefined : found.join('; ');
}

// PGlite returns from the main loop by this status after a statement that failed.
const statementFailed = 100;

/** Makes statements fail once PostgreSQL has ended: PGlite catches the exception and calls PostgreSQL again without end. */
function superviseLite(lite: PGlite, lines: readonly string[]): RunningLite {
  const running: RunningLite = { lite, stopped: undefined };
  const { Module: module } = lite;
  const { _PostgresMainLoopOnce: runOnce, _PostgresSendReadyForQueryIfNecessary: sendReady, _pgl_pq_flush: flush, stackRestore } = module;
  const unlessStopped = (act: () => void) => (): void => {
    if (running.stopped === undefined) act();
  };
  module._PostgresMainLoopOnce = () => {
    if (running.stopped !== undefined) throw running.stopped;
    try {
      runOnce();
    } catch (error) {
      const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
      if (status !== statementFailed) running.stopped ??= new DatabaseStopped(fatalReason(lines) ?? String(error));
      throw error;
    }
  };
  // PGlite calls this function where it has caught an exception: an exception of this function ends its loop.
  module.stackRestore = (pointer) => {
    if (running.stopped !== undefined) throw running.stopped;
    return stackRestore(pointer);
  };
  module._PostgresSendReadyForQueryIfNecessary = unlessStopped(sendReady);
  module._pgl_pq_flush = unlessStopped(flush);
  return running;
}

async function poolOf(lite: PGlite, log: Log): Promise<Pool> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres');
  // PGlite has a single connection: a transaction must never ask the pool for another one.
  const pool = new Pool(Object.assign(createPgConfig(lite), { idleTimeoutMillis: 0 }));
  logLostConnections(pool, log);
  return pool;
}

/** Logs lost connections, which the pool replaces. Without listeners an error would end the process; the query in progress reports its own error. */
export function logLostConnections(pool: Pool, log: Log): void {
  pool.on('error', (error) => log({ level: 'warn', message: `database connection lost: ${error.message}` }));
  pool.on('connect', (client) => void client.on('error', () => undefined));
}

// Two segments of PostgreSQL's log: starting after a crash can fill one, and the first statement begins the next one.
const neededBytes = 2 * 16 * 1024 * 1024;
const reopenPauseMs = 1000;

/** A pool of the one connection to a PGlite that starts again after it has stopped. */
class ReopeningPool implements PostgresPool {
  readonly #dataDir: string;
  readonly #options: EmbeddedOptions;
  #running: RunningLite;
  #pool: Promise<{ readonly all: Pool; readonly prepared: PostgresPool }>;
  #reopening: Promise<void> | undefined;
  #triedAt = 0;

  constructor(dataDir: string, running: RunningLite, options: EmbeddedOptions) {
    this.#dataDir = dataDir;
    this.#options = options;
    this.#running = running;
    this.#pool = this.#connectTo(running);
  }

  async #connectTo({ lite }: RunningLite): Promise<{ readonly all: Pool; readonly prepared: PostgresPool }> {
    const all = await poolOf(lite, this.#options.log);
    return { all, prepared: createPreparedPool(all, this.#options.confirm) };
  }

  async connect(): Promise<PostgresPoolClient> {
    this.#options.confirm();
    if (this.#running.stopped !== undefined) {
      this.#reopening ??= this.#reopen(this.#running.stopped).finally(() => {
        this.#reopening = undefined;
      });
      await this.#reopening;
    }
    return (await this.#pool).prepared.connect();
  }

  async #reopen(stopped: DatabaseStopped): Promise<void> {
    if (!(await hasRoom(this.#dataDir)) || performance.now() - this.#triedAt < reopenPauseMs) throw stopped;
    this.#triedAt = performance.now();
    this.#running = await startLite(this.#dataDir);
    this.#pool = this.#connectTo(this.#running);
    this.#options.log({ level: 'warn', message: `the embedded database is open again; it had stopped: ${stopped.message}` });
  }

  async end(): Promise<void> {
    const { all } = await this.#pool;
    await all.end();
    // The files of a stopped database are left as they are: the next start repairs them.
    if (this.#running.stopped === undefined) await this.#running.lite.close();
  }
}

const writeCommands = ['UPDATE', 'DELETE', 'INSERT', 'MERGE'] as const;

/** Returns a pool that prepares each statement once, which halves the cost of a small statement on PGlite. The number of distinct texts must stay small. */
export function createPreparedPool(pool: Pool, confirm: () => void = () => undefined): PostgresPool {
  const names = new Map<string, string>();
  return { connect: async () => new PreparedClient(await pool.connect(), { names, confirm }), end: () => pool.end() };
}

type PreparedOptions = { readonly names: Map<string, string>; readonly confirm: () => void };

class PreparedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #options: PreparedOptions;

  constructor(client: PoolClient, options: PreparedOptions) {
    this.#client = client;
    this.#options = options;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    return typeof text === 'string' ? this.#run<R>(text, values) : text;
  }

  async #run<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { names, confirm } = this.#options;
    const name = names.get(text) ?? `s${names.size}`;
    names.set(text, name);
    confirm();
    const { command, rowCount, rows } = await this.#client.query({ name, text, values: [...values] });
    // An answer counts only if no other server could write meanwhile.
    confirm();
    return { command: writeCommands.find((write) => write === command) ?? 'SELECT', rowCount: rowCount ?? 0, rows };
  }

  release(): void {
    this.#client.release();
  }
}

/** Rows of one table that a start reads at most: enough for every table but the audit log, of which it reads the last ones. */
const checkedRows = 20_000;

/** Throws `AppError` when the files of a table are damaged or too short: reads its rows through its primary key, and through every other index. */
export async function requireWholeTables(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Without these, PostgreSQL could read a table that was cut short and find no fault.
    for (const name of ['enable_seqscan', 'enable_bitmapscan', 'enable_indexonlyscan', 'enable_sort']) {
      await sql`select set_config(${name}, 'off', true)`.execute(trx);
    }
    const { rows } = await sql<{ readonly name: string; readonly read: string; readonly condition: string | null; readonly order: string }>`
      select c.relname as name, case when i.indisprimary then 'sum(length(r::text))' else 'count(*)' end as read,
      pg_get_expr(i.indpred, c.oid) as condition, string_agg(
        pg_get_indexdef(i.indexrelid, k, true) || case when i.indoption[k - 1] & 1 = 1 then ' asc' else ' desc' end, ', ' order by k) as order
      from pg_class c join pg_index i on i.indrelid = c.oid
      join pg_class x on x.oid = i.indexrelid join pg_am a on a.oid = x.relam and a.amname = 'btree'
      cross join lateral generate_series(1, i.indnkeyatts) as k
      where c.relnamespace = 'public'::regnamespace group by c.oid, i.indexrelid, i.indisprimary, i.indpred order by c.relname, i.indisprimary desc`.execute(
      trx,
    );
    for (const { name, read, condition, order } of rows) {
      await sql`
        select ${sql.raw(read)} from (
          select * from ${sql.table(name)} where ${sql.raw(condition ?? 'true')} order by ${sql.raw(order)} limit ${sql.lit(checkedRows)}) r`
        .execute(trx)
        .catch((error: unknown) => {
          throw damaged(name, error);
        });
    }
  });
}

function damaged(table: string, error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError('serve/database-damaged', 3, `the table ${table} is damaged: ${reason}`, {
    cause: error,
    hint: 'restore the whole folder from a backup',
  });
}

declare const __PGLITE_VERSION__: string;

/** The types of Node 20 leave it out. */
declare const WebAssembly: { readonly compile: (bytes: ArrayBuffer) => Promise<object> };

/** The embedded database and the options that it needs where its files are part of the executable. */
type LoadedPglite = { readonly PGlite: typeof PGlite; readonly parts: PGliteOptions };

/**
 * Loads the embedded database. It is an optional peer dependency of the package, because it is ten times as large as
 * everything else; the single executable contains it. Throws `AppError` with the command that installs it when it is missing.
 */
export async function loadPglite(): Promise<LoadedPglite> {
  try {
    const module = await import('@electric-sql/pglite');
    return { PGlite: module.PGlite, parts: isSea() ? await partsOfExecutable() : {} };
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new AppError('serve/no-embedded-database', 3, 'the embedded database is not installed', {
      cause: error,
      hint: `install it with npm install --global @electric-sql/pglite@${pgliteVersion}, or pass --database postgres://…`,
    });
  }
}

/** The version that this build was tested with; `latest` if the source runs without a build. */
const pgliteVersion = typeof __PGLITE_VERSION__ === 'string' ? __PGLITE_VERSION__ : 'latest';

async function partsOfExecutable(): Promise<PGliteOptions> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(getAsset('pglite.wasm')),
    WebAssembly.compile(getAsset('initdb.wasm')),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: getAssetAsBlob('pglite.data') };
}
