import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request as the server saw it. */
export type Seen = { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string };

/** Answers one request, as badly as it likes. */
export type Reply = (response: ServerResponse, seen: Seen) => void;

export type FlakyServer = {
  readonly url: string;
  readonly seen: readonly Seen[];
  readonly close: () => Promise<void>;
};

type Options = { readonly tls?: { readonly key: string; readonly cert: string } };

/** Starts a server that answers its requests by the replies in turn, the last one again and again. */
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
  const server: Server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
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

/** A JSON answer. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Any other answer. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
  };
}

/** A JSON answer whose bytes were packed on the way. */
export function packed(encoding: string, body: Uint8Array): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body);
  };
}

/** Breaks the connection without an answer. */
export const reset: Reply = (response) => {
  response.socket?.destroy();
};

/** Never answers. */
export const silence: Reply = () => {};

/** Promises more bytes than it sends. */
export function cut(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 100) });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Sends the headers and the beginning of a body, and then nothing. */
export function stall(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 100) });
    response.write(body);
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
