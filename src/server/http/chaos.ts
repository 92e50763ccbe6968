import { setTimeout as delay } from 'node:timers/promises';
import type { MiddlewareHandler } from 'hono';
import { Rejection } from '../rejection.ts';
import type { AppEnv } from './request-context.ts';

/** The failure that a test injects into one request. */
export type ChaosEffect = {
  readonly delayMs?: number;
  /** Returns this status instead of running the request. */
  readonly status?: 429 | 500 | 502 | 503 | 504;
  /** The header `Retry-After` in seconds, sent with `status`. */
  readonly retryAfter?: number;
  /** Closes the connection instead of running the request. */
  readonly dropBefore?: true;
  /** Runs the request, then closes the connection without a response. */
  readonly dropAfter?: true;
  /** Runs the request, then returns 500. */
  readonly status500AfterCommit?: true;
};

/** Chooses the failure of a request; `n` counts requests from 1, `switches` is the value of the chaos header. */
export type Chaos = (request: {
  readonly method: string;
  readonly path: string;
  readonly n: number;
  readonly switches: string | undefined;
}) => ChaosEffect | undefined;

/** The header with which a request asks for a failure. */
const chaosHeader = 'Ostiary-Chaos';

/** Rejects requests with the chaos header: this gateway was not started for tests. */
export const rejectChaos: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (c.req.header(chaosHeader) !== undefined)
    throw new Rejection(400, `${chaosHeader} is for tests: this gateway was started without --chaos`);
  await next();
};

/** Injects the failures of a gateway or a network into requests. */
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

/** The effect of each switch, by its name. */
const switchEffects: Readonly<Record<string, (value: string) => ChaosEffect | undefined>> = {
  delay: (value) => (isWholeUpTo(maxDelayMs, value) ? { delayMs: Number(value) } : undefined),
  status: (value) => chaosStatuses.map((status) => ({ status })).find(({ status }) => String(status) === value),
  'retry-after': (value) => (isWholeUpTo(3600, value) ? { retryAfter: Number(value) } : undefined),
  drop: (value) => (Object.hasOwn(dropEffects, value) ? dropEffects[value] : undefined),
  fail: (value) => (value === 'after-commit' ? { status500AfterCommit: true } : undefined),
};

const chaosStatuses = [429, 500, 502, 503, 504] as const;
const dropEffects: Readonly<Record<string, ChaosEffect>> = { before: { dropBefore: true }, after: { dropAfter: true } };

/** Injects the failures that the header of a request lists, such as `delay=200, status=429, retry-after=1`. */
export const chaosFromSwitches: Chaos = ({ switches }) => (switches === undefined ? undefined : readSwitches(switches));

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
  return effects.reduce((all, one) => ({ ...all, ...one }), {});
}

function isWholeUpTo(most: number, text: string): boolean {
  return /^\d{1,6}$/.test(text) && Number(text) <= most;
}
