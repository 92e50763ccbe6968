import { setTimeout as delay } from 'node:timers/promises';
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { Rejection } from './rejection.ts';

/** What a test does to one request; `n` counts requests from 1. */
export type ChaosEffect = {
  readonly delayMs?: number;
  /** Answers so instead of carrying the request out. */
  readonly status?: 429 | 500 | 502 | 503 | 504;
  /** `Retry-After` in seconds, beside `status`. */
  readonly retryAfter?: number;
  /** Closes the connection instead of carrying the request out. */
  readonly dropBefore?: true;
  /** Carries the request out and closes the connection without an answer. */
  readonly dropAfter?: true;
  /** Carries the request out and answers 500 all the same. */
  readonly status500AfterCommit?: true;
};

/** Decides what happens to a request; `switches` is what it asks for itself. */
export type Chaos = (request: {
  readonly method: string;
  readonly path: string;
  readonly n: number;
  readonly switches: string | undefined;
}) => ChaosEffect | undefined;

/** The header by which a request asks to fail. */
export const chaosHeader = 'Ostiary-Chaos';

/** Refuses requests that ask to fail: a gateway that is not started for tests has no such switches. */
export const rejectChaos: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (c.req.header(chaosHeader) !== undefined)
    throw new Rejection(400, `${chaosHeader} is for tests: this gateway was started without --chaos`);
  await next();
};

/** Makes requests fail as a gateway and a network do. */
export function injectChaos(chaos: Chaos): MiddlewareHandler<AppEnv> {
  let n = 0;
  return async (c, next) => {
    n += 1;
    const effect = chaos({ method: c.req.method, path: c.req.path, n, switches: c.req.header(chaosHeader) }) ?? {};
    if (effect.delayMs !== undefined) await delay(effect.delayMs);
    if (effect.status !== undefined) {
      if (effect.retryAfter !== undefined) c.header('Retry-After', String(effect.retryAfter));
      return c.json({ message: 'chaos' }, effect.status);
    }
    if (effect.dropBefore !== true) await next();
    if (effect.dropBefore === true || effect.dropAfter === true) c.env.incoming.socket.destroy();
    if (effect.status500AfterCommit === true) {
      c.res = undefined;
      c.res = c.json({ message: 'chaos' }, 500);
    }
    return effect.dropBefore === true ? c.body(null, 500) : undefined;
  };
}
