import { createServer, type Server, type ServerOptions } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../routes/request-context.ts';
import { AppError } from '../../model/errors.ts';
import type { Registry } from '../../model/kind.ts';
import { registerAgents } from '../rules/agents.ts';
import { startAuditRetention } from '../store/audit-retention.ts';
import { createRequestMetrics } from '../routes/request-metrics.ts';
import { createApp } from './app.ts';
import { hasAdminKey } from '../rules/api-keys.ts';
import { environmentKeys } from '../principal.ts';
import { type Collection, collectionsOf, kindTables, type ObjectTable } from '../collections.ts';
import type { DatabaseOptions } from '../store/database.ts';
import type { Log } from '../log.ts';
import { inWriteLock, openStore, type OpenStore, type Store, type StoreOptions } from '../store/store.ts';
import { createRunbookLibrary, type RunbookLibrary, type RunbookSource } from '../rules/runbooks/runbook-library.ts';
import { sql } from 'kysely';

export type ServeOptions = {
  readonly database: DatabaseOptions;
  /** Creates the folder of a database and its parents if they do not exist. */
  readonly makeFolder: StoreOptions['makeFolder'];
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly registry: Registry;
  /** The key of an admin that writes for no manager; without it the database must have an admin key. */
  readonly adminKey?: string | undefined;
  /** A key whose objects carry `managed_by`. */
  readonly managerKey?: { readonly key: string; readonly manager: string };
  /** The agents to register; `default` by default. */
  readonly agents?: readonly string[];
  /** 32 bytes, also as base64 or hex. PostgreSQL requires one; a database folder keeps its own. */
  readonly encryptionKey?: Buffer | string | undefined;
  /** Earlier encryption keys, separated by commas; a background job encrypts their secrets again. */
  readonly previousEncryptionKeys?: string | undefined;
  readonly now: () => Date;
  /** How many days the audit log keeps an entry; undefined keeps all. */
  readonly auditKeepDays?: number | undefined;
  /** Whether a trusted proxy is in front of the gateway and sets `X-Forwarded-For`. */
  readonly trustProxy?: boolean;
  readonly log: Log;
  readonly version: string;
  readonly timeouts?: Partial<RequestTimeouts>;
  /** Waits after `close`, while the server still serves and `/readyz` fails; without it the server stops at once. */
  readonly drain?: () => Promise<void>;
  /** For tests: runs before the routes of each request. */
  readonly intercept?: MiddlewareHandler<AppEnv> | undefined;
  /** Reads the repositories of runbooks; without it no repository can be read. */
  readonly runbooks?: RunbookSource;
  /** Searches runbooks; searches `runbooks` by default. */
  readonly searchRunbooks?: RunbookLibrary['search'];
};

/**
 * Limits in milliseconds: for the request line with its headers, for a whole request, for the next request of a connection, and for a
 * statement in PostgreSQL.
 */
type RequestTimeouts = {
  readonly headers: number;
  readonly request: number;
  readonly keepAlive: number;
  readonly statement: number;
};

/** A running gateway. `close` finishes the requests in flight, then closes the database. */
export type RunningServer = {
  readonly url: string;
  /** All routes, as `GET /connections/:id`. */
  readonly routes: readonly string[];
  readonly close: () => Promise<void>;
};

// `close` cuts off requests that take longer.
const closeTimeoutMs = 10_000;
// Connections stay open longer than the 60 seconds after which proxies usually close theirs.
const defaultTimeouts: RequestTimeouts = { headers: 10_000, request: 60_000, keepAlive: 65_000, statement: 15_000 };

/** Starts the gateway and returns when it accepts requests. Throws `AppError` when the port, the database or a key cannot be used. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const keys = environmentKeys(options);
  const collections = collectionsOf(options.registry);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const opened = await openStore({
    ...options,
    statementTimeoutMs: timeouts.statement,
    async check(db) {
      if (options.adminKey === undefined && !(await hasAdminKey(db))) throw noKeyError();
    },
  });
  const { store } = opened;
  try {
    await registerAgents(store.db, options.agents ?? ['default'], options.now());
    const library = createRunbookLibrary({ ...options, store, collection: runbookConfigurations(collections) });
    let closing = false;
    const trustProxy = options.trustProxy ?? false;
    const requests = createRequestMetrics();
    const app = createApp({ ...options, store, library, collections, keys, trustProxy, requests, closing: () => closing });
    // A load balancer that checks the health with HTTP/1.0 sends no host.
    const server = createServer(serverOptions(timeouts), getRequestListener(app.fetch, { hostname: 'localhost' }));
    const url = await listen(server, options.host ?? '127.0.0.1', options.port);
    const backgroundJobs = startBackgroundJobs(store, options);
    let closed: Promise<void> | undefined;
    return {
      url,
      routes: [...new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))],
      close: () => {
        closing = true;
        closed ??= stopServer(server, { ...options, opened, backgroundJobs });
        return closed;
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function runbookConfigurations(collections: readonly Collection[]): Collection {
  const found = collections.find(({ table }) => table === 'runbook_configurations');
  if (found === undefined) throw new Error('no kind keeps the configurations of runbooks');
  return found;
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  ENOTFOUND: 'unknown host',
  EACCES: 'permission denied',
};

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const reason = listenProblems[error.code ?? ''] ?? error.message;
      const hint = isTaken ? 'stop the other process, or use another --port (0 selects a free port)' : 'check --host and --port';
      reject(new AppError('serve/port', 3, `cannot listen on ${host}:${port}: ${reason}`, { cause: error, hint }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

/** Node looks for incomplete requests as often as the shortest limit. */
function serverOptions({ headers, request, keepAlive }: RequestTimeouts): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: Math.min(headers, request, 5000),
  };
}

