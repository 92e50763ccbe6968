import { Buffer } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';

export type TransportTimeouts = {
  /** Milliseconds until a connection must be established. */
  readonly connectMs: number;
  /** Milliseconds without a byte, before the headers and between chunks of the body. */
  readonly idleMs: number;
  /** Milliseconds for one whole body: a gateway that sends a byte now and then is never idle. */
  readonly wholeMs: number;
};

export type HttpExchange = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
};

/** A response, whatever its status. */
export type RawResponse = {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
};

/** Sends one request without retries and without interpreting the response. Throws the errors of undici and Node. */
export type Transport = { readonly exchange: (exchange: HttpExchange) => Promise<RawResponse>; readonly close: () => Promise<void> };

/** The network between this machine and a server. */
export type NetworkOptions = {
  /** The URLs of the proxies, empty for none, and the hosts that are reached without them, as in NO_PROXY. */
  readonly proxies?: { readonly http: string; readonly https: string; readonly exceptions: string } | undefined;
  /** Certificates in PEM of authorities to trust besides those of Node. */
  readonly certificates: readonly string[];
  /** The certificate that Ostiary shows, and its private key, in PEM. */
  readonly client?: { readonly cert: string; readonly key: string };
};

type Opened = {
  readonly agent: Pick<Agent, 'destroy'>;
  readonly send: (request: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
};

/** The code of the error for a proxy that refuses a connection or is not reachable. */
export const proxyFailedCode = 'OSTIARY_PROXY_FAILED';

/** The code of the error for a response that is larger than `maxBytes`. */
export const tooLargeCode = 'OSTIARY_TOO_LARGE';

/** Opens a transport with keep-alive connections. It loads the HTTP library and connects at the first request. */
export function openTransport(timeouts: TransportTimeouts, maxBytes: number, network?: NetworkOptions): Transport {
  let opened: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    const { proxies, certificates = [], client = {} } = network ?? {};
    const ca = certificates.length === 0 ? {} : { ca: [...(await import('node:tls')).rootCertificates, ...certificates] };
    const connect = { timeout: timeouts.connectMs, ...ca, ...client };
    const options = { connections: 64, connect, headersTimeout: timeouts.idleMs, bodyTimeout: timeouts.idleMs };
    if (proxies !== undefined) return openProxied(options, proxies);
    const { Agent } = await import('undici');
    const agent = new Agent(options);
    return { agent, send: (request) => agent.request(request) };
  }

  return {
    async exchange({ url, ...rest }) {
      opened ??= open();
      const { send } = await opened;
      const { origin, pathname, search } = new URL(url);
      const response = await send({ origin, path: `${pathname}${search}`, ...rest });
      const header = (name: string): string | undefined => {
        const value = response.headers[name];
        return typeof value === 'string' ? value : value?.[0];
      };
      const chunks = readChunks(response.body, { maxBytes, milliseconds: timeouts.wholeMs });
      const text = await readText(chunks, header('content-encoding'), maxBytes);
      return { status: response.statusCode, header, text };
    },
    async close() {
      if (opened === undefined) return;
      const { agent } = await opened;
      await agent.destroy();
    },
  };
}

type ConnectOptions = { readonly timeout: number; readonly ca?: string[]; readonly cert?: string; readonly key?: string };

type AgentOptions = { readonly connections: number; readonly connect: ConnectOptions };

/** Opens connections through proxies: a tunnel for https, requests with the whole URL for http, as other programs do. */
async function openProxied(options: AgentOptions, { http, https, exceptions }: NonNullable<NetworkOptions['proxies']>): Promise<Opened> {
  const { EnvHttpProxyAgent } = await import('undici');
  const agent = new EnvHttpProxyAgent({
    ...options,
    requestTls: options.connect,
    // Only the gateway is shown who Ostiary is.
    proxyTls: { timeout: options.connect.timeout, ...(options.connect.ca === undefined ? {} : { ca: options.connect.ca }) },
    proxyTunnel: false,
    httpProxy: http,
    httpsProxy: https,
    noProxy: exceptions,
  });
  const addresses = [http, https].filter((url) => url !== '').map((url) => new URL(url));
  return {
    agent,
    async send(request) {
      try {
        return await agent.request(request);
      } catch (error) {
        throw proxyFailure(error, addresses) ?? error;
      }
    },
  };
}

/** Returns the error of a proxy that refused or could not be reached; undefined for other errors. */
function proxyFailure(error: unknown, proxies: readonly URL[]): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(error.message) ?? [];
  const fail = (reason: string): Error => Object.assign(new Error(reason, { cause: error }), { code: proxyFailedCode });
  if (status !== undefined) return fail(`status ${status}`);
  const port = 'port' in error ? Number(error.port) : undefined;
  const host = 'hostname' in error ? error.hostname : undefined;
  const isOfProxy = proxies.some((url) => url.hostname === host || (port !== undefined && Number(url.port || defaultPort(url)) === port));
  return isOfProxy && 'code' in error ? fail(String(error.code)) : undefined;
}

function defaultPort({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80;
}

type ReadLimits = { readonly maxBytes: number; readonly milliseconds: number };

async function* readChunks(body: AsyncIterable<Uint8Array>, { maxBytes, milliseconds }: ReadLimits): AsyncIterable<Uint8Array> {
  const began = performance.now();
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw largerThan(maxBytes);
    if (performance.now() - began > milliseconds) throw Object.assign(new Error('the response did not end'), { code: 'ETIMEDOUT' });
    yield chunk;
  }
}

/** Decodes each chunk as it arrives, so that the bytes are not kept beside the text; only a compressed body is collected first. */
async function readText(chunks: AsyncIterable<Uint8Array>, encoding: string | undefined, maxBytes: number): Promise<string> {
  const unpack = encoding === undefined ? undefined : unpackers[encoding.trim().toLowerCase()];
  const decoder = new StringDecoder('utf8');
  const parts: string[] = [];
  const packed: Uint8Array[] = [];
  for await (const chunk of chunks) {
    if (unpack === undefined) parts.push(decoder.write(chunk));
    else packed.push(chunk);
  }
  const rest = unpack === undefined ? decoder.end() : decoder.end(decompress(Buffer.concat(packed), unpack, maxBytes));
  const text = [...parts, rest].join('');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

type Unpack = (bytes: Buffer, options: ZlibOptions) => Buffer;

const unpackers: Readonly<Record<string, Unpack>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decompresses what a proxy compressed although the request did not allow it; returns bytes that cannot be decompressed unchanged. */
function decompress(bytes: Buffer, unpack: Unpack, maxBytes: number): Buffer {
  if (bytes.byteLength === 0) return bytes;
  try {
    return unpack(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw largerThan(maxBytes);
    return bytes;
  }
}

/** Returns the error of an answer that is larger than is read. */
export function largerThan(bytes: number, of = ''): Error {
  const size = bytes < 1024 * 1024 ? `${bytes} bytes` : `${Math.floor(bytes / 1024 / 1024)} MiB`;
  return tooLarge(`${size}${of}`);
}

/** Returns the error of an answer that has more than is read. */
export function tooLarge(most: string): Error {
  return Object.assign(new Error(`more than ${most}`), { code: tooLargeCode });
}

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
