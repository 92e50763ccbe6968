import type { MiddlewareHandler } from 'hono';
import { clientAddress } from '../address.ts';
import { findKeyHolder } from './api-keys.ts';
import type { AppEnv } from '../app-env.ts';
import { findPrincipal, keyFromHeaders, type HashedKey } from './principal.ts';
import { createFailedLoginCounter } from '../failed-logins.ts';
import type { Store } from '../objects/object-reader.ts';
import { Rejection } from '../http/rejection.ts';

export type AuthenticationOptions = {
  readonly store: Store;
  /** The keys of the environment. */
  readonly keys: readonly HashedKey[];
  readonly now: () => Date;
  readonly trustProxy: boolean;
};

const challenge = { 'WWW-Authenticate': 'Bearer' };

/** Lets callers with a key in. A right key is let in however many wrong ones came from its address. */
export function authenticateRequest({ store, keys, now, trustProxy }: AuthenticationOptions): MiddlewareHandler<AppEnv> {
  const failedLogins = createFailedLoginCounter();
  return async (c, next) => {
    const key = keyFromHeaders(c.req.header('Authorization'), c.req.header('Api-Key'));
    if (key === undefined) throw new Rejection(401, 'a key is needed: Authorization: Bearer KEY, or Api-Key: KEY', challenge);
    const principal = findPrincipal(key, keys) ?? (await findKeyHolder(store.db, key, now()));
    if (principal === undefined) {
      const pause = failedLogins(clientAddress(c.env.incoming, trustProxy), now());
      if (pause > 0) throw new Rejection(429, 'too many wrong keys came from this address', { 'Retry-After': String(pause) });
      throw new Rejection(401, 'the key is unknown', challenge);
    }
    c.set('principal', principal);
    c.set('who', principal.name);
    await next();
  };
}
