import type { RequestEvent } from '../../model/result/outcome.ts';
import { ApiError, AppError } from '../../model/errors.ts';
import type { ErrorHint } from '../dialect.ts';
import { networkFailure, parseJson, statusFailure, unreadableFailure, type RequestContext, type RequestFailure } from './failure.ts';
import { pauseAfter, parseRetryAfter, type RetryLimits } from './retry.ts';
import type { RawResponse, Transport } from './transport.ts';

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base url, with its leading slash and its query. */
  readonly path: string;
  /** The body as JSON text. */
  readonly body?: string;
  /** The version to write against. */
  readonly ifMatch?: string;
  /** Statuses beside 2xx that are answers, not failures. */
  readonly accept?: readonly number[];
  /** Values of this request that no message may hold; asked for only when it fails. */
  readonly secrets?: () => readonly string[];
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
  readonly limits: RetryLimits;
  readonly random: () => number;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal;
  readonly onRequest?: (event: RequestEvent) => void;
};

export type Client = {
  /** Sends a request until it is answered, as often as its method allows; throws an ApiError. */
  readonly send: (request: HttpRequest) => Promise<HttpResponse>;
  /** Switches to the header in which the gateway wants the token. */
  readonly authorize: (how: 'bearer' | 'api-key') => void;
  /** What to say of this gateway's errors from now on. */
  readonly useErrorHints: (advice: readonly ErrorHint[]) => void;
};

/** Makes a client of one gateway; GET, PUT and DELETE are repeated where that may help, POST only where it was surely not carried out. */
export function createClient(options: ClientOptions): Client {
  const { transport, limits, now, signal } = options;
  const token = checkToken(options.token);
  let advice: readonly ErrorHint[] = [];
  let auth: Readonly<Record<string, string>> = { authorization: `Bearer ${token}` };

  async function once(request: HttpRequest, asked: RequestContext): Promise<RawResponse | RequestFailure> {
    const headers = {
      accept: 'application/json',
      'user-agent': 'ostiary',
      ...auth,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(request.ifMatch === undefined ? {} : { 'if-match': request.ifMatch }),
    };
    const rest = { ...(request.body === undefined ? {} : { body: request.body }), ...(signal === undefined ? {} : { signal }) };
    const { method } = request;
    let { url } = asked;
    try {
      for (let hops = 0; ; hops += 1) {
        const answer = await transport.exchange({ method, url, headers, ...rest });
        const next = method === 'GET' && hops < 3 ? redirectWithinOrigin(url, answer) : undefined;
        if (next === undefined) return answer;
        url = next;
      }
    } catch (error) {
      return networkFailure(asked, error);
    }
  }

  /** One try: an answer, or what went wrong. */
  async function attempted(request: HttpRequest, attempt: number): Promise<HttpResponse | RequestFailure> {
    const { method, path } = request;
    const asked: RequestContext = {
      method,
      url: `${options.url}${path}`,
      errorHints: advice,
      get secrets() {
        return [token, ...(request.secrets?.() ?? [])];
      },
    };
    const result = await once(request, asked);
    const outcome = 'failure' in result ? result : interpretResponse(request, asked, result);
    const status = 'failure' in outcome ? outcome.failure.status : outcome.status;
    options.onRequest?.({
      method,
      path,
      attempt,
      ...(status === undefined ? {} : { status }),
      ...('failure' in outcome ? { code: outcome.failure.code } : {}),
    });
    return outcome;
  }

  /** The pause before the next try, or undefined where there is none. */
  function pause(failed: RequestFailure, attempt: number, elapsed: number): number | undefined {
    const { method, retryable, ambiguous } = failed.failure;
    if (!retryable || attempt >= limits.attempts || (method === 'POST' && ambiguous)) return undefined;
    const wait = pauseAfter(attempt, parseRetryAfter(failed.retryAfter, now()), { ...limits, random: options.random });
    return elapsed + wait > limits.totalMs ? undefined : wait;
  }

  return {
    authorize(how) {
      auth = how === 'bearer' ? { authorization: `Bearer ${token}` } : { 'api-key': token };
    },
    useErrorHints(given) {
      advice = given;
    },
    async send(request) {
      const started = now();
      let uncertain = false;
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await attempted(request, attempt);
        if (!('failure' in outcome)) return outcome;
        uncertain ||= outcome.failure.ambiguous;
        const wait = pause(outcome, attempt, now() - started);
        if (wait === undefined) {
          const tries = attempt === 1 ? '' : `; tried ${attempt} times`;
          throw new ApiError(`${outcome.message}${tries}`, { ...outcome.failure, ambiguous: uncertain });
        }
        try {
          await options.sleep(wait, signal);
        } catch (error) {
          throw new ApiError(`${outcome.message}; interrupted while waiting to try again`, {
            ...outcome.failure,
            ambiguous: uncertain,
            cause: error,
          });
        }
      }
    },
  };
}

function interpretResponse(request: HttpRequest, asked: RequestContext, answer: RawResponse): HttpResponse | RequestFailure {
  const { status, header, text } = answer;
  const success = status >= 200 && status < 300;
  const accepted = request.accept?.includes(status) === true;
  if (!success && !accepted) return statusFailure(asked, answer);
  const body = text === '' ? undefined : parseJson(text);
  const needed = success && (request.method === 'GET' || text !== '');
  return needed && body === undefined && !accepted ? unreadableFailure(asked, answer) : { status, header, body };
}

/** Where a redirect leads, if it stays with the same scheme, host and port. */
function redirectWithinOrigin(url: string, answer: RawResponse): string | undefined {
  const location = answer.header('location');
  if (answer.status < 300 || answer.status >= 400 || location === undefined || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  return target.origin === new URL(url).origin && target.username === '' ? target.href : undefined;
}

function checkToken(token: string): string {
  const trimmed = token.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  const words = trimmed === '' ? 'the token is empty' : 'the token holds a space, a line break or a character that no header can carry';
  throw new AppError('api/bad-token', 4, words, { hint: 'check the environment variable that the token comes from' });
}
