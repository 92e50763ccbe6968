/** How often and how long a request is repeated; times in milliseconds. */
export type RetryLimits = {
  readonly attempts: number;
  /** No try begins later than this after the first one. */
  readonly totalMs: number;
  /** The mean of the first pause; each next one is twice as long, up to `longest`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The longest pause that a Retry-After can ask for. */
  readonly retryAfterMs: number;
};

export const defaultRetryLimits: RetryLimits = { attempts: 5, totalMs: 180_000, firstMs: 200, longestMs: 10_000, retryAfterMs: 30_000 };

/** The pause after the given try (from 1): full jitter, and at least what the gateway asked for, within bounds. */
export function pauseAfter(
  attempt: number,
  retryAfter: number | undefined,
  options: RetryLimits & { readonly random: () => number },
): number {
  const ceiling = Math.min(options.longestMs, options.firstMs * 2 ** attempt);
  const jitter = Math.round(options.random() * ceiling);
  return Math.min(retryAfter ?? 0, options.retryAfterMs) + jitter;
}

/** The milliseconds that a Retry-After header asks to wait: seconds or an HTTP date; undefined where it says neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
