import { type ApiFailure, systemCodeOf } from '../../model/errors.ts';
import { isObject, parseJson } from '../../model/json.ts';
import type { ErrorHint } from '../dialect.ts';
import { proxyFailedCode, tooLargeCode, type HttpExchange, type RawResponse } from './transport.ts';
import { containsSecret, isOpaque } from './reveal-secrets.ts';

/** A failed attempt, before it is decided whether to retry. */
export type RequestFailure = {
  readonly message: string;
  readonly failure: ApiFailure;
  readonly retryAfter?: string;
  /** The request is repeated once at most: the failure may be permanent. */
  readonly once?: boolean;
};

export type RequestContext = Pick<HttpExchange, 'method' | 'url'> & {
  /** Values that no message may contain. */
  readonly secrets: readonly string[];
  /** The request was sent with a client certificate. */
  readonly certified?: boolean;
  /** The environment variable that has the token. */
  readonly tokenName?: string | undefined;
  /** Hints for the gateway's own error messages. */
  readonly errorHints?: readonly ErrorHint[];
};

/** Explains a response whose status is not a success. */
export function statusFailure(context: RequestContext, response: RawResponse): RequestFailure {
  const { status } = response;
  const text = gatewayMessage(response);
  const message = quoteText(text, context.secrets);
  const { code, words, hint: generalHint } = meaningOf(context, response);
  const hint = context.errorHints?.find(({ matches }) => matches.test(text))?.hint ?? generalHint;
  const requestId = makePrintable(response.header('x-request-id') ?? '', context.secrets) ?? '';
  const retryAfter = response.header('retry-after');
  const isRepeatable = context.method === 'GET' && status === 500;
  return {
    message: `${words} (${status}${message === '' ? '' : `, ${message}`})`,
    failure: {
      ...failureFields(context, code, hint),
      status,
      ...(requestId === '' ? {} : { requestId }),
      retryable: [429, 502, 503, 504].includes(status) || isRepeatable,
      ambiguous: context.method !== 'GET' && (status >= 500 || status === 408),
    },
    ...(retryAfter === undefined ? {} : { retryAfter }),
    once: isRepeatable,
  };
}

