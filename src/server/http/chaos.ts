import { setTimeout as delay } from 'node:timers/promises';
import type { MiddlewareHandler } from 'hono';
import { Rejection } from './rejection.ts';
import type { AppEnv } from './request-context.ts';

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

const maxDelayMs = 60_000;

/** What each switch does, by its spelling. */
const switchEffects: Readonly<Record<string, (value: string) => ChaosEffect | undefined>> = {
  delay: (value) => (isInRange(value, 0, maxDelayMs) ? { delayMs: Number(value) } : undefined),
  status: (value) => chaosStatuses.map((status) => ({ status })).find(({ status }) => String(status) === value),
  'retry-after': (value) => (isInRange(value, 0, 3600) ? { retryAfter: Number(value) } : undefined),
  drop: (value) => (Object.hasOwn(dropEffects, value) ? dropEffects[value] : undefined),
  fail: (value) => (value === 'after-commit' ? { status500AfterCommit: true } : undefined),
};

const chaosStatuses = [429, 500, 502, 503, 504] as const;
const dropEffects: Readonly<Record<string, ChaosEffect>> = { before: { dropBefore: true }, after: { dropAfter: true } };

/** Does to each request what its own header asks for, such as `delay=200, status=429, retry-after=1`. */
export const chaosFromSwitches: Chaos = ({ switches: asked }) => (asked === undefined ? undefined : readSwitches(asked));

function readSwitches(text: string): ChaosEffect {
  const effects = text.split(',').map((part) => {
    const [name = '', value = ''] = part.trim().split('=');
    const effect = Object.hasOwn(switchEffects, name) ? switchEffects[name]?.(value) : undefined;
    if (effect === undefined) {
      const known = 'delay=MS, status=429|500|502|503|504, retry-after=SECONDS, drop=before|after, fail=after-commit';
      throw new Rejection(400, `${chaosHeader} has ${known}, not ${JSON.stringify(part.trim())}`);
    }
    return effect;
  });
  return Object.assign({}, ...effects);
}

function isInRange(text: string, from: number, to: number): boolean {
  return /^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to;
}
