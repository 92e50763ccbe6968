import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request as the server saw it. */
export type Seen = { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string };

/** Answers one request, correctly or not. */
export type Reply = (response: ServerResponse, seen: Seen) => void;

export type FlakyServer = {
  readonly url: string;
  readonly seen: readonly Seen[];
  readonly close: () => Promise<void>;
};

/** With `ca`, the server demands a client certificate of that authority. */
type Options = { readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string; readonly maxVersion?: 'TLSv1.2' } };

/** Starts a server that answers its requests with the replies in order, and repeats the last one. */
export async function startFlakyServer(replies: readonly Reply[] | Reply, options: Options = {}): Promise<FlakyServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      };
      const reply = typeof replies === 'function' ? replies : (replies[seen.length] ?? replies.at(-1));
      seen.push(one);
      reply?.(response, one);
    });
  };
  const server: Server =
    options.tls === undefined
      ? createServer(listener)
      : createTlsServer({ ...options.tls, requestCert: options.tls.ca !== undefined }, listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http${options.tls === undefined ? '' : 's'}://127.0.0.1:${portOf(server.address())}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Returns a JSON reply. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Returns a reply with a text body. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
  };
}

/** Returns a compressed JSON reply. */
export function packed(encoding: string, body: Uint8Array): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body);
  };
}

/** Closes the connection without a response. */
export const reset: Reply = (response) => {
  response.socket?.destroy();
};

/** Never sends a response. */
export const silence: Reply = () => {};

/** Promises more bytes than it sends. */
export function cut(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 100) });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Sends the headers and the start of a body, then stalls. */
export function stall(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 100) });
    response.write(body);
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
