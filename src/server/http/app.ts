import { randomUUID } from 'node:crypto';
import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from 'hono';
import type { JsonObject } from '../../model/json.ts';
import type { Collection } from '../collections.ts';
import type { Log } from '../log.ts';
import type { HashedKey } from '../principal.ts';
import { Rejection } from '../rejection.ts';
import { agentSection } from '../routes/agents.openapi.ts';
import type { ApiSection } from '../routes/api-section.ts';
import { auditSection } from '../routes/audit.openapi.ts';
import { identitySection } from '../routes/identity.openapi.ts';
import { collectionSection } from '../routes/objects.openapi.ts';
import { describeApi } from '../routes/openapi-document.ts';
import { reportUndecryptable } from '../routes/report-undecryptable.ts';
import { type AppEnv, clientAddress, requestPath, servedRoute } from '../routes/request-context.ts';
import type { RequestMetrics } from '../routes/request-metrics.ts';
import { reviewSection } from '../routes/reviews.openapi.ts';
import { runbookSection } from '../routes/runbooks.openapi.ts';
import { searchSection } from '../routes/search.openapi.ts';
import { serveSection } from '../routes/serve-section.ts';
import { serviceSection } from '../routes/service.openapi.ts';
import type { RunbookLibrary } from '../rules/runbooks/runbook-library.ts';
import { Undecryptable } from '../secrets.ts';
import { databaseUnavailableReason } from '../store/database-unavailable.ts';
import type { Store } from '../store/store.ts';
import { auditWrites } from './audit-requests.ts';
import { authenticateRequest, behindKey, requirePermission } from './authenticate-request.ts';
import { answerConditionalReads } from './conditional-reads.ts';

type AppOptions = ObserveOptions & {
  readonly store: Store;
  readonly collections: readonly Collection[];
  readonly library: RunbookLibrary;
  readonly keys: readonly HashedKey[];
  readonly intercept?: MiddlewareHandler<AppEnv> | undefined;
  /** Searches runbooks; searches the library by default. */
  readonly searchRunbooks?: RunbookLibrary['search'] | undefined;
};

/** Creates the HTTP application: middleware, routes, and error responses. */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { log } = options;
  const app = new Hono<AppEnv>();
  app.onError(answerErrors(log));
  app.use(observeRequests(options), requireOneHost);
  if (options.intercept !== undefined) app.use(options.intercept);

  app.use(authenticateRequest(options));
  for (const guard of [auditWrites(options), requirePermission, answerConditionalReads]) app.use(behindKey(guard));
  const chapters = sectionsOf(options, () => document);
  const document = describeApi(chapters, options.version);
  for (const chapter of chapters) serveSection(app, chapter);
  refuseOtherMethods(app);
  app.notFound((c) => c.json({ message: `${c.req.method} ${c.req.path} is not a route of this gateway: /openapi.json lists them` }, 404));
  return app;
}

/** Refuses what a proxy may have read as a request to another host: Node drops all hosts but the first. */
const requireOneHost: MiddlewareHandler<AppEnv> = async (c, next) => {
  const hosts = c.env.incoming.rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (hosts.length > 1) throw new Rejection(400, 'the request has more than one Host header');
  await next();
};

/** Returns 405 with `Allow` for a path that is served with other methods. */
function refuseOtherMethods(app: Hono<AppEnv>): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of app.routes) {
    if (method !== 'ALL') methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  // A path without parameters first: `/agents/:id` is also the path of a heartbeat.
  const paths = [...methods].toSorted(([left], [right]) => Number(left.includes(':')) - Number(right.includes(':')));
  for (const [path, allowed] of paths) {
    app.all(path, (c) => {
      throw new Rejection(405, `${c.req.method} ${c.req.path} is not supported: use ${allowed.join(', ')}`, { Allow: allowed.join(', ') });
    });
  }
}

/** Lists all sections of the API, in the order of the document. */
function sectionsOf(options: AppOptions, document: () => JsonObject): readonly ApiSection[] {
  const { store, library, collections, searchRunbooks = library.search } = options;
  return [
    ...collections.map((collection) => collectionSection(collection, options)),
    reviewSection(store),
    runbookSection(library, store),
    searchSection({ ...options, searchRunbooks }),
    agentSection(store),
    identitySection(options),
    auditSection(store),
    serviceSection({ ...options, document }),
  ];
}

type ObserveOptions = {
  readonly version: string;
  readonly log: Log;
  readonly requests: RequestMetrics;
  /** Whether the server is shutting down; responses then close their connections. */
  readonly closing: () => boolean;
  /** Whether the last address in `X-Forwarded-For` is the address of the caller. */
  readonly trustProxy: boolean;
};

/** Headers of every response: no sniffing, caching, referrer or framing. */
const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

// A database that restarts is back in seconds.
const retryAfterSeconds = 5;

/** Gives every request an id, adds the common headers to its response, and logs both without query, headers and body. */
function observeRequests(options: ObserveOptions): MiddlewareHandler<AppEnv> {
  const { version, closing } = options;
  return async (c, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    c.set('requestId', requestId);
    // `c.header` would copy the response for each header. What a response sets itself comes later and wins.
    const { outgoing } = c.env;
    const common = { ...securityHeaders, Server: `ostiary/${version}`, 'X-Request-Id': requestId };
    for (const [name, value] of Object.entries(common)) outgoing.setHeader(name, value);
    await next();
    if (closing()) outgoing.setHeader('Connection', 'close');
    const tookMs = performance.now() - started;
    options.requests.count({ method: c.req.method, route: servedRoute(c)?.path, status: c.res.status });
    logRequest(c, options, tookMs);
  };
}

function logRequest(c: Context<AppEnv>, { log, trustProxy }: ObserveOptions, tookMs: number): void {
  const { method } = c.req;
  const path = escapeUnprintable(requestPath(c));
  const { status } = c.res;
  const ms = Number(tookMs.toFixed(1));
  const address = clientAddress(c.env.incoming, trustProxy);
  const details = { method, path, status, ms, who: c.get('callerName') ?? null, address };
  log({ level: 'info', message: `${method} ${path} ${status} ${tookMs.toFixed(1)}ms`, requestId: c.get('requestId'), details });
}

/** Escapes characters that a terminal would interpret, in the way that paths escape them. */
function escapeUnprintable(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e]/gu, (character) => encodeURIComponent(character));
}

/** Turns errors into responses: a rejection as it says, 503 while the database is unavailable, otherwise 500. Only the log gets details. */
function answerErrors(log: Log): ErrorHandler<AppEnv> {
  return (error, c) => {
    if (error instanceof Rejection) {
      for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
      const errors = error.problems.length > 0 ? { errors: error.problems } : {};
      return c.json({ message: error.message, ...errors }, error.status);
    }
    const requestId = c.get('requestId');
    if (error instanceof Undecryptable) {
      reportUndecryptable(c, log, [error]);
      return c.json({ message: error.message, request_id: requestId }, 500);
    }
    const unavailable = databaseUnavailableReason(error);
    const message = unavailable ?? 'internal error';
    // Where the database is unavailable, its words say why, not where our code was.
    const stack = unavailable === undefined ? (error.stack ?? error.message) : error.message;
    log({ level: 'error', message, requestId, details: { stack } });
    if (unavailable !== undefined) c.header('Retry-After', String(retryAfterSeconds));
    return c.json({ message, request_id: requestId }, unavailable === undefined ? 500 : 503);
  };
}
