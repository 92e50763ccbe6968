import { createServer, request as sendRequest } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

/** A proxy of a company network: tunnels with CONNECT, and requests with a whole URL. */
export type ForwardProxy = {
  readonly url: string;
  /** The requests that arrived, as `CONNECT host:port` or `GET http://host/path`. */
  readonly seen: readonly string[];
  readonly close: () => Promise<void>;
};

type ProxyOptions = {
  /** The local ports of hosts that only the proxy knows. */
  readonly hosts?: Readonly<Record<string, number>>;
  /** The user and password that it requires, as `user:password`. */
  readonly login?: string;
};

/** Starts a proxy on a free port of this machine. */
export async function startForwardProxy({ hosts = {}, login }: ProxyOptions = {}): Promise<ForwardProxy> {
  const seen: string[] = [];
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const placeOf = (host: string, port: string): { readonly host: string; readonly port: number } => ({
    host: '127.0.0.1',
    port: hosts[host] ?? Number(port === '' ? 80 : port),
  });
  const server = createServer((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
      response.writeHead(407).end();
      return;
    }
    const { hostname, port, pathname, search } = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const onward = sendRequest({ ...placeOf(hostname, port), method: request.method, path: `${pathname}${search}`, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => void response.writeHead(502).end());
    request.pipe(onward);
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url ?? ''}`);
    socket.on('error', () => socket.destroy());
    if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const onward = connect(placeOf(host, port), () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server.address());
  return {
    url: `http://${login === undefined ? '' : `${login}@`}127.0.0.1:${port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address;
}
