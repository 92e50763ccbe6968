import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { RecordWrite } from '../store/audit-log.ts';
import type { Principal } from '../principal.ts';

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

/** A route as it is registered: `GET` `/connections/:id`. */
export type ServedRoute = { readonly method: string; readonly path: string };

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

/** Returns whether an `If-Match` header allows a write of the object; no header allows every write. */
export function isAllowedVersion(object: VersionedRow, ifMatch: string | undefined): boolean {
  return isAllowedTag(entityTag(object), ifMatch);
}

/** Returns whether an `If-Match` header allows a write of the object with this `ETag`. */
export function isAllowedTag(tag: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((candidate) => candidate.trim() === tag);
}

/** The object that a caller names by id or name, and the versions that the caller accepts (`If-Match`). */
export type WriteTarget = { readonly text: string; readonly ifMatch: string | undefined };

/** Returns the object that the path parameter names, with the versions that `If-Match` allows. */
export function writeTargetOf({ req }: Context<AppEnv>, parameter = 'id'): WriteTarget {
  return { text: req.param(parameter) ?? '', ifMatch: req.header('If-Match') };
}
