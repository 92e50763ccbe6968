import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { RecordWrite } from '../store/audit-log.ts';
import type { ServedRoute } from '../rules/permissions.ts';
import type { Principal } from '../principal.ts';
import type { Rejection } from '../rejection.ts';
import type { Author, Conditions, WriteTarget } from '../rules/versions.ts';

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

/** Returns the conditions of a request. */
export function conditionsOf({ req }: Context<AppEnv>): Conditions {
  return { ifMatch: req.header('If-Match'), ifNoneMatch: req.header('If-None-Match') };
}

/** Returns the object that the path parameter names, with the versions that the caller accepts. */
export function writeTargetOf(c: Context<AppEnv>, parameter = 'id'): WriteTarget {
  return { text: c.req.param(parameter) ?? '', ...conditionsOf(c) };
}

/** Counts a failed login of the caller and returns its rejection: 401 with the reason, or 429 when there were too many. */
export type RejectLogin = (c: Context<AppEnv>, reason: string) => Rejection;
