import { nestsDeeper, parseJson } from '../../model/json.ts';
import type { RequestEvent, RetryEvent } from '../../model/result/outcome.ts';
import { ApiError, AppError } from '../../model/errors.ts';
import { defaultReadConcurrency } from '../../model/config.ts';
import type { ErrorHint } from '../dialect.ts';
import { networkFailure, type RequestContext, type RequestFailure, statusFailure, unreadableFailure } from './failure.ts';
import { type AnswerShare, largestAnswers } from './answer-budget.ts';
import { largerThan, parseRetryAfter, pauseAfter, type RawResponse, type RetryLimits, tooLarge, type Transport } from './transport.ts';

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Appended to the base URL: starts with a slash and includes the query. */
  readonly path: string;
  /** The body as JSON text. */
  readonly body?: string;
  /** The version to write against. */
  readonly ifMatch?: string;
  /** Statuses outside 2xx that are returned, not treated as failures. */
  readonly accept?: readonly number[];
  /** Values of this request that no message may contain; called only when the request fails. */
  readonly secrets?: () => readonly string[];
  /** What the answer may have, together with others. */
  readonly share?: AnswerShare;
};

export type HttpResponse = {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The parsed body; undefined where it is empty. */
  readonly body: unknown;
};

export type ClientOptions = {
  readonly transport: Transport;
  readonly url: string;
  readonly token: string;
  /** The environment variable that has the token. */
  readonly tokenName?: string | undefined;
  readonly limits: RetryLimits;
  readonly random: () => number;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Requests are sent with a client certificate. */
  readonly certified?: boolean | undefined;
  /** The largest number of reads at the same time; fewer while the gateway answers 429 or 503. */
  readonly readConcurrency?: number | undefined;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
};

export type Client = {
  /** Sends a request, and retries it as often as its method allows; throws an ApiError when all attempts fail. */
  readonly send: (request: HttpRequest) => Promise<HttpResponse>;
  /** Selects the header that carries the token. */
  readonly authorize: (how: 'bearer' | 'api-key') => void;
  /** Sets the hints for this gateway's error messages, and what the hint of every refused request ends with. */
  readonly useErrorHints: (hints: readonly ErrorHint[], lastHint?: string) => void;
  /** Returns by how many milliseconds the gateway's clock was ahead of this one when it answered last; 0 if that is less than a minute. */
  readonly clockAheadMs: () => number;
};

/** The depth limit of an answer, as of a saved plan: manifests nest at most 64 deep. */
const deepest = 128;

/** What the parts of one client share. */
type ClientState = {
  readonly options: ClientOptions;
  readonly token: string;
  readonly reads: ReadLimiter;
  authHeader: Readonly<Record<string, string>>;
  errorHints: readonly ErrorHint[];
  lastHint: string | undefined;
  clockAheadMs: number;
};

/**
 * Returns a client for one gateway. It repeats GET, PUT and DELETE where that may help, and POST only where the
 * gateway cannot have carried it out. Throws an AppError where the token does not fit into a header.
 */
export function createClient(options: ClientOptions): Client {
  const token = checkToken(options.token);
  const reads = createReadLimiter(options.readConcurrency ?? defaultReadConcurrency, options.now);
  const authHeader = { authorization: `Bearer ${token}` };
  const state: ClientState = { options, token, reads, authHeader, errorHints: [], lastHint: undefined, clockAheadMs: 0 };
  return {
    authorize(how) {
      state.authHeader = how === 'bearer' ? { authorization: `Bearer ${token}` } : { 'api-key': token };
    },
    useErrorHints(hints, lastHint) {
      state.errorHints = hints;
      state.lastHint = lastHint;
    },
    clockAheadMs: () => state.clockAheadMs,
    send: (request) => sendWithRetries(state, request),
  };
}

