import type { ApiFailure } from '../model/errors.ts';
import { isObject } from '../model/json.ts';
import type { Advice } from './dialect.ts';
import { printable } from './printable.ts';
import { tooLarge, type Exchange, type RawAnswer } from './transport.ts';

/** A request that failed, before it is known whether it is tried again. */
export type Failed = { readonly message: string; readonly failure: ApiFailure; readonly retryAfter?: string };

export type Asked = Pick<Exchange, 'method' | 'url'> & {
  /** Values that no message may hold. */
  readonly secrets: readonly string[];
  /** What this sort of gateway's own words mean. */
  readonly advice?: readonly Advice[];
};

/** Explains an answer that is not a success. */
export function statusFailure(asked: Asked, answer: RawAnswer): Failed {
  const { status } = answer;
  const said = messageOf(answer, asked.secrets);
  const { code, words, hint: general } = meaningOf(asked, answer);
  const hint = asked.advice?.find(({ says }) => says.test(said))?.hint ?? general;
  const requestId = answer.header('x-request-id');
  const retryAfter = answer.header('retry-after');
  return {
    message: `${words} (${status}${said === '' ? '' : `, ${said}`})`,
    failure: {
      ...identified(asked, code, hint),
      status,
      ...(requestId === undefined ? {} : { requestId: printable(requestId, asked.secrets) }),
      retryable: [429, 502, 503, 504].includes(status),
      ambiguous: asked.method !== 'GET' && (status >= 500 || status === 408),
    },
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/** Explains a success that cannot be read: an empty, cut or foreign body. */
export function unreadable(asked: Asked, answer: RawAnswer): Failed {
  const type = printable(answer.header('content-type') ?? '', asked.secrets);
  const start = printable(answer.text.slice(0, 4096), asked.secrets).slice(0, 80);
  const words = start === '' ? 'an empty answer' : `an answer that is not JSON${type === '' ? '' : ` but ${type}`}: "${start}"`;
  const hint = 'something else than the gateway answers there, such as a login page or a proxy; the url must be the root of its API';
  return {
    message: `the gateway sent ${words}`,
    failure: {
      ...identified(asked, 'api/not-json', hint),
      status: answer.status,
      retryable: false,
      ambiguous: asked.method !== 'GET',
    },
  };
}

type Meaning = { readonly code: ApiFailure['code']; readonly words: string; readonly hint?: string };

function meaningOf(asked: Asked, answer: RawAnswer): Meaning {
  const { status } = answer;
  if (status >= 300 && status < 400) return redirected(asked, answer);
  if (status >= 500) return { code: 'api/server-error', words: 'the gateway failed', hint: 'look into its log, or try again later' };
  const known: Readonly<Record<number, Meaning>> = {
    401: {
      code: 'api/unauthorized',
      words: 'the gateway does not accept the token',
      hint: 'check that the token is whole, not revoked, and made for this gateway',
    },
    403: { code: 'api/forbidden', words: 'the token may not do this', hint: 'use a key with the role admin, or auditor to read only' },
    404: { code: 'api/not-found', words: 'there is no such thing on the gateway' },
    409: { code: 'api/conflict', words: 'the gateway refuses, because it conflicts with what is there' },
    412: { code: 'api/moved', words: 'somebody changed it since it was read', hint: 'plan again' },
    429: { code: 'api/rate-limited', words: 'the gateway asks for fewer requests', hint: 'try again later' },
  };
  return known[status] ?? { code: 'api/refused', words: 'the gateway refuses the request' };
}

function redirected(asked: Asked, answer: RawAnswer): Meaning {
  const location = answer.header('location') ?? '';
  const resolved = URL.canParse(location, asked.url) ? new URL(location, asked.url) : undefined;
  const shown = resolved === undefined ? '' : printable(`${resolved.origin}${resolved.pathname}`, asked.secrets);
  return {
    code: 'api/redirected',
    words: `the gateway redirects to ${shown === '' ? 'nowhere' : shown}, which is not followed`,
    hint: 'give the final address of the API as the url',
  };
}

function messageOf(answer: RawAnswer, secrets: readonly string[]): string {
  const start = answer.text.slice(0, 65_536);
  const body = parsed(start);
  const said = isObject(body) ? (body['message'] ?? body['error']) : undefined;
  if (typeof said === 'string') return `"${printable(said, secrets)}"`;
  const plain = (answer.header('content-type') ?? '').startsWith('text/plain');
  const text = plain ? printable(start, secrets) : '';
  return text === '' ? '' : `"${text}"`;
}

/** Explains why nothing came back; `error` is what the transport threw. */
export function networkFailure(asked: Asked, error: unknown): Failed {
  const code = codeOf(error);
  const writes = asked.method !== 'GET';
  const { words, failure } = breakdown(asked, error, code);
  const neverSent = failure.code === 'api/tls' || unsent.has(code);
  return {
    message: words,
    failure: {
      ...failure,
      retryable: failure.code !== 'api/aborted' && repeatable.has(code),
      ambiguous: writes && !neverSent,
      cause: error,
    },
  };
}

const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
]);

