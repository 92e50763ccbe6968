import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import type { AppEnv } from './app-env.ts';
import type { Log } from './log.ts';
import { missingMigrations } from './migrations.ts';
import type { Store } from './reader.ts';

type Parts = { readonly store: Store; readonly closing: () => boolean; readonly log: Log };

// Who asks gives up after seconds; a database that is slower than this is not there for callers either.
const patience = 2000;

/** Serves `/healthz` (the process is alive) and `/readyz` (it can serve callers now); neither needs a key. */
export function serveHealth(app: Hono<AppEnv>, { store, closing, log }: Parts): void {
  // One question at a time: a database that hangs must not take a connection for each who asks.
  let asked: Promise<readonly string[]> | undefined;
  const missingNow = (): Promise<readonly string[]> => {
    asked ??= missingMigrations(store.db).finally(() => {
      asked = undefined;
    });
    return withinPatience(asked);
  };

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    if (closing()) return unready(c, 'the server is stopping');
    const missing = await missingNow().catch((error: unknown) => {
      log({ level: 'error', message: `not ready: ${String(error)}`, requestId: c.get('requestId') });
      return undefined;
    });
    if (missing === undefined) return unready(c, 'the database does not answer');
    return missing.length === 0 ? c.json({ status: 'ok' }) : unready(c, 'the database is not of this version');
  });
}

function unready(c: Context<AppEnv>, message: string): Response {
  return c.json({ status: 'unavailable', message }, 503);
}

async function withinPatience<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(patience, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`no answer in ${patience} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([answer, late]).finally(() => over.abort());
}
