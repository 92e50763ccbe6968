import { Hono, type MiddlewareHandler } from 'hono';
import { sql } from 'kysely';
import { listAgents } from './agents.ts';
import type { AppEnv } from './app-env.ts';
import { authenticate, presentedKey, type KnownKey } from './auth.ts';
import { causeChaos, type Chaos } from './chaos.ts';
import type { Collection } from './collections.ts';
import { answerErrors, observe, type ObserveOptions } from './observe.ts';
import type { Store } from './reader.ts';
import { Rejection } from './rejection.ts';
import { serveReviews } from './reviews/routes.ts';
import { serveCollection } from './routes.ts';

export type AppParts = ObserveOptions & {
  readonly store: Store;
  readonly collections: readonly Collection[];
  readonly keys: readonly KnownKey[];
  readonly now: () => Date;
  readonly chaos?: Chaos | undefined;
};

/** Puts the gateway together: who is let in, which routes there are, how errors are answered. */
export function createApp(parts: AppParts): Hono<AppEnv> {
  const { store, keys, log, version } = parts;
  const app = new Hono<AppEnv>();
  app.onError(answerErrors(log));
  app.use(observe(parts));
  if (parts.chaos !== undefined) app.use(causeChaos(parts.chaos));

  app.get('/healthz', async (c) => {
    await sql`select 1`.execute(store.db);
    return c.json({ status: 'ok' });
  });
  app.use(letIn(keys));
  app.get('/serverinfo', (c) => c.json({ name: 'ostiary', version, role: c.get('principal').role, organisation: 'default' }));
  app.get('/agents', async (c) => c.json(await listAgents(store.db)));
  for (const collection of parts.collections) serveCollection(app, collection, parts);
  serveReviews(app, parts);
  refuseOtherMethods(app);
  app.notFound((c) => c.json({ message: 'there is no such route' }, 404));
  return app;
}

function letIn(keys: readonly KnownKey[]): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const challenge = { 'WWW-Authenticate': 'Bearer' };
    const key = presentedKey(c.req.header('Authorization'), c.req.header('Api-Key'));
    if (key === undefined) throw new Rejection(401, 'a key is needed: Authorization: Bearer KEY, or Api-Key: KEY', challenge);
    const principal = authenticate(key, keys);
    if (principal === undefined) throw new Rejection(401, 'the key is unknown', challenge);
    c.set('principal', principal);
    await next();
  };
}

/** Answers 405 with `Allow` wherever a path is served, but not with the method. */
function refuseOtherMethods(app: Hono<AppEnv>): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of app.routes) {
    if (method !== 'ALL') methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  for (const [path, allowed] of methods) {
    app.all(path, (c) => {
      throw new Rejection(405, `${c.req.method} is not served here`, { Allow: allowed.join(', ') });
    });
  }
}
