import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from '@hono/node-server';

/** Security headers of every response: no sniffing, caching, referrer or framing. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The answer to a request that no route sees, and what is known of the request; the method may be unknown (`none`). */
export type UnroutedAnswer = {
  readonly method: string;
  readonly status: number;
  readonly message: string;
  readonly address: string | undefined;
};

type Observe = (answer: UnroutedAnswer) => void;
type Refusal = { readonly status: 400 | 408 | 417 | 431 | 500; readonly reason: string; readonly message: string };

const malformed: Refusal = { status: 400, reason: 'Bad Request', message: 'the request is not valid HTTP' };
const refusalsByCode: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: 'Request Timeout', message: 'the request was not complete in time' },
  HPE_HEADER_OVERFLOW: { status: 431, reason: 'Request Header Fields Too Large', message: 'the headers are larger than 16 KiB' },
};

const supportedMethods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/**
 * Answers a request for the server as a whole (`OPTIONS *`), and one without exactly one host: only HTTP/1.0 may have none. Returns
 * whether it did. Replaces an absolute target by its path, so that logs do not show what precedes the path.
 */
export function answerUnrouted(incoming: IncomingMessage, outgoing: ServerResponse, observe: Observe): boolean {
  const { method = 'none', url = '', httpVersion, socket } = incoming;
  const hosts = countHosts(incoming.rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    const message = hosts > 1 ? 'the request has more than one Host header' : 'the request has no Host header';
    outgoing.setHeader('Connection', 'close');
    sendRefusal(outgoing, { ...malformed, message });
    observe({ method, status: malformed.status, message, address: socket.remoteAddress });
    return true;
  }
  if (method === 'OPTIONS' && url === '*') {
    outgoing.writeHead(204, { Allow: supportedMethods }).end();
    observe({ method, status: 204, message: 'OPTIONS *', address: socket.remoteAddress });
    return true;
  }
  if (/^https?:\/\/[^\\]+$/i.test(url) && URL.canParse(url)) {
    const { pathname, search } = new URL(url);
    incoming.url = `${pathname}${search}`;
  }
  return false;
}

/** Counts the `Host` headers: Node drops all but the first. */
function countHosts(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length;
}

function sendRefusal(outgoing: ServerResponse, { status, message }: Refusal): void {
  const body = JSON.stringify({ message });
  outgoing.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Answers requests that are not valid HTTP, or expect what no server of HTTP/1.1 knows. */
export function rejectMalformedRequests(server: Server, observe: Observe): void {
  server.on('checkExpectation', ({ method = 'none', socket }: IncomingMessage, outgoing: ServerResponse) => {
    const refused: Refusal = { status: 417, reason: 'Expectation Failed', message: 'the expectation cannot be met' };
    observe({ ...refused, method, address: socket.remoteAddress });
    for (const [name, value] of Object.entries(securityHeaders)) outgoing.setHeader(name, value);
    sendRefusal(outgoing, refused);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refused = refusalsByCode[error.code ?? ''] ?? malformed;
    observe({ ...refused, method: 'none', address: socket.remoteAddress });
    const body = JSON.stringify({ message: refused.message });
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
      ...securityHeaders,
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 ${refused.status} ${refused.reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** Answers requests whose path does not form a URL. */
export function answerMalformedUrls(observe: Observe): (error: unknown) => Response {
  return (error) => {
    const refused: Refusal =
      error instanceof RequestError
        ? { ...malformed, message: 'the request target is not a valid URL' }
        : { status: 500, reason: '', message: 'internal error' };
    observe({ ...refused, method: 'none', address: undefined });
    return Response.json({ message: refused.message }, { status: refused.status });
  };
}