async function sendWithRetries(state: ClientState, request: HttpRequest): Promise<HttpResponse> {
  const { url, now, sleep, signal, onRetry } = state.options;
  const started = now();
  let ambiguous = false;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = request.method === 'GET' ? await readOnce(state, request, attempt) : await sendOnce(state, request, attempt);
    if (!('failure' in outcome)) return outcome;
    ambiguous ||= outcome.failure.ambiguous;
    const pause = pauseBeforeRetry(state, outcome, { attempt, elapsed: now() - started });
    if (pause === undefined) {
      const tries = attempt === 1 ? '' : `; tried ${attempt} times`;
      const retryAfterMs = parseRetryAfter(outcome.retryAfter, now());
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      throw new ApiError(`${outcome.message}${tries}`, { ...outcome.failure, ...hintFor(state, outcome), ambiguous, ...wait });
    }
    onRetry?.({ message: `${request.method} ${url}${request.path}: ${outcome.message}`, pauseMs: pause });
    try {
      await sleep(pause, signal);
    } catch (error) {
      throw new ApiError(`${outcome.message}; interrupted while waiting to try again`, { ...outcome.failure, ambiguous, cause: error });
    }
  }
}

/** The statuses with which a gateway refuses a request because of its load. */
const overloaded: readonly (number | undefined)[] = [429, 503];

/** Makes one attempt of a read when there is room for it. */
async function readOnce(state: ClientState, request: HttpRequest, attempt: number): Promise<HttpResponse | RequestFailure> {
  const { options, reads } = state;
  return reads.run(async (round) => {
    const rest = attempt === 1 ? reads.pauseMs() : 0;
    // An interrupt ends the pause; the request then reports it.
    if (rest > 0) await options.sleep(rest, options.signal).catch(() => undefined);
    const outcome = await sendOnce(state, request, attempt);
    if ('failure' in outcome && overloaded.includes(outcome.failure.status)) {
      const asked = parseRetryAfter(outcome.retryAfter, options.now()) ?? 0;
      reads.slowDown(round, Math.min(asked, options.limits.retryAfterMs));
    }
    return outcome;
  });
}

/** Returns the hint of a failure with its last part, if the gateway answered. */
function hintFor({ lastHint }: ClientState, { failure: { hint, status } }: RequestFailure): { readonly hint?: string } {
  if (lastHint === undefined || status === undefined) return {};
  return { hint: hint === undefined ? lastHint : `${hint}; ${lastHint}` };
}

/** Makes one attempt, and reports it to `onRequest`; a failure is returned, not thrown. */
async function sendOnce(state: ClientState, request: HttpRequest, attempt: number): Promise<HttpResponse | RequestFailure> {
  const { options, token, errorHints } = state;
  const { method, path } = request;
  const context: RequestContext = {
    method,
    url: `${options.url}${path}`,
    errorHints,
    certified: options.certified === true,
    tokenName: options.tokenName,
    get secrets() {
      return [token, ...(request.secrets?.() ?? [])];
    },
  };
  const started = options.now();
  const response = await exchange(state, request, context);
  const elapsedMs = options.now() - started;
  const ahead = 'failure' in response ? Number.NaN : Date.parse(response.header('date') ?? '') - options.now();
  if (!Number.isNaN(ahead)) state.clockAheadMs = Math.abs(ahead) < 60_000 ? 0 : ahead;
  const outcome = 'failure' in response ? response : interpretResponse(request, context, response);
  const status = 'failure' in outcome ? outcome.failure.status : outcome.status;
  options.onRequest?.({
    method,
    path,
    attempt,
    elapsedMs,
    ...(status === undefined ? {} : { status }),
    ...('failure' in outcome ? { code: outcome.failure.code } : {}),
  });
  return outcome;
}

