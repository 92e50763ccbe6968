import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import type { AppEnv } from '../http/request-context.ts';
import type { Log } from '../log.ts';
import { missingMigrations } from '../store/migrations.ts';
import { databaseUnavailableReason } from '../store/database-unavailable.ts';
import type { Store } from '../store/store.ts';
import type { WriteHealth } from './write-health.ts';

type HealthOptions = { readonly store: Store; readonly writes: WriteHealth; readonly closing: () => boolean; readonly log: Log };

// Health checks usually time out after seconds; a slower database is unavailable for callers, too.
const databaseTimeoutMs = 2000;

/** Serves `/healthz` (the process is alive) and `/readyz` (it can serve requests); neither needs a key. */
export function serveHealth(app: Hono<AppEnv>, { store, writes, closing, log }: HealthOptions): void {
  const missingNow = oneAtATime(() => missingMigrations(store.db));
  const writeProblem = oneAtATime(() => writes.problem());

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    if (closing()) return notReady(c, 'the server is stopping');
    const attempt = <T>(answer: Promise<T>): Promise<{ readonly value: T } | { readonly reason: string | undefined }> =>
      withTimeout(answer).then(
        (value) => ({ value }),
        (error: unknown) => {
          log({ level: 'error', message: `not ready: ${String(error)}`, requestId: c.get('requestId') });
          return { reason: databaseUnavailableReason(error) };
        },
      );
    const missing = await attempt(missingNow());
    if ('reason' in missing) return notReady(c, missing.reason ?? 'the database does not respond');
    if (missing.value.length > 0) return notReady(c, 'the database has another version');
    const written = await attempt(writeProblem());
    if ('reason' in written) return notReady(c, `writes fail: ${written.reason ?? 'the database refuses them or does not respond'}`);
    return written.value === undefined ? c.json({ status: 'ok' }) : notReady(c, `writes fail: ${written.value}`);
  });
}

/** Runs one check at a time: a database that hangs must not use a connection per request. */
function oneAtATime<T>(check: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= check().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

function notReady(c: Context<AppEnv>, message: string): Response {
  return c.json({ status: 'unavailable', message }, 503);
}

/** Rejects when an answer of the database takes longer than callers wait. */
export async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(databaseTimeoutMs, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`no response within ${databaseTimeoutMs} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([answer, late]).finally(() => over.abort());
}
