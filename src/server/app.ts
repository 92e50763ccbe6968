import { Hono } from 'hono';
import { serveAgents, serveHeartbeat } from './agents/agent-routes.ts';
import { agentSection } from './agents/agents.openapi.ts';
import type { ApiSection } from './api/api-section.ts';
import { describeApi } from './api/openapi-document.ts';
import { serveDocument, serveHealth, serviceSection } from './api/service-routes.ts';
import { auditWrites } from './audit/audit-requests.ts';
import { serveAuditLog, serveEncryptionKeys } from './audit/audit-routes.ts';
import { auditSection } from './audit/audit.openapi.ts';
import { authenticateRequest } from './auth/authenticate-request.ts';
import { serveApiKeys, serveIdentity } from './auth/identity-routes.ts';
import { identitySection } from './auth/identity.openapi.ts';
import { requirePermission } from './auth/permissions.ts';
import type { HashedKey } from './auth/principal.ts';
import type { Collection } from './collections.ts';
import { type Chaos, injectChaos, rejectChaos } from './http/chaos.ts';
import { answerErrors, type ObserveOptions, observeRequests } from './http/observe-requests.ts';
import { Rejection } from './http/rejection.ts';
import type { AppEnv } from './http/request-context.ts';
import { serveCollection } from './objects/object-routes.ts';
import { collectionSection } from './objects/objects.openapi.ts';
import { serveResources } from './resources/resource-routes.ts';
import { resourceSection } from './resources/resources.openapi.ts';
import { serveReviews } from './reviews/review-routes.ts';
import { reviewSection } from './reviews/reviews.openapi.ts';
import type { RunbookLibrary } from './runbooks/runbook-library.ts';
import { serveRunbooks, runbookSection } from './runbooks/runbooks.openapi.ts';
import { type RunbookSearch, serveSearch, searchSection } from './search/search-routes.ts';
import type { Store } from './store/store.ts';

export type AppOptions = ObserveOptions & {
  readonly store: Store;
  readonly collections: readonly Collection[];
  readonly library: RunbookLibrary;
  readonly keys: readonly HashedKey[];
  readonly now: () => Date;
  readonly chaos?: Chaos | undefined;
  /** Searches runbooks; searches the library by default. */
  readonly searchRunbooks?: RunbookSearch | undefined;
};

/** Creates the HTTP application: middleware, routes, and error responses. */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { log } = options;
  const app = new Hono<AppEnv>();
  app.onError(answerErrors(log));
  app.use(observeRequests(options));
  app.use(options.chaos === undefined ? rejectChaos : injectChaos(options.chaos));

  serveHealth(app, options);
  serveDocument(app, describeApi(apiSections(options.collections), options.version));
  serveHeartbeat(app, options);
  app.use(authenticateRequest(options), auditWrites(options), requirePermission);
  serveIdentity(app, options);
  serveApiKeys(app, options);
  serveAuditLog(app, options);
  serveEncryptionKeys(app, options);
  serveAgents(app, options);
  serveResources(app, options);
  serveSearch(app, { ...options, searchRunbooks: options.searchRunbooks ?? options.library.search });
  for (const collection of options.collections) serveCollection(app, collection, options);
  serveRunbooks(app, options.library, options.store);
  serveReviews(app, options);
  refuseOtherMethods(app);
  app.notFound((c) => c.json({ message: 'there is no such route' }, 404));
  return app;
}

/** Returns 405 with `Allow` for a path that is served with other methods. */
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

/** Lists all sections of the API document, in the order of the document. */
export function apiSections(collections: readonly Collection[]): readonly ApiSection[] {
  return [
    ...collections.map((collection) => collectionSection(collection)),
    resourceSection,
    reviewSection,
    runbookSection,
    searchSection,
    agentSection,
    identitySection,
    auditSection,
    serviceSection,
  ];
}
