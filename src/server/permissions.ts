import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from './app-env.ts';
import type { Role } from './auth.ts';
import { Rejection } from './rejection.ts';
import { servedRoute, type ServedRoute } from './served-route.ts';

/** All roles. */
export const everyone: readonly Role[] = ['admin', 'auditor', 'standard'];

/** Whom a route lets in, where it is not what its method says: reads admins and auditors, writes admins. */
const exceptions: Readonly<Record<string, readonly Role[]>> = {
  'GET /serverinfo': everyone,
  'GET /userinfo': everyone,
  'GET /users/groups': everyone,
  'GET /agents': everyone,
  'GET /agents/:id': everyone,
  'GET /connections': everyone,
  'GET /connections/:id': everyone,
  'GET /resources': everyone,
  'GET /resources/:name': everyone,
  'GET /search': everyone,
  'GET /runbooks': everyone,
  'GET /plugins/runbooks/templates': everyone,
  // What a caller may see and do of a review depends on the review too.
  'GET /reviews': everyone,
  'GET /reviews/:id': everyone,
  'POST /reviews': everyone,
  'PUT /reviews/:id': everyone,
  'POST /reviews/:id/execution': everyone,
  'GET /api-keys': ['admin'],
  'GET /api-keys/:id': ['admin'],
  'GET /encryption-keys': ['admin'],
};

/** Answers 403 where the caller's role may not use the route. */
export const askPermission: MiddlewareHandler<AppEnv> = async (c, next) => {
  const route = servedRoute(c);
  const { role } = c.get('principal');
  if (route !== undefined && !rolesOf(route).includes(role)) {
    throw new Rejection(403, `access denied: the role ${role} may not ${c.req.method} ${route.path}`);
  }
  await next();
};

/** The roles that a route lets in. */
export function rolesOf({ method, path }: ServedRoute): readonly Role[] {
  return exceptions[`${method} ${path}`] ?? (method === 'GET' ? ['admin', 'auditor'] : ['admin']);
}
