import type { Context, MiddlewareHandler } from 'hono';
import { findAgentByToken } from '../rules/agents.ts';
import { createFailedLoginCounter } from '../rules/failed-logins.ts';
import { findKeyHolder } from '../rules/api-keys.ts';
import { findPrincipal, type HashedKey, keyFromHeaders } from '../principal.ts';
import { Rejection } from '../rejection.ts';
import { type AppEnv, clientAddress, servedRoute } from '../routes/request-context.ts';
import { accessTo } from '../rules/permissions.ts';
import type { Store } from '../store/store.ts';

/** Counts a failed login of the caller and returns its rejection: 401 with the reason, or 429 when there were too many. */
type RejectLogin = (c: Context<AppEnv>, reason: string) => Rejection;

type AuthenticationOptions = {
  readonly store: Store;
  /** The keys of the environment. */
  readonly keys: readonly HashedKey[];
  readonly trustProxy: boolean;
};

/** Creates the one counter of a server for every kind of failed login: without a key, with a wrong key, and with a wrong agent token. */
function createLoginRejection({ store: { now }, trustProxy }: AuthenticationOptions): RejectLogin {
  const countFailedLogin = createFailedLoginCounter();
  return (c, reason) => {
    const waitSeconds = countFailedLogin(clientAddress(c.env.incoming, trustProxy), now());
    return waitSeconds > 0
      ? new Rejection(429, 'too many requests without a valid key from this address', { 'Retry-After': String(waitSeconds) })
      : new Rejection(401, reason, { 'WWW-Authenticate': 'Bearer' });
  };
}

/** Requires a valid key, or the token of an agent, where the route needs one. The limit on failed attempts never rejects a valid key. */
export function authenticateRequest(options: AuthenticationOptions): MiddlewareHandler<AppEnv> {
  const { store, keys } = options;
  const rejectLogin = createLoginRejection(options);
  return async (c, next) => {
    const route = servedRoute(c);
    const access = route === undefined ? undefined : accessTo(route);
    if (access === 'anyone') return next();
    if (access === 'agent') {
      const token = keyFromHeaders(c.req.header('Authorization'), undefined);
      if (token === undefined) throw rejectLogin(c, 'missing agent token: send Authorization: Bearer TOKEN');
      const agent = await findAgentByToken(store.db, token);
      if (agent === undefined) throw rejectLogin(c, 'unknown agent token');
      c.set('agent', agent);
      c.set('callerName', `agent ${agent.name}`);
      return next();
    }
    const key = keyFromHeaders(c.req.header('Authorization'), c.req.header('Api-Key'));
    if (key === undefined) throw rejectLogin(c, 'missing key: send Authorization: Bearer KEY or Api-Key: KEY');
    const principal = findPrincipal(key, keys) ?? (await findKeyHolder(store, key));
    if (principal === undefined) throw rejectLogin(c, 'unknown key');
    c.set('principal', principal);
    c.set('callerName', principal.name);
    return next();
  };
}

/** Rejects a request with 403 when the role of the caller may not use the route. */
export const requirePermission: MiddlewareHandler<AppEnv> = async (c, next) => {
  const route = servedRoute(c);
  const { role } = c.get('principal');
  if (route !== undefined && !accessTo(route).includes(role)) {
    throw new Rejection(403, `access denied: the role ${role} cannot ${c.req.method} ${route.path}`);
  }
  await next();
};

/** Runs a middleware for every request but those to routes that need no key. */
export function behindKey(middleware: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const route = servedRoute(c);
    return route !== undefined && typeof accessTo(route) === 'string' ? next() : middleware(c, next);
  };
}