const timeouts: ReadonlySet<string> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

const repeatable: ReadonlySet<string> = new Set([
  ...timeouts,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

function breakdown(
  asked: Asked,
  error: unknown,
  code: string,
): { readonly words: string; readonly failure: Pick<ApiFailure, 'code' | 'method' | 'url' | 'hint'> } {
  const { host } = new URL(asked.url);
  const says = (words: string, ...[failure, hint]: readonly [ApiFailure['code'], string?]): ReturnType<typeof breakdown> => ({
    words,
    failure: identified(asked, failure, hint),
  });
  const detail = code === '' ? printable(error instanceof Error ? error.message : String(error), asked.secrets) : code;
  if (error instanceof Error && error.name === 'AbortError') return says('the request was interrupted', 'api/aborted');
  if (timeouts.has(code))
    return says(`${host} does not answer in time (${detail})`, 'api/timeout', 'is the gateway up, and does a firewall stand between?');
  if (code === 'ENOTFOUND')
    return says(`the host name ${host} cannot be found`, 'api/unreachable', 'check the url for a slip, and the network');
  if (code === 'ECONNREFUSED')
    return says(`nothing listens on ${host}`, 'api/unreachable', 'is the gateway running, and is the port right?');
  if (code === tooLarge) return says('the answer is too large', 'api/too-large', 'is this the root of a gateway’s API?');
  if (error instanceof Error && error.name === 'HTTPParserError')
    return says(`${host} does not speak HTTP (${detail})`, 'api/unreachable', 'check the port, and whether it wants https');
  if (isTls(code)) return says(`no secure connection to ${host}: ${tlsWords(code)} (${detail})`, 'api/tls', tlsHint(code));
  return says(`the connection to ${host} broke (${detail})`, 'api/unreachable', 'look whether the gateway is up, then run plan again');
}

function isTls(code: string): boolean {
  return /CERT|_SSL_|^ERR_TLS|^EPROTO$|^UNABLE_TO_/.test(code);
}

function tlsWords(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another name';
  if (code.includes('SELF_SIGNED')) return 'its certificate is self-signed';
  if (code.startsWith('UNABLE_TO_')) return 'nobody we trust has signed its certificate';
  return 'the TLS handshake failed';
}

function tlsHint(code: string): string {
  if (code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_'))
    return 'set NODE_EXTRA_CA_CERTS to the file of the authority that signed it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use the name that the certificate is made for';
  if (code.startsWith('CERT_')) return 'renew the certificate, and check the clock of this machine';
  return 'is it http instead of https, or does a proxy stand between?';
}

function identified(
  asked: Asked,
  code: ApiFailure['code'],
  hint: string | undefined,
): Pick<ApiFailure, 'code' | 'method' | 'url' | 'hint'> {
  return { code, method: asked.method, url: asked.url, ...(hint === undefined ? {} : { hint }) };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? '' : codeOf(error.cause);
}

/** Parses JSON; undefined where the text is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
