import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from './app-env.ts';
import { Rejection } from './rejection.ts';

/** Lets admins alone through. */
export const admins: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (c.get('principal').role !== 'admin') throw new Rejection(403, 'access denied: this needs an admin');
  await next();
};
