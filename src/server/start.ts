import { createServer, type Server, type ServerOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../model/errors.ts';
import type { Registry } from '../model/kind.ts';
import { registerAgents } from './agents.ts';
import { createApp } from './app.ts';
import { hasAdminKey } from './api-keys.ts';
import { knownKeys } from './auth.ts';
import type { Chaos } from './chaos.ts';
import { startChores } from './chores.ts';
import { collectionsOf, type Collection } from './collections.ts';
import type { DatabaseOptions } from './database.ts';
import type { Log } from './log.ts';
import { openStore, type OpenStore, type StoreOptions } from './open-store.ts';
import { createLibrary, type RunbookSource } from './runbooks/library.ts';
import type { RunbookSearch } from './search.ts';
import { answerUnreadable, refuseUnreadable } from './unreadable.ts';

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
  readonly timeouts?: Partial<Timeouts>;
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
export type Timeouts = { readonly headers: number; readonly request: number; readonly keepAlive: number };

/** A gateway that answers at `url`; `close` finishes what is in flight, then closes the database. */
export type RunningServer = {
  readonly url: string;
  /** Everything it serves, as `GET /connections/:id`. */
  readonly routes: readonly string[];
  readonly close: () => Promise<void>;
};

// A request that is still not finished then is cut off.
const patience = 10_000;
// Connections are kept longer than the minute after which proxies usually drop theirs.
const usualTimeouts: Timeouts = { headers: 10_000, request: 60_000, keepAlive: 65_000 };

/** Starts the gateway; when this returns, it answers. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const keys = knownKeys(options);
  const collections = collectionsOf(options.registry, options);
  const opened = await openStore(options);
  const { store } = opened;
  try {
    if (options.adminKey === undefined && !(await hasAdminKey(store.db))) throw noKey();
    await registerAgents(store.db, options.agents ?? ['default'], options.now());
    const library = createLibrary({ ...options, store, collection: configurationsOf(collections) });
    let closing = false;
    const trustProxy = options.trustProxy ?? false;
    const app = createApp({ ...options, store, library, collections, keys, trustProxy, closing: () => closing });
    const server = createServer(
      serverOptions({ ...usualTimeouts, ...options.timeouts }),
      getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: answerUnreadable(options.log) }),
    );
    refuseUnreadable(server, options.log);
    const url = await listen(server, options.host ?? '127.0.0.1', options.port);
    const chores = startChores(store, options);
    let closed: Promise<void> | undefined;
    return {
      url,
      routes: [...new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))],
      close: () => {
        closing = true;
        closed ??= stop(server, { opened, chores, runbooks: options.runbooks, drainMs: options.drainMs ?? 0 });
        return closed;
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function configurationsOf(collections: readonly Collection[]): Collection {
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
function serverOptions({ headers, request, keepAlive }: Timeouts): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: Math.min(headers, request, 5000),
  };
}

type Stopping = {
  readonly opened: OpenStore;
  readonly chores: { readonly stop: () => Promise<void> };
  readonly runbooks: RunbookSource | undefined;
  readonly drainMs: number;
};

async function stop(server: Server, { opened, chores, runbooks, drainMs }: Stopping): Promise<void> {
  if (drainMs > 0) await delay(drainMs);
  // Who waits for a repository is answered without it.
  await runbooks?.close?.();
  const cutOff = setTimeout(() => server.closeAllConnections(), patience);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cutOff);
  await chores.stop();
  await opened.close();
}

function noKey(): AppError {
  return new AppError('serve/no-key', 3, 'nobody has a key to this gateway', {
    hint: 'make the first one with: ostiary serve --init, or set OSTIARY_SERVE_KEY',
  });
}
