import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../../src/server/routes/request-context.ts';

/** The failure that a test injects into one request. */
export type ChaosEffect = {
  /** The request waits for it before it runs. */
  readonly until?: Promise<unknown>;
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

/** Something to wait for, until a test opens it. */
export type Gate = { readonly passed: Promise<void>; readonly open: () => void };

/** Makes a closed gate. */
export function createGate(): Gate {
  let opened: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => (opened = resolve));
  return { passed, open: () => opened?.() };
}

/** Chooses the failure of a request; `n` counts requests from 1. */
export type Chaos = (request: { readonly method: string; readonly path: string; readonly n: number }) => ChaosEffect | undefined;

/** Injects the failures of a gateway or a network into requests. */
export function injectChaos(chaos: Chaos): MiddlewareHandler<AppEnv> {
  let n = 0;
  return async (c, next) => {
    n += 1;
    const effect = chaos({ method: c.req.method, path: c.req.path, n }) ?? {};
    await effect.until;
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
