import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { RecordWrite } from '../audit/audit-log.ts';
import type { Principal } from '../auth/principal.ts';

/** Who writes, when, and how the write gets into the audit log. */
export type Author = { readonly name: string; readonly manager: string; readonly now: Date; readonly record: RecordWrite };

/** The author of a request that writes. */
export function authorOf(c: Context<AppEnv>, now: Date): Author {
  const { name, manager } = c.get('principal');
  return { name, manager, now, record: c.get('record') };
}

/** What a request carries on its way through the server: `who` is the caller's name for the log; only one that writes has `record`. */
export type AppEnv = {
  readonly Bindings: HttpBindings;
  readonly Variables: { requestId: string; principal: Principal; who?: string; record: RecordWrite };
};

/** A route as it is written down: `GET` `/connections/:id`. */
export type ServedRoute = { readonly method: string; readonly path: string };

/** The route that serves a request; undefined where there is none of its path and method. */
export function servedRoute(c: Context<AppEnv>): ServedRoute | undefined {
  const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
  return route === undefined ? undefined : { method: route.method, path: route.path };
}

/** The address that a request comes from; behind a trusted proxy the one that the proxy added last. */
export function clientAddress(incoming: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const peer = plainAddress(incoming.socket.remoteAddress ?? '');
  if (!trustProxy) return peer;
  const header = incoming.headers['x-forwarded-for'];
  const told = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').at(-1)?.trim() ?? '';
  return isIP(told) === 0 ? peer : plainAddress(told);
}

/** An IPv4 address is the same, however it reached the socket. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

type VersionedRow = { readonly id: string; readonly revision: number };

/** The strong `ETag` of an object: it changes with every write of the object or of edges that it lists. */
export function entityTag({ id, revision }: VersionedRow): string {
  return `"${id}.${revision}"`;
}

/** Tells whether an `If-Match` header lets the object be written; no header lets all. */
export function isAllowedVersion(object: VersionedRow, ifMatch: string | undefined): boolean {
  return isAllowedTag(entityTag(object), ifMatch);
}

/** Tells whether an `If-Match` header lets be written what has this `ETag`. */
export function isAllowedTag(tag: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((one) => one.trim() === tag);
}

/** Which object a caller means, and the versions it may have (`If-Match`). */
export type WriteTarget = { readonly text: string; readonly ifMatch: string | undefined };

/** Returns the object that the path parameter names, with the versions that `If-Match` allows. */
export function writeTargetOf({ req }: Context<AppEnv>, parameter = 'id'): WriteTarget {
  return { text: req.param(parameter) ?? '', ifMatch: req.header('If-Match') };
}
