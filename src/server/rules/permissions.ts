import type { Role } from '../principal.ts';

/** Who may use a route: callers with a key of one of these roles, agents with their token, or callers without a key. */
type RouteAccess = readonly Role[] | 'agent' | 'anyone';

/** A route as it is registered: `GET` `/connections/:id`. */
export type ServedRoute = { readonly method: string; readonly path: string };

const allRoles: readonly Role[] = ['admin', 'auditor', 'standard'];

/** The routes that deviate from the default: admins and auditors read, admins write. */
const exceptions: Readonly<Record<string, RouteAccess>> = {
  'GET /healthz': 'anyone',
  'GET /readyz': 'anyone',
  'GET /openapi.json': 'anyone',
  'POST /agents/heartbeat': 'agent',
  'GET /serverinfo': allRoles,
  'GET /userinfo': allRoles,
  'GET /users/groups': allRoles,
  'GET /agents': allRoles,
  'GET /agents/:id': allRoles,
  'GET /connections': allRoles,
  'GET /connections/:id': allRoles,
  'GET /resources': allRoles,
  'GET /resources/:id': allRoles,
  'GET /search': allRoles,
  'GET /plugins/runbooks/templates': allRoles,
  // Reviews restrict each caller further, see `transitions.ts`.
  'GET /reviews': allRoles,
  'GET /reviews/:id': allRoles,
  'GET /sessions/:id': allRoles,
  'POST /reviews': allRoles,
  'PUT /reviews/:id': allRoles,
  'GET /api-keys': ['admin'],
  'GET /api-keys/:id': ['admin'],
};

/** Returns who may use a route. */
export function accessTo({ method, path }: ServedRoute): RouteAccess {
  return exceptions[`${method} ${path}`] ?? (method === 'GET' ? ['admin', 'auditor'] : ['admin']);
}

/** Returns the roles that may use a route; undefined when every role may, or none is needed. */
export function restrictedRoles(route: ServedRoute): readonly Role[] | undefined {
  const access = accessTo(route);
  return typeof access === 'string' || access.length === allRoles.length ? undefined : access;
}