/** Sends the request; an error of the network is returned, not thrown. */
async function exchange(state: ClientState, request: HttpRequest, context: RequestContext): Promise<RawResponse | RequestFailure> {
  const { transport, signal } = state.options;
  const { method, body, ifMatch } = request;
  const headers = {
    accept: 'application/json',
    'user-agent': 'ostiary',
    ...state.authHeader,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
  const optional = { ...(body === undefined ? {} : { body }), ...(signal === undefined ? {} : { signal }) };
  try {
    return await transport.exchange({ method, url: context.url, headers, ...optional });
  } catch (error) {
    return networkFailure(context, error);
  }
}

type Progress = { readonly attempt: number; readonly elapsed: number };

/** Returns the milliseconds to wait before the next attempt; undefined where no further attempt is allowed. */
function pauseBeforeRetry({ options }: ClientState, failed: RequestFailure, { attempt, elapsed }: Progress): number | undefined {
  const { limits, now, random } = options;
  const { method, retryable, ambiguous } = failed.failure;
  if (!retryable || attempt >= (failed.once === true ? 2 : limits.attempts) || (method === 'POST' && ambiguous)) return undefined;
  const pause = pauseAfter(attempt, parseRetryAfter(failed.retryAfter, now()), { ...limits, random });
  return elapsed + pause > limits.totalMs ? undefined : pause;
}

/** Returns the parsed response where its status is 2xx or accepted; explains any other one. */
function interpretResponse(request: HttpRequest, context: RequestContext, response: RawResponse): HttpResponse | RequestFailure {
  const { status, header, text } = response;
  const success = status >= 200 && status < 300;
  const accepted = request.accept?.includes(status) === true;
  if (!success && !accepted) return statusFailure(context, response);
  if (request.share?.take(text) === false) return networkFailure(context, largerThan(largestAnswers, ' in all lists together'));
  if (nestsDeeper(text, deepest)) return networkFailure(context, tooLarge(`${deepest} levels of nesting`));
  const body = text === '' ? undefined : parseJson(text);
  const needsBody = success && (request.method === 'GET' || text !== '');
  return needsBody && body === undefined && !accepted ? unreadableFailure(context, response) : { status, header, body };
}

/** Returns the token without surrounding whitespace; throws an AppError where it cannot be sent in a header. */
function checkToken(token: string): string {
  const trimmed = token.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  const words =
    trimmed === '' ? 'the token is empty' : 'the token contains a space, a line break or a character that is invalid in an HTTP header';
  throw new AppError('api/bad-token', 4, words, { hint: 'check the environment variable that contains the token' });
}

/** Decides how many reads of one gateway run at once. */
type ReadLimiter = {
  /** Runs a read when there is room for it; the read gets the round that `slowDown` asks for. */
  readonly run: <T>(read: (round: number) => Promise<T>) => Promise<T>;
  /** Halves the number of reads after a read of this round that the gateway refused for its load, and lets no read start for a while. */
  readonly slowDown: (round: number, pauseMs: number) => void;
  /** Returns the milliseconds for which the gateway asked to be left alone. */
  readonly pauseMs: () => number;
};

/** The answers for each concurrent read, before one more read runs at once. */
const patience = 8;

/**
 * Makes a limiter for at most `most` reads at once. Reads that fail together count once, and after eight times as many answers as reads
 * run at once, one more runs.
 */
function createReadLimiter(most: number, now: () => number): ReadLimiter {
  const waiting: (() => void)[] = [];
  let limit = most;
  let running = 0;
  let answered = 0;
  let round = 0;
  let until = 0;

  function start(): void {
    while (running < limit && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  }

  return {
    async run(read) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        start();
      });
      const began = round;
      try {
        return await read(began);
      } finally {
        running -= 1;
        answered += 1;
        if (limit < most && began === round && answered >= patience * limit) {
          limit += 1;
          answered = 0;
        }
        start();
      }
    },
    slowDown(began, pauseMs) {
      until = Math.max(until, now() + pauseMs);
      if (began !== round) return;
      limit = Math.max(1, Math.floor(limit / 2));
      round += 1;
      answered = 0;
    },
    pauseMs: () => Math.max(0, until - now()),
  };
}
