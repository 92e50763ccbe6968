import { Buffer } from 'node:buffer';
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
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
};

/** A response, whatever its status. */
export type RawResponse = { readonly status: number; readonly header: (name: string) => string | undefined; readonly text: string };

/** Sends one request without retries and without interpreting the response. Throws the errors of undici and Node. */
export type Transport = { readonly exchange: (exchange: HttpExchange) => Promise<RawResponse>; readonly close: () => Promise<void> };

type Opened = { readonly agent: Agent; readonly send: (request: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData> };

/** The code of the error for a response that is larger than `maxBytes`. */
export const tooLargeCode = 'OSTIARY_TOO_LARGE';

/** Opens a transport with keep-alive connections. It loads the HTTP library and connects at the first request. */
export function openTransport(timeouts: TransportTimeouts, maxBytes: number): Transport {
  let opened: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    const [agentModule, apiModule] = await Promise.all([import('undici/lib/dispatcher/agent.js'), import('undici/lib/api/index.js')]);
    const options = {
      connections: 32,
      connect: { timeout: timeouts.connectMs },
      headersTimeout: timeouts.idleMs,
      bodyTimeout: timeouts.idleMs,
    };
    const agent = new agentModule.default(options);
    return { agent, send: (request) => apiModule.default.request.call(agent, request) };
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
      const bytes = await readBytes(response.body, maxBytes, timeouts.wholeMs);
      return { status: response.statusCode, header, text: decodeText(decompress(bytes, header('content-encoding'), maxBytes)) };
    },
    async close() {
      if (opened === undefined) return;
      const { agent } = await opened;
      await agent.destroy();
    },
  };
}

async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number, milliseconds: number): Promise<Uint8Array> {
  const began = performance.now();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw largerThan(maxBytes);
    if (performance.now() - began > milliseconds) throw Object.assign(new Error('the answer has no end'), { code: 'ETIMEDOUT' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const unpackers: Readonly<Record<string, (bytes: Uint8Array, options: ZlibOptions) => Uint8Array>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decompresses what a proxy compressed although the request did not allow it; returns bytes that cannot be decompressed unchanged. */
function decompress(bytes: Uint8Array, encoding: string | undefined, maxBytes: number): Uint8Array {
  const unpack = encoding === undefined ? undefined : unpackers[encoding.trim().toLowerCase()];
  if (unpack === undefined || bytes.byteLength === 0) return bytes;
  try {
    return unpack(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw largerThan(maxBytes);
    return bytes;
  }
}

function largerThan(maxBytes: number): Error {
  return Object.assign(new Error(`the answer is larger than ${maxBytes} bytes`), { code: tooLargeCode });
}

function decodeText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
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
