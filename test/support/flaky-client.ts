import { afterEach, expect } from 'vitest';
import { createClient, type ClientOptions, type HttpRequest } from '../../src/gateway/http/client.ts';
import type { RequestEvent } from '../../src/model/result/outcome.ts';
import { defaultRetryLimits, openTransport } from '../../src/gateway/http/transport.ts';
import { ApiError } from '../../src/model/errors.ts';
import { startFlakyServer, type FlakyServer, type Reply } from './flaky-server.ts';

export const token = 'token-canary-1b2c3d';
export const secret = 'secret-canary-9z8y7x';

type Opened = {
  readonly send: (request: HttpRequest) => Promise<unknown>;
  readonly fail: (request: HttpRequest) => Promise<ApiError>;
  readonly clockAheadMs: () => number;
  readonly pauses: readonly number[];
  readonly events: readonly RequestEvent[];
};

export const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

export async function serve(replies: readonly Reply[] | Reply): Promise<FlakyServer> {
  const server = await startFlakyServer(replies);
  closing.push(() => server.close());
  return server;
}

type OpenOptions = Partial<ClientOptions> & {
  readonly maxBytes?: number;
  /** The milliseconds that it waits for a byte; as long as a test may take by default. */
  readonly idleMs?: number;
};

export function open(url: string, { maxBytes = 1_000_000, idleMs = 60_000, ...options }: OpenOptions = {}): Opened {
  const transport = openTransport({ connectMs: 60_000, idleMs, wholeMs: 2 * idleMs }, maxBytes);
  closing.push(() => transport.close());
  const pauses: number[] = [];
  const events: RequestEvent[] = [];
  let clock = Date.parse('2026-01-01T00:00:00Z');
  const client = createClient({
    transport,
    url,
    token,
    limits: defaultRetryLimits,
    random: () => 0.5,
    now: () => clock,
    async sleep(milliseconds) {
      pauses.push(milliseconds);
      clock += milliseconds;
    },
    onRequest: (event) => events.push(event),
    ...options,
  });
  const send = async (request: HttpRequest): Promise<unknown> => (await client.send(request)).body;
  const fail = async (request: HttpRequest): Promise<ApiError> => {
    const error: unknown = await send(request).then(
      (body) => `answered ${JSON.stringify(body)}`,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
    expect(`${error.message} ${error.hint} ${error.failure.requestId}`).not.toMatch(/canary/);
    return error;
  };
  return { send, fail, clockAheadMs: client.clockAheadMs, pauses, events };
}

export const get: HttpRequest = { method: 'GET', path: '/things?page=1' };
export const post: HttpRequest = { method: 'POST', path: '/things', body: JSON.stringify({ secret }), secrets: () => [secret] };
export const put: HttpRequest = { ...post, method: 'PUT', path: '/things/1', ifMatch: '"1"' };
