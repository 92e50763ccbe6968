import { createServer, type Server, type ServerOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../../model/errors.ts';
import type { Registry } from '../../model/kind.ts';
import { registerAgents } from '../agents/agents.ts';
import { createApp } from '../app.ts';
import { hasAdminKey } from '../auth/api-keys.ts';
import { environmentKeys } from '../auth/principal.ts';
import type { Chaos } from '../http/chaos.ts';
import { startBackgroundJobs } from './background-jobs.ts';
import { collectionsOf, type Collection } from '../collections.ts';
import type { DatabaseOptions } from '../store/database.ts';
import type { Log } from './log.ts';
import { openStore, type OpenStore, type StoreOptions } from '../store/store.ts';
import { createRunbookLibrary, type RunbookSource } from '../runbooks/runbook-library.ts';
import type { RunbookSearch } from '../search/search-routes.ts';
import { answerMalformedUrls, rejectMalformedRequests } from './malformed-requests.ts';

export type ServeOptions = {
  readonly database: DatabaseOptions;
  /** Makes the folder of a database, and those that it lies in, where it is not there. */
  readonly makeFolder: StoreOptions['makeFolder'];
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly registry: Registry;
  /** The key of an admin whose objects nobody manages; without it the database must have an admin's key. */
  readonly adminKey?: string | undefined;
  /** A key whose objects carry `managed_by`. */
  readonly managerKey?: { readonly key: string; readonly manager: string };
  /** Agents to register; `default` unless given. */
  readonly agents?: readonly string[];
  /** 32 bytes, also as base64 or hex; PostgreSQL needs one, a folder keeps its own. */
  readonly encryptionKey?: Buffer | string;
  /** Keys that secrets may still be sealed with, separated by commas; all is sealed anew in the background. */
  readonly previousEncryptionKeys?: string | undefined;
  readonly now: () => Date;
  /** How many days an entry of the audit log stays; left out: for good. */
  readonly auditKeepDays?: number | undefined;
  /** A proxy of ours stands before the gateway, and tells in `X-Forwarded-For` where requests come from. */
  readonly trustProxy?: boolean;
  readonly log: Log;
  readonly version: string;
  /** How long slow callers are waited for. */
  readonly timeouts?: Partial<RequestTimeouts>;
  /** For so long after `close` callers are still served, while `/readyz` sends new ones elsewhere; 0 unless given. */
  readonly drainMs?: number;
  /** For tests: makes requests fail. */
  readonly chaos?: Chaos | undefined;
  /** For tests: lets configurations of runbooks name repositories on the disk of the server. */
  readonly localRepositories?: boolean;
  /** How repositories of runbooks are read; left out: they are not. */
  readonly runbooks?: RunbookSource;
  /** Finds what is in `runbooks` unless given. */
  readonly searchRunbooks?: RunbookSearch;
};

/** Milliseconds that a request line with its headers, a whole request, and the next request of a connection may take. */
export type RequestTimeouts = { readonly headers: number; readonly request: number; readonly keepAlive: number };

/** A gateway that answers at `url`; `close` finishes what is in flight, then closes the database. */
export type RunningServer = {
  readonly url: string;
  /** Everything it serves, as `GET /connections/:id`. */
  readonly routes: readonly string[];
  readonly close: () => Promise<void>;
};

// A request that is still not finished then is cut off.
const closeTimeoutMs = 10_000;
// Connections are kept longer than the minute after which proxies usually drop theirs.
const defaultTimeouts: RequestTimeouts = { headers: 10_000, request: 60_000, keepAlive: 65_000 };

/** Starts the gateway; when this returns, it answers. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const keys = environmentKeys(options);
  const collections = collectionsOf(options.registry, options);
  const opened = await openStore(options);
  const { store } = opened;
  try {
    if (options.adminKey === undefined && !(await hasAdminKey(store.db))) throw noKeyError();
    await registerAgents(store.db, options.agents ?? ['default'], options.now());
    const library = createRunbookLibrary({ ...options, store, collection: runbookConfigurations(collections) });
    let closing = false;
    const trustProxy = options.trustProxy ?? false;
    const app = createApp({ ...options, store, library, collections, keys, trustProxy, closing: () => closing });
    const server = createServer(
      serverOptions({ ...defaultTimeouts, ...options.timeouts }),
      getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: answerMalformedUrls(options.log) }),
    );
    rejectMalformedRequests(server, options.log);
    const url = await listen(server, options.host ?? '127.0.0.1', options.port);
    const chores = startBackgroundJobs(store, options);
    let closed: Promise<void> | undefined;
    return {
      url,
      routes: [...new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))],
      close: () => {
        closing = true;
        closed ??= stopServer(server, { opened, chores, runbooks: options.runbooks, drainMs: options.drainMs ?? 0 });
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

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const reason = isTaken ? 'another program listens there' : error.message;
      const hint = isTaken ? 'stop that one, or take another --port (0 picks a free one)' : 'check --host and --port';
      reject(new AppError('serve/port', 3, `cannot listen on ${host}:${port}: ${reason}`, { cause: error, hint }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

/** Half-sent requests are looked for as often as the shortest of them may take. */
function serverOptions({ headers, request, keepAlive }: RequestTimeouts): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: Math.min(headers, request, 5000),
  };
}

type StopOptions = {
  readonly opened: OpenStore;
  readonly chores: { readonly stop: () => Promise<void> };
  readonly runbooks: RunbookSource | undefined;
  readonly drainMs: number;
};

async function stopServer(server: Server, { opened, chores, runbooks, drainMs }: StopOptions): Promise<void> {
  if (drainMs > 0) await delay(drainMs);
  // Who waits for a repository is answered without it.
  await runbooks?.close?.();
  const cutOff = setTimeout(() => server.closeAllConnections(), closeTimeoutMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cutOff);
  await chores.stop();
  await opened.close();
}

function noKeyError(): AppError {
  return new AppError('serve/no-key', 3, 'nobody has a key to this gateway', {
    hint: 'make the first one with: ostiary serve --init, or set OSTIARY_SERVE_KEY',
  });
}
