import { isIPv6 } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { findKeyHolder } from './api-keys.ts';
import { findPrincipal, type HashedKey, keyFromHeaders } from '../principal.ts';
import { Rejection } from '../rejection.ts';
import { type AppEnv, clientAddress, servedRoute } from '../http/request-context.ts';
import { accessTo } from '../permissions.ts';
import type { Store } from '../store/store.ts';

type AuthenticationOptions = {
  readonly store: Store;
  /** The keys of the environment. */
  readonly keys: readonly HashedKey[];
  readonly now: () => Date;
  readonly rejectLogin: RejectLogin;
};

/** Counts a failed login of the caller and returns its rejection: 401 with the reason, or 429 when there were too many. */
export type RejectLogin = (c: Context<AppEnv>, reason: string) => Rejection;

/** Creates the one counter of a server for every kind of failed login: without a key, with a wrong key, and with a wrong agent token. */
export function createLoginRejection({ now, trustProxy }: { readonly now: () => Date; readonly trustProxy: boolean }): RejectLogin {
  const countFailedLogin = createFailedLoginCounter();
  return (c, reason) => {
    const waitSeconds = countFailedLogin(clientAddress(c.env.incoming, trustProxy), now());
    return waitSeconds > 0
      ? new Rejection(429, 'too many requests without a valid key from this address', { 'Retry-After': String(waitSeconds) })
      : new Rejection(401, reason, { 'WWW-Authenticate': 'Bearer' });
  };
}

/** Requires a valid key. The limit on failed attempts never rejects a valid key. */
export function authenticateRequest({ store, keys, now, rejectLogin }: AuthenticationOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const key = keyFromHeaders(c.req.header('Authorization'), c.req.header('Api-Key'));
    if (key === undefined) throw rejectLogin(c, 'missing key: send Authorization: Bearer KEY or Api-Key: KEY');
    const principal = findPrincipal(key, keys) ?? (await findKeyHolder(store.db, key, now()));
    if (principal === undefined) throw rejectLogin(c, 'unknown key');
    c.set('principal', principal);
    c.set('callerName', principal.name);
    await next();
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

/** Counts a failed attempt of an address; returns how many seconds the address must wait, 0 when it need not. */
type CountFailedLogin = (address: string, now: Date) => number;

const freeTries = 20;
const secondsPerTry = 3;
const maxAddresses = 10_000;

type TryBucket = { readonly tries: number; readonly at: number };

/**
 * Allows each address 20 failed attempts, then one every 3 seconds. Forgets the address that has been idle longest when there
 * are too many. Each server counts by itself: a lost count only shortens a delay.
 */
export function createFailedLoginCounter(): CountFailedLogin {
  const buckets = new Map<string, TryBucket>();
  return (address, now) => {
    const network = networkOf(address);
    const { tries, at } = buckets.get(network) ?? { tries: freeTries, at: now.getTime() };
    const earned = Math.max(0, now.getTime() - at) / 1000 / secondsPerTry;
    const left = Math.min(freeTries, tries + earned) - 1;
    buckets.delete(network);
    buckets.set(network, { tries: Math.max(0, left), at: now.getTime() });
    const [oldest] = buckets.keys();
    if (buckets.size > maxAddresses && oldest !== undefined) buckets.delete(oldest);
    return left >= 0 ? 0 : Math.max(1, Math.ceil(-left * secondsPerTry));
  };
}

/** Returns the /64 network of an IPv6 address: one caller has all addresses of it. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':');
  const missing = address.includes('::') ? 8 - groups.length - tail.split(':').length : 0;
  const all = [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...tail.split(':')];
  return all.slice(0, 4).join(':');
}
