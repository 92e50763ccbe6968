import { accessRuleRoutes } from './access-rules.ts';
import { agentRoutes } from './agents.ts';
import { analyzerRuleRoutes } from './analyzer-rules.ts';
import { attributeRoutes } from './attributes.ts';
import { auditRoutes } from './audit.ts';
import { authConfigRoutes } from './auth-config.ts';
import type { Route } from './call.ts';
import { connectionRoutes } from './connections.ts';
import { eventSubscriptionRoutes } from './event-subscriptions.ts';
import { federationRoutes } from './federations.ts';
import { groupRoutes } from './groups.ts';
import { guardrailRoutes } from './guardrails.ts';
import { infoRoutes } from './info.ts';
import { issueTemplateRoutes } from './issue-templates.ts';
import { keyRoutes } from './keys.ts';
import { machineIdentityRoutes } from './machine-identities.ts';
import { maskingRoutes } from './maskings.ts';
import { organisationRoutes } from './organisation.ts';
import { pluginRoutes } from './plugins.ts';
import { resourceRoutes } from './resources.ts';
import { reviewRoutes } from './reviews.ts';
import { rulepackRoutes } from './rulepacks.ts';
import { runbookListingRoutes } from './runbook-listing.ts';
import { runbookRuleRoutes } from './runbook-rules.ts';
import { runbookRoutes } from './runbooks.ts';
import { searchRoutes } from './search.ts';
import { serviceAccountRoutes } from './service-accounts.ts';
import { sessionRoutes } from './sessions.ts';
import { spiffeMappingRoutes } from './spiffe-mappings.ts';
import { tagRoutes } from './tags.ts';
import { userRoutes } from './users.ts';

const routes: readonly Route[] = [
  ...infoRoutes,
  ...issueTemplateRoutes,
  ...connectionRoutes,
  ...tagRoutes,
  ...guardrailRoutes,
  ...maskingRoutes,
  ...attributeRoutes,
  ...runbookRoutes,
  ...runbookRuleRoutes,
  ...runbookListingRoutes,
  ...pluginRoutes,
  ...resourceRoutes,
  ...searchRoutes,
  ...reviewRoutes,
  ...sessionRoutes,
  ...agentRoutes,
  ...groupRoutes,
  ...userRoutes,
  ...keyRoutes,
  ...serviceAccountRoutes,
  ...spiffeMappingRoutes,
  ...authConfigRoutes,
  ...accessRuleRoutes,
  ...rulepackRoutes,
  ...analyzerRuleRoutes,
  ...machineIdentityRoutes,
  ...federationRoutes,
  ...eventSubscriptionRoutes,
  ...auditRoutes,
  ...organisationRoutes,
];

const table: readonly { readonly route: Route; readonly parts: readonly string[] }[] = routes.map((route) => ({
  route,
  parts: route.path.split('/'),
}));

export type MatchedRoute = { readonly route: Route; readonly params: Readonly<Record<string, string>> };

/** Finds the route of a decoded path, fixed segments before parameters; HEAD uses the routes of GET. */
export function matchRoute(method: string, path: string): MatchedRoute | undefined {
  const parts = path.split('/');
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = table
    .filter(({ route, parts: own }) => route.method === wanted && own.length === parts.length)
    .filter(({ parts: own }) => own.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index])))
    .toSorted((left, right) => parameters(left.parts) - parameters(right.parts))[0];
  if (found === undefined) return undefined;
  const named = found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), parts[index] ?? '']] : []));
  return { route: found.route, params: Object.fromEntries(named) };
}

function parameters(parts: readonly string[]): number {
  return parts.filter((part) => part.startsWith(':')).length;
}
