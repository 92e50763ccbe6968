import { AppError } from '../model/errors.ts';

/** An answer that is not a success; without headers if there was no answer. */
type FailedAnswer = { readonly status: number; readonly message: string; readonly headers?: Readonly<Record<string, unknown>> };

/** The longest that a job waits for a comment, in milliseconds. */
const longestWait = 60_000;
const repeatable = new Set(['GET', 'PATCH', 'PUT', 'DELETE']);

/** Returns the milliseconds to wait before a request is sent again; undefined if it must not be repeated. */
export function retryDelay(error: unknown, method: string, attempt: number): number | undefined {
  const answer = failedAnswerOf(error);
  if (answer === undefined) return undefined;
  if (answer.status >= 500) return repeatable.has(method) ? 250 * 2 ** attempt : undefined;
  const wait = rateLimitWait(answer);
  return wait === undefined || wait > longestWait ? undefined : wait;
}

/** Converts a failed request into an AppError with a hint; returns any other error unchanged. */
export function githubError(error: unknown, request: string): unknown {
  const answer = failedAnswerOf(error);
  if (answer === undefined) return error;
  const { status, headers } = answer;
  const message = headers === undefined ? `${request}: no answer: ${answer.message}` : `${request}: ${status} ${answer.message}`;
  const failure = (code: string, hint: string): AppError => new AppError(code, 4, message, { cause: error, hint });
  if (rateLimitWait(answer) !== undefined)
    return failure('github/rate-limited', 'too much is asked with this token; run the job again later');
  if (status === 401 || status === 403 || status === 404)
    return failure('github/forbidden', 'give the job the permissions that docs/github.md lists');
  if (status >= 500) return failure('github/unreachable', 'the result of the run stands; run the job again for what was to be told');
  return failure('github/refused', 'read what GitHub says; is the pull request locked?');
}

function failedAnswerOf(error: unknown): FailedAnswer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const response = 'response' in error ? error.response : undefined;
  const headers = isRecord(response) && isRecord(response['headers']) ? response['headers'] : undefined;
  return { status: error.status, message: shortenMessage(error.message), ...(headers === undefined ? {} : { headers }) };
}

const longestMessage = 500;

/** Shortens a message: a proxy may answer with a whole page. */
function shortenMessage(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns the milliseconds of a rate limit: `retry-after`, otherwise infinity or the longest wait; undefined if there is no rate limit. */
function rateLimitWait({ status, message, headers = {} }: FailedAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = headers['retry-after'];
  if (typeof after === 'string' && /^\d{1,9}$/.test(after)) return Number(after) * 1000;
  if (headers['x-ratelimit-remaining'] === '0') return Number.POSITIVE_INFINITY;
  return status === 429 || /secondary rate limit/i.test(message) ? longestWait : undefined;
}