/** Explains a success whose body is empty, cut, or not JSON. */
export function unreadableFailure(context: RequestContext, response: RawResponse): RequestFailure {
  const type = makePrintable(response.header('content-type') ?? '', context.secrets) ?? '';
  const start = quoteText(response.text.trim().slice(0, 80), context.secrets);
  const words = start === '' ? 'an empty response' : `a response that is not JSON${type === '' ? '' : ` but ${type}`}: ${start}`;
  const hint = 'check that the URL is the root of the gateway’s API, not a login page or a proxy';
  return {
    message: `the gateway sent ${words}`,
    failure: {
      ...failureFields(context, 'api/not-json', hint),
      status: response.status,
      // A body that begins as JSON was cut on its way.
      retryable: context.method === 'GET' && /^\s*[[{]/.test(response.text),
      ambiguous: context.method !== 'GET',
    },
    once: true,
  };
}

const certificateHint = 'set client_certificate and client_key of the target';
const rejectedHint = 'check client_certificate and client_key of the target: expiry, authority and purpose';

type StatusMeaning = { readonly code: ApiFailure['code']; readonly words: string; readonly hint?: string };

function meaningOf(context: RequestContext, response: RawResponse): StatusMeaning {
  const { status } = response;
  if (status >= 300 && status < 400) return redirectMeaning(context, response);
  // nginx answers 400 with a page, and 496 to its own configuration.
  if (status === 496 || (status === 400 && response.text.includes('No required SSL certificate was sent')))
    return { code: 'api/tls', words: 'the server requires a client certificate', hint: certificateHint };
  if (status >= 500)
    return { code: 'api/server-error', words: 'the gateway failed', hint: 'check the log of the gateway, or try again later' };
  const known: Readonly<Record<number, StatusMeaning>> = {
    401: {
      code: 'api/unauthorized',
      words: 'the gateway rejected the token',
      hint: `check that the token${context.tokenName === undefined ? '' : ` in ${context.tokenName}`} is complete, has not expired, and was issued by this gateway`,
    },
    403: {
      code: 'api/forbidden',
      words: 'the token has no permission',
      hint: 'use a key with the role admin, or auditor for read-only commands',
    },
    404: { code: 'api/not-found', words: 'the gateway has no such object' },
    409: { code: 'api/conflict', words: 'the gateway rejected the request because of a conflict' },
    412: { code: 'api/moved', words: 'the object changed after Ostiary read it', hint: 'plan again' },
    429: { code: 'api/rate-limited', words: 'the gateway limits the request rate', hint: 'try again later' },
  };
  return known[status] ?? { code: 'api/refused', words: 'the gateway rejected the request' };
}

function redirectMeaning(context: RequestContext, response: RawResponse): StatusMeaning {
  const location = response.header('location') ?? '';
  const resolved = URL.canParse(location, context.url) ? new URL(location, context.url) : undefined;
  const shown = resolved === undefined ? 'nowhere' : makePrintable(`${resolved.origin}${resolved.pathname}`, context.secrets);
  return {
    code: 'api/redirected',
    words: `the gateway redirects to ${shown ?? 'an address that may contain a secret'}, and Ostiary does not follow redirects`,
    hint: 'use the final URL of the API',
  };
}

/** Returns the message of an error response: that of its JSON body, or its plain text. */
function gatewayMessage(response: RawResponse): string {
  const start = response.text.slice(0, 65_536);
  const body = parseJson(start);
  const message = isObject(body) ? (body['message'] ?? body['error']) : undefined;
  if (typeof message === 'string') return message;
  return (response.header('content-type') ?? '').startsWith('text/plain') ? start : '';
}

/** Explains why there is no response; `error` is what the transport threw. */
export function networkFailure(context: RequestContext, error: unknown): RequestFailure {
  const code = codeOf(error);
  const writes = context.method !== 'GET';
  const { words, failure } = describeNetworkError(context, error, code);
  const neverSent = failure.code === 'api/tls' || neverSentCodes.has(code);
  return {
    message: words,
    failure: {
      ...failure,
      retryable: failure.code !== 'api/aborted' && retryableCodes.has(code),
      ambiguous: writes && !neverSent,
      cause: error,
    },
  };
}

const neverSentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
  proxyFailedCode,
]);

