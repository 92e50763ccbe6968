import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import type { JsonObject } from '../../model/json.ts';
import { pageStyle, renderPage } from './document-page.ts';
import type { AppEnv, Log } from '../http/request-context.ts';
import { missingMigrations } from '../store/migrations.ts';
import type { Store } from '../store/store.ts';
import { exactObject, schemaRef, type ApiSection } from './api-section.ts';

type HealthOptions = { readonly store: Store; readonly closing: () => boolean; readonly log: Log };

// Health checks usually time out after seconds; a slower database is unavailable for callers, too.
const databaseTimeoutMs = 2000;

/** Serves `/healthz` (the process is alive) and `/readyz` (it can serve requests); neither needs a key. */
export function serveHealth(app: Hono<AppEnv>, { store, closing, log }: HealthOptions): void {
  // Runs one check at a time: a database that hangs must not use a connection per request.
  let pending: Promise<readonly string[]> | undefined;
  const missingNow = (): Promise<readonly string[]> => {
    pending ??= missingMigrations(store.db).finally(() => {
      pending = undefined;
    });
    return withTimeout(pending);
  };

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    if (closing()) return notReady(c, 'the server is stopping');
    const missing = await missingNow().catch((error: unknown) => {
      log({ level: 'error', message: `not ready: ${String(error)}`, requestId: c.get('requestId') });
      return undefined;
    });
    if (missing === undefined) return notReady(c, 'the database does not respond');
    return missing.length === 0 ? c.json({ status: 'ok' }) : notReady(c, 'the database has another version');
  });
}

function notReady(c: Context<AppEnv>, message: string): Response {
  return c.json({ status: 'unavailable', message }, 503);
}

async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(databaseTimeoutMs, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`no response within ${databaseTimeoutMs} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([answer, late]).finally(() => over.abort());
}

const styleHash = createHash('sha256').update(pageStyle).digest('base64');

/** Serves the API document as JSON and as a page. */
export function serveDocument(app: Hono<AppEnv>, document: JsonObject): void {
  const page = renderPage(document);
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  app.get('/openapi.json', (c) => c.json(document));
  app.get('/docs', (c) => c.html(page, 200, { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' }));
}

/** Describes the service itself. */
export const serviceSection: ApiSection = {
  name: 'Service',
  description: 'The gateway itself; not part of the interface.',
  schemas: {
    Health: exactObject({ status: { const: 'ok' } }),
    Unavailable: exactObject({ status: { const: 'unavailable' }, message: { type: 'string' } }),
    ServerInfo: exactObject({
      name: { const: 'ostiary' },
      version: { type: 'string' },
      role: { enum: ['admin', 'auditor', 'standard'], description: 'The role of the key.' },
      organisation: { type: 'string' },
      borrowed_fields: {
        type: 'array',
        items: { type: 'string' },
        description: 'Additional fields of this gateway that are not part of the interface, as KIND.FIELD.',
      },
      longest_access_duration: {
        type: 'integer',
        description: 'The maximum duration of access in seconds for connections without access_max_duration.',
      },
    }),
  },
  operations: [
    {
      method: 'get',
      path: '/serverinfo',
      id: 'readServerInfo',
      summary: 'Describe the gateway',
      responses: { 200: { description: 'Name, version, and the role of the key.', schema: schemaRef('ServerInfo') } },
    },
    {
      method: 'get',
      path: '/healthz',
      id: 'readHealth',
      summary: 'Check liveness',
      description: 'It does not use the database.',
      isPublic: true,
      responses: { 200: { description: 'The process is running.', schema: schemaRef('Health') } },
    },
    {
      method: 'get',
      path: '/readyz',
      id: 'readReadiness',
      summary: 'Check readiness',
      isPublic: true,
      responses: {
        200: { description: 'The database responds within two seconds and has the required version.', schema: schemaRef('Health') },
        503: { description: 'The database is not ready, or the server is stopping.', schema: schemaRef('Unavailable') },
      },
    },
    {
      method: 'get',
      path: '/openapi.json',
      id: 'readDocument',
      summary: 'Return the OpenAPI document',
      isPublic: true,
      responses: { 200: { description: 'This document: OpenAPI 3.1.', schema: { type: 'object' } } },
    },
    {
      method: 'get',
      path: '/docs',
      id: 'readPage',
      summary: 'Show the documentation',
      isPublic: true,
      responses: {
        200: { description: 'A page without scripts and external assets.', schema: { type: 'string' }, isHtml: true },
      },
    },
  ],
};
