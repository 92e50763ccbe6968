import type { Hono } from 'hono';
import { sql } from 'kysely';
import { aliveSince } from '../rules/agents.ts';
import { metricsContentType } from './openapi-document.ts';
import type { AppEnv } from './request-context.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { withTimeout } from './health.ts';
import { type Metric, metricsText, type RequestMetrics } from './request-metrics.ts';

type MetricsOptions = {
  readonly store: Store;
  readonly requests: RequestMetrics;
  readonly now: () => Date;
  readonly log: Log;
};

/** Serves `/metrics` for Prometheus. A value that cannot be read is left out: a number would be wrong. */
export function serveMetrics(app: Hono<AppEnv>, { store, requests, now, log }: MetricsOptions): void {
  app.get('/metrics', async (c) => {
    const counted = await withTimeout(countRows(store, now())).catch((error: unknown) => {
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
  });
}

function gauge(name: string, help: string, value: number | undefined): Metric {
  return { name, help, type: 'gauge', samples: value === undefined ? [] : [{ value }] };
}

async function countRows({ db }: Store, now: Date): Promise<{ readonly reviews: number; readonly agents: number } | undefined> {
  const { rows } = await sql<{ readonly reviews: number; readonly agents: number }>`
    select (select count(*) from reviews where status = 'PENDING')::integer as reviews,
      (select count(*) from agents where last_seen > ${aliveSince(now)})::integer as agents`.execute(db);
  return rows[0];
}