type StopOptions = Pick<ServeOptions, 'runbooks' | 'drain'> & {
  readonly opened: OpenStore;
  readonly backgroundJobs: { readonly stop: () => Promise<void> };
};

async function stopServer(server: Server, { opened, backgroundJobs, runbooks, drain }: StopOptions): Promise<void> {
  await drain?.();
  // Requests that wait for a repository are answered without it.
  await runbooks?.close?.();
  const cutOff = setTimeout(() => server.closeAllConnections(), closeTimeoutMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cutOff);
  await backgroundJobs.stop();
  await opened.close();
}

function noKeyError(): AppError {
  return new AppError('serve/no-key', 3, 'this gateway has no keys', {
    hint: 'create the first key with: ostiary serve --init, or set OSTIARY_SERVE_KEY',
  });
}

/** Starts the jobs beside requests: encrypting secrets of earlier keys again, and pruning the audit log. */
function startBackgroundJobs(
  store: Store,
  { log, now, auditKeepDays: days }: Pick<ServeOptions, 'log' | 'now' | 'auditKeepDays'>,
): { readonly stop: () => Promise<void> } {
  let stopped = false;
  const resealed = store.cipher.keyIds.length === 1 ? undefined : resealAll(store, { log, stopped: () => stopped });
  const idle = resealed?.catch((error: unknown) => log({ level: 'error', message: `re-encryption of secrets failed: ${String(error)}` }));
  const retention = days === undefined ? undefined : startAuditRetention(store.db, { days, now, log });
  return {
    async stop() {
      stopped = true;
      await Promise.all([idle, retention?.stop()]);
    },
  };
}

const resealBatchSize = 100;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Encrypts all texts of earlier keys with the current key, a hundred per transaction. Objects keep their versions. Logs whether
 * the earlier keys are still needed.
 */
async function resealAll(store: Store, { log, stopped }: { readonly log: Log; readonly stopped: () => boolean }): Promise<void> {
  let resealed = 0;
  let left = 0;
  for (const { table } of kindTables) {
    for (let after: string | undefined = firstId; after !== undefined;) {
      if (stopped()) return;
      const done: ResealedBatch = await resealBatch(store, table, after);
      resealed += done.resealed;
      left += done.unreadable.length;
      for (const place of done.unreadable) log({ level: 'warn', message: `cannot be decrypted and is kept unchanged: ${place}` });
      after = done.last;
    }
  }
  const outcome = left === 0 ? 'OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS is no longer needed' : `${left} need an earlier key`;
  log({ level: 'info', message: `re-encrypted ${resealed} secrets; ${outcome}` });
}

type ResealedBatch = { readonly resealed: number; readonly unreadable: readonly string[]; readonly last: string | undefined };

function resealBatch({ db, cipher }: Store, table: ObjectTable, after: string): Promise<ResealedBatch> {
  return inWriteLock(db, async (trx) => {
    const { rows } = await sql<{ readonly id: string; readonly sealed: string }>`
      select id, secrets as sealed from ${sql.table(table)} where secrets_key <> ${cipher.keyId} and id > ${after}::uuid
      order by id limit ${resealBatchSize}`.execute(trx);
    const unreadable: string[] = [];
    for (const row of rows) {
      const place = `${table}/${row.id}/secrets`;
      const text = tryOpen(() => cipher.open(row.sealed, place));
      if (text === undefined) unreadable.push(place);
      else
        await trx
          .updateTable(table)
          .set({ secrets: cipher.seal(text, place) })
          .where('id', '=', row.id)
          .execute();
    }
    return { resealed: rows.length - unreadable.length, unreadable, last: rows.length < resealBatchSize ? undefined : rows.at(-1)?.id };
  });
}

function tryOpen(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
