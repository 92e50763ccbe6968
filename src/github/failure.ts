import { AppError } from '../model/errors.ts';

/** An answer that is no success, or none at all: then without headers. */
type Answer = { readonly status: number; readonly message: string; readonly headers?: Readonly<Record<string, unknown>> };

/** Longer than this no job waits for a comment. */
const longestWait = 60_000;
const repeatable = new Set(['GET', 'PATCH', 'PUT', 'DELETE']);

/** How long to wait before the same request is sent again; undefined where that helps nobody. */
export function waitAfter(error: unknown, method: string, attempt: number): number | undefined {
  const answer = answerOf(error);
  if (answer === undefined) return undefined;
  if (answer.status >= 500) return repeatable.has(method) ? 250 * 2 ** attempt : undefined;
  const wait = limitOf(answer);
  return wait === undefined || wait > longestWait ? undefined : wait;
}

/** The failure as an AppError that says what to do; what is no failure of a request comes back as it is. */
export function failureOf(error: unknown, request: string): unknown {
  const answer = answerOf(error);
  if (answer === undefined) return error;
  const { status, headers } = answer;
  const message = headers === undefined ? `${request}: no answer: ${answer.message}` : `${request}: ${status} ${answer.message}`;
  const failure = (code: string, hint: string): AppError => new AppError(code, 4, message, { cause: error, hint });
  if (limitOf(answer) !== undefined) return failure('github/rate-limited', 'too much is asked with this token; run the job again later');
  if (status === 401 || status === 403 || status === 404)
    return failure('github/forbidden', 'give the job the permissions that docs/github.md lists');
  if (status >= 500) return failure('github/unreachable', 'the result of the run stands; run the job again for what was to be told');
  return failure('github/refused', 'read what GitHub says; is the pull request locked?');
}

function answerOf(error: unknown): Answer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const response = 'response' in error ? error.response : undefined;
  const headers = isRecord(response) && isRecord(response['headers']) ? response['headers'] : undefined;
  return { status: error.status, message: shortened(error.message), ...(headers === undefined ? {} : { headers }) };
}

const longestMessage = 500;

/** A proxy answers with whole pages. */
function shortened(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** How long a rate limit lasts: what `retry-after` says, else longer than anybody waits; undefined where it is no rate limit. */
function limitOf({ status, message, headers = {} }: Answer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = headers['retry-after'];
  if (typeof after === 'string' && /^\d{1,9}$/.test(after)) return Number(after) * 1000;
  if (headers['x-ratelimit-remaining'] === '0') return Number.POSITIVE_INFINITY;
  return status === 429 || /secondary rate limit/i.test(message) ? longestWait : undefined;
}
