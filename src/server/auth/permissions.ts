import type { MiddlewareHandler } from 'hono';
import type { Role } from './principal.ts';
import { Rejection } from '../http/rejection.ts';
import { type AppEnv, servedRoute, type ServedRoute } from '../http/request-context.ts';

/** All roles. */
export const allRoles: readonly Role[] = ['admin', 'auditor', 'standard'];

/** The roles of routes that deviate from the default: admins and auditors read, admins write. */
const exceptions: Readonly<Record<string, readonly Role[]>> = {
  'GET /serverinfo': allRoles,
  'GET /userinfo': allRoles,
  'GET /users/groups': allRoles,
  'GET /agents': allRoles,
  'GET /agents/:id': allRoles,
  'GET /connections': allRoles,
  'GET /connections/:id': allRoles,
  'GET /resources': allRoles,
  'GET /resources/:name': allRoles,
  'GET /search': allRoles,
  'GET /runbooks': allRoles,
  'GET /plugins/runbooks/templates': allRoles,
  // Reviews restrict each caller further, see `reviews/transitions.ts`.
  'GET /reviews': allRoles,
  'GET /reviews/:id': allRoles,
  'POST /reviews': allRoles,
  'PUT /reviews/:id': allRoles,
  'POST /reviews/:id/execution': allRoles,
  'GET /api-keys': ['admin'],
  'GET /api-keys/:id': ['admin'],
  'GET /encryption-keys': ['admin'],
};

/** Rejects a request with 403 when the role of the caller may not use the route. */
export const requirePermission: MiddlewareHandler<AppEnv> = async (c, next) => {
  const route = servedRoute(c);
  const { role } = c.get('principal');
  if (route !== undefined && !allowedRoles(route).includes(role)) {
    throw new Rejection(403, `access denied: the role ${role} may not ${c.req.method} ${route.path}`);
  }
  await next();
};

/** Returns the roles that may use a route. */
export function allowedRoles({ method, path }: ServedRoute): readonly Role[] {
  return exceptions[`${method} ${path}`] ?? (method === 'GET' ? ['admin', 'auditor'] : ['admin']);
}
