/** How often and for how long a request is repeated; times in milliseconds. */
export type RetryLimits = {
  readonly attempts: number;
  /** No attempt begins later than this after the first one. */
  readonly totalMs: number;
  /** The mean of the first pause; each further one is twice as long, up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The longest pause that a Retry-After header can request. */
  readonly retryAfterMs: number;
};

export const defaultRetryLimits: RetryLimits = { attempts: 5, totalMs: 180_000, firstMs: 200, longestMs: 10_000, retryAfterMs: 30_000 };

/** Returns the pause after an attempt (from 1), in milliseconds: full jitter on top of what the gateway requested, within bounds. */
export function pauseAfter(
  attempt: number,
  retryAfter: number | undefined,
  options: RetryLimits & { readonly random: () => number },
): number {
  const ceiling = Math.min(options.longestMs, options.firstMs * 2 ** attempt);
  const jitter = Math.round(options.random() * ceiling);
  return Math.min(retryAfter ?? 0, options.retryAfterMs) + jitter;
}

/** Returns the milliseconds that a Retry-After header requests; undefined unless it is a number of seconds or an HTTP date. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
