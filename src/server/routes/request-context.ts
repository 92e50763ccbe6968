import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import ipaddr from 'ipaddr.js';
import type { RecordWrite } from '../store/audit-log.ts';
import type { ServedRoute } from '../rules/permissions.ts';
import type { Principal } from '../principal.ts';
import type { TokenHolder } from '../rules/agents.ts';
import type { Author, Conditions, WriteTarget } from '../rules/versions.ts';

/** Returns the author of a request that writes. Only routes behind `auditWrites` may call it. */
export function authorOf(c: Context<AppEnv>, now: Date): Author {
  const { name, manager } = c.get('principal');
  return { name, manager, now, record: c.get('record') };
}

/** The variables of a request. `callerName` is the name of the caller in the log; only requests that write have `record`, and heartbeats `agent`. */
export type AppEnv = {
  readonly Bindings: HttpBindings;
  readonly Variables: { requestId: string; principal: Principal; agent: TokenHolder; callerName?: string; record: RecordWrite };
};

/** Returns the route that serves a request; undefined when no route has its path and method. */
export function servedRoute(c: Context<AppEnv>): ServedRoute | undefined {
  const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
  return route === undefined ? undefined : { method: route.method, path: route.path };
}

/** Returns the path of a request, as the caller encoded it, without its query and without what may precede it. */
export function requestPath(c: Context<AppEnv>): string {
  return new URL(c.req.url).pathname;
}

/** Returns the IP address of the caller. With `trustProxy` it is the last address in `X-Forwarded-For`, which the proxy appended. */
export function clientAddress(incoming: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const peer = plainAddress(incoming.socket.remoteAddress ?? '') ?? '';
  if (!trustProxy) return peer;
  const header = incoming.headers['x-forwarded-for'];
  const forwarded =
    String(header ?? '')
      .split(',')
      .at(-1)
      ?.trim() ?? '';
  return plainAddress(forwarded) ?? peer;
}

/** Returns an address in its one form: an IPv4 address without the prefix of IPv6; undefined for another text. */
function plainAddress(text: string): string | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : undefined;
}

/** Returns the conditions of a request. */
export function conditionsOf({ req }: Context<AppEnv>): Conditions {
  return { ifMatch: req.header('If-Match'), ifNoneMatch: req.header('If-None-Match') };
}

/** Returns the object that the path parameter names, with the versions that the caller accepts. */
export function writeTargetOf(c: Context<AppEnv>): WriteTarget {
  return { text: c.req.param('id') ?? '', ...conditionsOf(c) };
}
