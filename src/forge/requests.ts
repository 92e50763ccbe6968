import { AppError } from '../model/errors.ts';
import type { ForgeOptions } from './ci-system.ts';
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
const longestWait = 300_000;
const repeatable = new Set(['GET', 'PATCH', 'PUT', 'DELETE']);

/** The most times that a request is sent. */
const attempts = 3;

/** Waits before a request is sent again; returns false, at once, if it must not be repeated or the job would wait too long in all. */
export async function waitToRepeat(
  answer: FailedAnswer,
  {
    method,
    attempt,
    waits,
    sleep,
  }: { readonly method: string; readonly attempt: number } & Required<Pick<ForgeOptions, 'waits' | 'sleep'>>,
): Promise<boolean> {
  const wait = retryDelay(answer, method, attempt);
  if (wait === undefined || waits.waited + wait > longestWait) return false;
  waits.waited += wait;
  await sleep(wait);
  return true;
}

/** Returns the milliseconds to wait before a request is sent again; undefined if it must not be repeated. */
function retryDelay(answer: FailedAnswer, method: string, attempt: number): number | undefined {
  if (attempt >= attempts) return undefined;
  if (answer.status >= 500) return repeatable.has(method) ? 250 * 2 ** attempt : undefined;
  const wait = rateLimitWait(answer);
  return wait === undefined || wait > longestWait ? undefined : wait;
}

/** Returns the milliseconds of a rate limit: `retry-after`, the time until the reset, infinity or the usual wait; undefined if there is no rate limit. */
function rateLimitWait({ status, message, headers = {} }: FailedAnswer): number | undefined {
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

/** What to do about a refused request of a forge. */
type RefusalHints = Readonly<Record<'limited' | 'forbidden' | 'unreachable' | 'refused', string>>;

/** Converts a failed request into an AppError with a hint; `known` is the hint of a cause that its message names. */
export function refusalOf(
  answer: FailedAnswer,
  request: string,
  { hints, known, cause }: { readonly hints: RefusalHints; readonly known?: string | undefined; readonly cause?: unknown },
): AppError {
  const { status, message: reason, headers } = answer;
  const message = `${request}: ${headers === undefined ? 'no answer:' : status} ${reason}`;
  const failure = (code: AppError['code'], hint: string): AppError => new AppError(code, 4, message, { cause, hint });
  if (rateLimitWait(answer) !== undefined) return failure('forge/rate-limited', hints.limited);
  if (known !== undefined) return failure('forge/refused', known);
  if (status === 401 || status === 403 || status === 404) return failure('forge/forbidden', hints.forbidden);
  return status >= 500 ? failure('forge/unreachable', hints.unreachable) : failure('forge/refused', hints.refused);
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
  request: SendRequest,
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
