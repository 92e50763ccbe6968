import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A response as bytes. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
};

/** One request at the proxy, and what a fault can do with it. */
export type Exchange = {
  /** The number of the request, from 1, since the proxy was disturbed last. */
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  /** Sends the request to the gateway and returns its response; a write ends with a look at the gateway. */
  readonly forward: () => Promise<Answer>;
  readonly send: (answer: Answer) => void;
  /** Closes the connection, after the start of a response or without one. */
  readonly reset: (start?: Answer) => void;
  /** Sends the response in small pieces. */
  readonly trickle: (answer: Answer) => Promise<void>;
};

/** Handles one request, correctly or not. */
export type HandleExchange = (exchange: Exchange) => Promise<void>;

/** A proxy before a gateway that can disturb any request. */
export type FaultProxy = {
  readonly url: string;
  /** Counts requests from 1 again, and handles each in this way; undefined forwards all. */
  readonly disturb: (handle: HandleExchange | undefined) => void;
  /** The number of requests since then. */
  readonly count: () => number;
  readonly close: () => Promise<void>;
};

/** Forwards a request and sends the response unchanged. */
export async function passOn(exchange: Exchange): Promise<void> {
  exchange.send(await exchange.forward());
}

/** Starts a proxy before the gateway; after each write, before its response, it runs `onWrite`, without another write meanwhile. */
export async function startFaultProxy(target: string, onWrite: () => Promise<void>): Promise<FaultProxy> {
  let count = 0;
  let handle: HandleExchange | undefined;
  let lastWrite: Promise<unknown> = Promise.resolve();

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const result = lastWrite.then(work);
    lastWrite = result.catch(() => undefined);
    return result;
  }

  const server = createServer((request, response) => {
    count += 1;
    const index = count;
    void (async () => {
      const body = await buffer(request);
      const { method = 'GET', url: path = '/' } = request;
      const once = (): Promise<Answer> => forward(new URL(path, target), request, body);
      const written = async (): Promise<Answer> => {
        const answer = await once();
        await onWrite();
        return answer;
      };
      const exchange = { index, method, path, body, forward: () => (method === 'GET' ? once() : alone(written)), ...senderOf(response) };
      await (handle ?? passOn)(exchange);
    })().catch(() => response.destroy());
  });
  // Only faults close a connection, not a pause of this busy process.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname.replace(/\/$/, '')}`,
    disturb(next) {
      count = 0;
      handle = next;
    },
    count: () => count,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function forward(url: URL, { method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const { connection: _, host: __, 'transfer-encoding': ___, ...rest } = headers;
  return new Promise((resolve, reject) => {
    const onward = sendRequest(url, { method, headers: rest }, (incoming) => {
      const { connection: ____, 'transfer-encoding': _____, 'content-length': ______, ...kept } = incoming.headers;
      buffer(incoming).then((bytes) => resolve({ status: incoming.statusCode ?? 502, headers: kept, body: bytes }), reject);
    });
    onward.once('error', reject);
    onward.end(body);
  });
}

const pieces = 12;

function senderOf(response: ServerResponse): Pick<Exchange, 'send' | 'reset' | 'trickle'> {
  const begin = ({ status, headers, body }: Answer): void => {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
    if (body.length > 0) response.setHeader('content-length', body.length);
    response.writeHead(status);
  };
  return {
    send(answer) {
      begin(answer);
      response.end(answer.body);
    },
    reset(start) {
      if (start === undefined) return void response.destroy();
      begin(start);
      response.write(start.body.subarray(0, start.body.length / 2), () => response.destroy());
    },
    async trickle(answer) {
      begin(answer);
      const size = Math.max(1, Math.ceil(answer.body.length / pieces));
      for (let at = 0; at < answer.body.length; at += size) {
        response.write(answer.body.subarray(at, at + size));
        await new Promise((resolve) => {
          setTimeout(resolve, 15);
        });
      }
      response.end();
    },
  };
}
