import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'hono';
import { sql } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import type { Collection } from '../collections.ts';
import type { Log } from '../log.ts';
import { aliveSince } from '../rules/agents.ts';
import { longestAccessSeconds } from '../rules/review-store.ts';
import { databaseUnavailableReason } from '../store/database-unavailable.ts';
import { isKeyKnown, type Store } from '../store/store.ts';
import { type ApiSection, exactObject } from './api-section.ts';
import type { AppEnv } from './request-context.ts';
import { type Metric, metricsText, type RequestMetrics } from './request-metrics.ts';

type ServiceOptions = {
  readonly store: Store;
  readonly collections: readonly Collection[];
  readonly requests: RequestMetrics;
  /** Whether the server is shutting down. */
  readonly closing: () => boolean;
  readonly log: Log;
  readonly version: string;
  /** The API document. */
  readonly document: () => JsonObject;
};

// Health checks usually time out after seconds; a slower database is unavailable for callers, too.
const databaseTimeoutMs = 2000;
const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Describes and serves the service itself: who it is, whether the process is alive and can serve requests, its metrics for Prometheus, and its document. */
export function serviceSection({ store, collections, requests, closing, log, version, document }: ServiceOptions): ApiSection {
  const isReady = checkOneAtATime(() => isKeyKnown(store));
  const borrowed = collections.flatMap(({ kind, fields }) =>
    fields.flatMap((field) => (field.borrowed === undefined ? [] : [`${kind.name}.${field.name}`])),
  );
  return {
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
        route: 'GET /serverinfo',
        id: 'readServerInfo',
        summary: 'Describe the gateway',
        answer: [200, 'Name, version, and the role of the key.', 'ServerInfo'],
        async serve(c) {
          const { role } = c.get('principal');
          const own = { organisation: 'default', borrowed_fields: borrowed, longest_access_duration: longestAccessSeconds };
          return { json: { name: 'ostiary', version, role, ...own } };
        },
      },
      {
        route: 'GET /healthz',
        id: 'readHealth',
        summary: 'Check liveness',
        description: 'It does not use the database.',
        answer: [200, 'The process is running.', 'Health'],
        serve: async () => ({ json: { status: 'ok' } }),
      },
      {
        route: 'GET /readyz',
        id: 'readReadiness',
        summary: 'Check readiness',
        answer: [200, 'The database answers within two seconds, and accepts the encryption key of this server.', 'Health'],
        otherAnswer: [503, 'The database does not answer, the encryption key is retired, or the server is stopping.', 'Unavailable'],
        async serve(c) {
          if (closing()) return notReady(c, 'the server is stopping');
          try {
            return (await isReady()) ? { json: { status: 'ok' } } : notReady(c, 'the encryption key of this server is retired');
          } catch (error) {
            log({ level: 'error', message: `not ready: ${String(error)}`, requestId: c.get('requestId') });
            return notReady(c, databaseUnavailableReason(error) ?? 'the database does not respond');
          }
        },
      },
      {
        route: 'GET /metrics',
        id: 'readMetrics',
        summary: 'Read metrics',
        description: `In the text format of Prometheus: requests on this server since its start, by route and status; reviews that wait, and
agents that are online. What the database does not answer is left out, and \`ostiary_database_up\` is 0.`,
        answer: [200, 'The metrics.', { type: 'string' }],
        contentType: metricsContentType,
        async serve(c) {
          const counted = await withTimeout(countRows(store)).catch((error: unknown) => {
            log({ level: 'error', message: `metrics of the database cannot be read: ${String(error)}`, requestId: c.get('requestId') });
            return undefined;
          });
          const metrics = [
            ...requests.metrics(),
            gauge('ostiary_database_up', 'Whether the database answers.', counted === undefined ? 0 : 1),
            gauge('ostiary_reviews_waiting', 'Reviews that wait for a decision.', counted?.reviews),
            gauge('ostiary_agents_online', 'Agents with a heartbeat in the last minute.', counted?.agents),
          ];
          return c.body(metricsText(metrics), 200, { 'Content-Type': metricsContentType });
        },
      },
      {
        route: 'GET /openapi.json',
        id: 'readDocument',
        summary: 'Return the OpenAPI document',
        answer: [200, 'This document: OpenAPI 3.1.', { type: 'object' }],
        serve: async () => ({ json: document() }),
      },
    ],
  };
}

/** Runs one check at a time: a database that hangs must not use a connection per request. */
function checkOneAtATime(check: () => Promise<boolean>): () => Promise<boolean> {
  let pending: Promise<boolean> | undefined;
  return () =>
    withTimeout(
      (pending ??= check().finally(() => {
        pending = undefined;
      })),
    );
}

function notReady(c: Context<AppEnv>, message: string): Response {
  return c.json({ status: 'unavailable', message }, 503);
}

/** Rejects when an answer of the database takes longer than callers wait. */
async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(databaseTimeoutMs, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`no response within ${databaseTimeoutMs} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([answer, late]).finally(() => over.abort());
}

function gauge(name: string, help: string, value: number | undefined): Metric {
  return { name, help, type: 'gauge', samples: value === undefined ? [] : [{ value }] };
}

async function countRows({ db, now }: Store): Promise<{ readonly reviews: number; readonly agents: number } | undefined> {
  const { rows } = await sql<{ readonly reviews: number; readonly agents: number }>`
    select (select count(*) from reviews where status = 'PENDING')::integer as reviews,
      (select count(*) from agents where last_seen > ${aliveSince(now())})::integer as agents`.execute(db);
  return rows[0];
}
