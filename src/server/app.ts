import { Hono } from 'hono';
import { serveAgents, serveHeartbeat } from './agent-routes.ts';
import { chaptersOf } from './api/chapters.ts';
import { describeApi } from './api/document.ts';
import { serveDocument } from './api/serve-document.ts';
import { serveApiKeys } from './api-key-routes.ts';
import type { AppEnv } from './app-env.ts';
import { auditWrites } from './audit-requests.ts';
import { serveAuditLog } from './audit-routes.ts';
import type { KnownKey } from './auth.ts';
import { causeChaos, refuseChaos, type Chaos } from './chaos.ts';
import type { Collection } from './collections.ts';
import { serveEncryptionKeys } from './encryption-routes.ts';
import { serveHealth } from './health.ts';
import { serveIdentity } from './identity-routes.ts';
import { letIn } from './let-in.ts';
import { answerErrors, observe, type ObserveOptions } from './observe.ts';
import { askPermission } from './permissions.ts';
import type { Store } from './reader.ts';
import { Rejection } from './rejection.ts';
import { serveResources } from './resource-routes.ts';
import { serveReviews } from './reviews/routes.ts';
import { serveCollection } from './routes.ts';
import type { Library } from './runbooks/library.ts';
import { serveRunbooks } from './runbooks/runbook-routes.ts';
import { serveSearch, type RunbookSearch } from './search.ts';

export type AppParts = ObserveOptions & {
  readonly store: Store;
  readonly collections: readonly Collection[];
  readonly library: Library;
  readonly keys: readonly KnownKey[];
  readonly now: () => Date;
  readonly chaos?: Chaos | undefined;
  /** Finds what the library finds unless given. */
  readonly searchRunbooks?: RunbookSearch | undefined;
};

/** Puts the gateway together: who is let in, which routes there are, how errors are answered. */
export function createApp(parts: AppParts): Hono<AppEnv> {
  const { log } = parts;
  const app = new Hono<AppEnv>();
  app.onError(answerErrors(log));
  app.use(observe(parts));
  app.use(parts.chaos === undefined ? refuseChaos : causeChaos(parts.chaos));

  serveHealth(app, parts);
  serveDocument(app, describeApi(chaptersOf(parts.collections), parts.version));
  serveHeartbeat(app, parts);
  app.use(letIn(parts), auditWrites(parts), askPermission);
  serveIdentity(app, parts);
  serveApiKeys(app, parts);
  serveAuditLog(app, parts);
  serveEncryptionKeys(app, parts);
  serveAgents(app, parts);
  serveResources(app, parts);
  serveSearch(app, { ...parts, searchRunbooks: parts.searchRunbooks ?? parts.library.search });
  for (const collection of parts.collections) serveCollection(app, collection, parts);
  serveRunbooks(app, parts.library, parts.store);
  serveReviews(app, parts);
  refuseOtherMethods(app);
  app.notFound((c) => c.json({ message: 'there is no such route' }, 404));
  return app;
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
