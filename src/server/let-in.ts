import type { MiddlewareHandler } from 'hono';
import { clientAddress } from './address.ts';
import { holderOf } from './api-keys.ts';
import type { AppEnv } from './app-env.ts';
import { authenticate, presentedKey, type KnownKey } from './auth.ts';
import { countFailedLogins } from './failed-logins.ts';
import type { Store } from './reader.ts';
import { Rejection } from './rejection.ts';

export type Door = {
  readonly store: Store;
  /** The keys of the environment. */
  readonly keys: readonly KnownKey[];
  readonly now: () => Date;
  readonly trustProxy: boolean;
};

const challenge = { 'WWW-Authenticate': 'Bearer' };

/** Lets callers with a key in. A right key is let in however many wrong ones came from its address. */
export function letIn({ store, keys, now, trustProxy }: Door): MiddlewareHandler<AppEnv> {
  const failedLogins = countFailedLogins();
  return async (c, next) => {
    const key = presentedKey(c.req.header('Authorization'), c.req.header('Api-Key'));
    if (key === undefined) throw new Rejection(401, 'a key is needed: Authorization: Bearer KEY, or Api-Key: KEY', challenge);
    const principal = authenticate(key, keys) ?? (await holderOf(store.db, key, now()));
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
