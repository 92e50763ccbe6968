import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { AppEnv } from './app-env.ts';

/** A route as it is written down: `GET` `/connections/:id`. */
export type ServedRoute = { readonly method: string; readonly path: string };

/** The route that serves a request; undefined where there is none of its path and method. */
export function servedRoute(c: Context<AppEnv>): ServedRoute | undefined {
  const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
  return route === undefined ? undefined : { method: route.method, path: route.path };
}
