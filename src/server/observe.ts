import { randomUUID } from 'node:crypto';
import type { ErrorHandler, MiddlewareHandler } from 'hono';
import type { AppEnv } from './app-env.ts';
import { Rejection } from './rejection.ts';

export type ObserveOptions = {
  readonly version: string;
  readonly log: (line: string) => void;
  /** Whether the server is going away, so that connections should too. */
  readonly closing: () => boolean;
};

/** Names every request, signs every answer, and logs both without query, headers and body. */
export function observe({ version, log, closing }: ObserveOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    c.set('requestId', requestId);
    await next();
    c.header('Server', `ostiary/${version}`);
    c.header('X-Request-Id', requestId);
    if (closing()) c.header('Connection', 'close');
    const [path = ''] = (c.env.incoming.url ?? '').split('?');
    log(`${c.req.method} ${path} ${c.res.status} ${(performance.now() - started).toFixed(1)}ms ${requestId}`);
  };
}

/** Answers a rejection as it says, and anything else as 500; only the log learns more. */
export function answerErrors(log: (line: string) => void): ErrorHandler<AppEnv> {
  return (error, c) => {
    if (error instanceof Rejection) {
      for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
      const errors = error.problems.length > 0 ? { errors: error.problems } : {};
      return c.json({ message: error.message, ...errors }, error.status);
    }
    const requestId = c.get('requestId');
    log(`internal error ${requestId} ${error.stack ?? error.message}`);
    return c.json({ message: 'internal error', request_id: requestId }, 500);
  };
}
