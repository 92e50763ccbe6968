import type { SendRequest } from './forge.ts';

/** An answer that is not a success; without headers if there was no answer. */
export type FailedAnswer = {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
};

const longestMessage = 500;

/** Shortens a message of an answer: a proxy may answer with a whole page. */
export function shortenMessage(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

/** The wait after a rate limit without a time, in milliseconds. */
const usualWait = 60_000;

/** The longest that a job waits for its forge in all, in milliseconds. */
export const longestWait = 300_000;
const repeatable = new Set(['GET', 'PATCH', 'PUT', 'DELETE']);

/** The most times that a request is sent. */
const attempts = 3;

/** Returns the milliseconds to wait before a request is sent again; undefined if it must not be repeated. */
export function retryDelay(answer: FailedAnswer, method: string, attempt: number): number | undefined {
  if (attempt >= attempts) return undefined;
  if (answer.status >= 500) return repeatable.has(method) ? 250 * 2 ** attempt : undefined;
  const wait = rateLimitWait(answer);
  return wait === undefined || wait > longestWait ? undefined : wait;
}

/** Returns the milliseconds of a rate limit: `retry-after`, the time until the reset, infinity or the usual wait; undefined if there is no rate limit. */
export function rateLimitWait({ status, message, headers = {} }: FailedAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = headers['retry-after'];
  if (typeof after === 'string' && /^\d{1,9}$/.test(after)) return Number(after) * 1000;
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0')
    return typeof reset === 'string' && /^\d{1,12}$/.test(reset)
      ? Math.max(1000, Number(reset) * 1000 - Date.now())
      : Number.POSITIVE_INFINITY;
  return status === 429 || /secondary rate limit/i.test(message) ? usualWait : undefined;
}

const mostHops = 5;
const redirects = new Set([301, 302, 307, 308]);

/**
 * Creates a fetch that stays on the servers of the given addresses: it follows redirects among them with the same method and body, and fails on a redirect elsewhere, so neither the token nor a comment leaves them. The whole answer must arrive
 * within `timeoutMs`.
 */
export function fetchWithin(
  addresses: readonly string[],
  patience: number,
  request: SendRequest = fetch,
): (address: string, init: RequestInit) => Promise<Response> {
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  const send = async (url: URL, init: RequestInit, hops: number): Promise<Response> => {
    if (!origins.has(url.origin)) throw new Error(`it leads to another server, ${url.origin}`);
    const response = await request(url, init);
    const bytes = await response.arrayBuffer();
    const location = response.headers.get('location');
    const { status, headers } = response;
    if (!redirects.has(status) || location === null) return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
    if (hops === mostHops) throw new Error(`it redirects more than ${mostHops} times`);
    return send(new URL(location, url), init, hops + 1);
  };
  return (address, init) => send(new URL(address), { ...init, redirect: 'manual', signal: AbortSignal.timeout(patience) }, 0);
}
