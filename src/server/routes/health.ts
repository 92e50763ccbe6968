import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import type { AppEnv } from './request-context.ts';
import type { Log } from '../log.ts';
import { databaseUnavailableReason } from '../store/database-unavailable.ts';
import { isKeyKnown, type Store } from '../store/store.ts';

type HealthOptions = { readonly store: Store; readonly closing: () => boolean; readonly log: Log };

// Health checks usually time out after seconds; a slower database is unavailable for callers, too.
const databaseTimeoutMs = 2000;

/** Serves `/healthz` (the process is alive) and `/readyz` (it can serve requests); neither needs a key. */
export function serveHealth(app: Hono<AppEnv>, { store, closing, log }: HealthOptions): void {
  let pending: Promise<boolean> | undefined;
  // One check at a time: a database that hangs must not use a connection per request.
  const check = (): Promise<boolean> =>
    (pending ??= isKeyKnown(store).finally(() => {
      pending = undefined;
    }));

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    if (closing()) return notReady(c, 'the server is stopping');
    try {
      return (await withTimeout(check())) ? c.json({ status: 'ok' }) : notReady(c, 'the encryption key of this server is retired');
    } catch (error) {
      log({ level: 'error', message: `not ready: ${String(error)}`, requestId: c.get('requestId') });
      return notReady(c, databaseUnavailableReason(error) ?? 'the database does not respond');
    }
  });
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
