import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { RecordWrite } from '../store/audit-log.ts';
import type { ServedRoute } from '../permissions.ts';
import type { Principal } from '../principal.ts';
import { Rejection } from '../rejection.ts';

/** The author of a write: the name and manager of the key, the time, and the function that records the write in the audit log. */
export type Author = { readonly name: string; readonly manager: string; readonly now: Date; readonly record: RecordWrite };

/** Returns the author of a request that writes. Only routes behind `auditWrites` may call it. */
export function authorOf(c: Context<AppEnv>, now: Date): Author {
  const { name, manager } = c.get('principal');
  return { name, manager, now, record: c.get('record') };
}

/** The variables of a request. `callerName` is the name of the caller in the log; only requests that write have `record`. */
export type AppEnv = {
  readonly Bindings: HttpBindings;
  readonly Variables: { requestId: string; principal: Principal; callerName?: string; record: RecordWrite };
};

/** Returns the route that serves a request; undefined when no route has its path and method. */
export function servedRoute(c: Context<AppEnv>): ServedRoute | undefined {
  const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
  return route === undefined ? undefined : { method: route.method, path: route.path };
}

/** Returns the IP address of the caller. With `trustProxy` it is the last address in `X-Forwarded-For`, which the proxy appended. */
export function clientAddress(incoming: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const peer = plainAddress(incoming.socket.remoteAddress ?? '');
  if (!trustProxy) return peer;
  const header = incoming.headers['x-forwarded-for'];
  const forwarded = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').at(-1)?.trim() ?? '';
  return isIP(forwarded) === 0 ? peer : plainAddress(forwarded);
}

/** Removes the IPv6 prefix of an IPv4 address, so that an address has one form. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

type VersionedRow = { readonly id: string; readonly revision: number };

/** Returns the strong `ETag` of an object. It changes with every write of the object or of edges that it lists. */
export function entityTag({ id, revision }: VersionedRow): string {
  return `"${id}.${revision}"`;
}

/** The versions that a request requires and excludes: `If-Match` and `If-None-Match` (RFC 9110, section 13). */
export type Conditions = { readonly ifMatch: string | undefined; readonly ifNoneMatch: string | undefined };

/** Throws a 412 unless the conditions allow a write of the object with this `ETag`; without any, every write is allowed. */
export function requireAllowedTag(what: string, tag: string, conditions: Conditions): void {
  if (!isRequiredTag(tag, conditions)) throw new Rejection(412, `${what} has changed since it was read`);
  if (isExcludedTag(tag, conditions)) throw new Rejection(412, `${what} exists, and If-None-Match excludes its version`);
}

/** Returns whether `If-Match` accepts an `ETag`. The comparison is strong: a weak tag never matches. */
export function isRequiredTag(tag: string, { ifMatch }: Conditions): boolean {
  return ifMatch === undefined || ifMatch.trim() === '*' || tagsIn(ifMatch).includes(tag);
}

/** Returns whether `If-None-Match` excludes an `ETag`. The comparison is weak, because proxies may weaken a tag. */
export function isExcludedTag(tag: string, { ifNoneMatch }: Conditions): boolean {
  if (ifNoneMatch === undefined) return false;
  const given = tagsIn(ifNoneMatch).map((one) => (one.startsWith('W/') ? one.slice(2) : one));
  return given.includes(tag) || given.includes('*');
}

/** Returns the members of a list of tags; a tag may contain commas. */
function tagsIn(list: string): readonly string[] {
  return list.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? [];
}

/** Returns the conditions of a request. */
export function conditionsOf({ req }: Context<AppEnv>): Conditions {
  return { ifMatch: req.header('If-Match'), ifNoneMatch: req.header('If-None-Match') };
}

/** The object that a caller names by id or name, and the versions that the caller accepts. */
export type WriteTarget = Conditions & { readonly text: string };

/** Returns the object that the path parameter names, with the versions that the caller accepts. */
export function writeTargetOf(c: Context<AppEnv>, parameter = 'id'): WriteTarget {
  return { text: c.req.param(parameter) ?? '', ...conditionsOf(c) };
}