const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const retryableCodes: ReadonlySet<string> = new Set([
  ...timeoutCodes,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

function describeNetworkError(
  context: RequestContext,
  error: unknown,
  code: string,
): { readonly words: string; readonly failure: Pick<ApiFailure, 'code' | 'method' | 'url' | 'hint'> } {
  const { host } = new URL(context.url);
  const describe = (
    words: string,
    ...[failureCode, hint]: readonly [ApiFailure['code'], string?]
  ): ReturnType<typeof describeNetworkError> => ({
    words,
    failure: failureFields(context, failureCode, hint),
  });
  const reason =
    makePrintable(error instanceof Error ? error.message : String(error), context.secrets) ?? 'the reason may contain a secret';
  const detail = code === '' ? reason : code;
  if (code === proxyFailedCode)
    return describe(`the proxy cannot connect to ${host} (${reason})`, 'api/proxy', 'check HTTPS_PROXY, HTTP_PROXY and NO_PROXY');
  if (error instanceof Error && error.name === 'AbortError') return describe('the request was interrupted', 'api/aborted');
  if (timeoutCodes.has(code))
    return describe(
      `timeout: no response from ${host} (${detail})`,
      'api/timeout',
      'check that the gateway is running and that no firewall blocks the connection',
    );
  if (code === 'ENOTFOUND') return describe(`unknown host ${host}`, 'api/unreachable', 'check the URL for typos, and the network');
  if (code === 'ECONNREFUSED')
    return describe(`connection refused by ${host}`, 'api/unreachable', 'check that the gateway is running and that the port is correct');
  if (code === tooLargeCode)
    return describe(`the answer is too large (${reason})`, 'api/too-large', 'check that the URL is the root of a gateway’s API');
  if (error instanceof Error && error.name === 'HTTPParserError')
    return describe(
      `${host} did not respond with HTTP (${detail})`,
      'api/unreachable',
      'check the port, and whether the gateway requires https',
    );
  if (isTls(code)) return describe(`TLS connection to ${host} failed: ${tlsWords(code)} (${detail})`, 'api/tls', tlsHint(code));
  // A server that checks certificates after the handshake of TLS 1.3 may close without an alert.
  if (context.url.startsWith('https:') && isUnanswered(error)) {
    const [why, hint] =
      context.certified === true
        ? ['does not accept the client certificate', rejectedHint]
        : ['requires a client certificate', `${certificateHint}, if it requires one`];
    return describe(
      `${host} closed the connection after the TLS handshake, perhaps because it ${why} (${detail})`,
      'api/unreachable',
      `check that the gateway is running; ${hint}`,
    );
  }
  // One that checks them in the handshake of TLS 1.2 may reset the connection.
  return describe(
    `the connection to ${host} was lost (${detail})`,
    'api/unreachable',
    `check that the gateway is running, then plan again${context.certified === true ? `; otherwise ${rejectedHint}` : ''}`,
  );
}

function isUnanswered(error: unknown): boolean {
  const socket = error instanceof Error && 'socket' in error ? error.socket : undefined;
  return typeof socket === 'object' && socket !== null && 'bytesRead' in socket && socket.bytesRead === 0;
}

function isTls(code: string): boolean {
  return /CERT|_SSL_|^ERR_TLS|^EPROTO$|^UNABLE_TO_/.test(code);
}

function tlsWords(code: string): string {
  // TLS 1.3 says that a certificate is missing, TLS 1.2 only that the handshake failed.
  if (code.endsWith('_ALERT_CERTIFICATE_REQUIRED')) return 'it requires a client certificate';
  if (code.endsWith('_ALERT_HANDSHAKE_FAILURE')) return 'it refused the handshake, perhaps because it requires a client certificate';
  if (/_ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)$/.test(code))
    return 'it does not accept the client certificate';
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another name';
  if (code.includes('SELF_SIGNED')) return 'its certificate is self-signed';
  if (code.startsWith('UNABLE_TO_')) return 'its certificate is not signed by a trusted authority';
  return 'the TLS handshake failed';
}

function tlsHint(code: string): string {
  if (/_ALERT_(?:CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)$/.test(code)) return certificateHint;
  if (code.includes('_ALERT_')) return rejectedHint;
  if (code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_'))
    return 'set ca of the target, or NODE_EXTRA_CA_CERTS, to the certificate file of its authority';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use the host name of the certificate';
  if (code.startsWith('CERT_')) return 'renew the certificate, and check the clock of this machine';
  return 'check whether the URL needs http instead of https, or a proxy intercepts the connection';
}

function failureFields(
  context: RequestContext,
  code: ApiFailure['code'],
  hint: string | undefined,
): Pick<ApiFailure, 'code' | 'method' | 'url' | 'hint'> {
  return { code, method: context.method, url: context.url, hint };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return systemCodeOf(error) ?? (error.cause === undefined ? '' : codeOf(error.cause));
}

const longest = 300;

/** What is printed in place of a text that may contain a secret. */
const hiddenText = "the gateway's message is not shown because it may contain a secret";

/**
 * Makes text from the gateway safe to print: joins lines, escapes control characters, and cuts it to 300 characters. Returns
 * undefined if what remains may contain a part of a secret.
 */
export function makePrintable(text: string, secrets: readonly string[]): string | undefined {
  // Longer than what is printed, so that the end of the text does not hide what a printed part belongs to.
  const line = text
    .slice(0, 65_536)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 2 * longest);
  if (containsSecret(line, secrets)) return undefined;
  const escaped = line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return escaped.length > longest ? `${escaped.slice(0, longest)}…` : escaped;
}

/** Returns a text in quotation marks, or a note that it is not shown; an empty text where there is none. */
function quoteText(text: string, secrets: readonly string[]): string {
  const shown = makePrintable(text, secrets);
  return shown === undefined || isOpaque(shown) ? hiddenText : shown === '' ? '' : `"${shown}"`;
}
