import { createServer, request as sendRequest } from 'node:http';
import { freePort } from './free-port.ts';

/** A request as the proxy sees it. */
type ProxiedRequest = { readonly method: string; readonly path: string };

/** A proxy that answers 404 instead of the gateway behind it. */
export type ForgetfulProxy = {
  readonly url: string;
  /** Answers 404 to as many of the next requests that match. */
  readonly forget: (matches: (request: ProxiedRequest) => boolean, times: number) => void;
  /** Runs an action once, before the next request that matches is passed on. */
  readonly before: (matches: (request: ProxiedRequest) => boolean, action: () => Promise<unknown>) => void;
  /** The requests that got a 404 from the proxy. */
  readonly forgotten: readonly string[];
  readonly close: () => Promise<void>;
};

/** Starts a proxy that passes all requests on until a test makes it forget some. */
export async function startForgetfulProxy(target: string): Promise<ForgetfulProxy> {
  let rule: { readonly matches: (request: ProxiedRequest) => boolean; times: number } | undefined;
  let planned: { readonly matches: (request: ProxiedRequest) => boolean; readonly action: () => Promise<unknown> } | undefined;
  const forgotten: string[] = [];
  const server = createServer((incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    if (rule !== undefined && rule.times > 0 && rule.matches({ method, path })) {
      rule.times -= 1;
      forgotten.push(`${method} ${path}`);
      incoming.resume();
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not found"}');
      return;
    }
    const passOn = (): void => {
      const onward = sendRequest(`${target}${path}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      incoming.pipe(onward);
    };
    const now = planned?.matches({ method, path }) === true ? planned : undefined;
    if (now === undefined) {
      passOn();
      return;
    }
    planned = undefined;
    void now.action().then(passOn);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    forgotten,
    forget(matches, times) {
      rule = { matches, times };
    },
    before(matches, action) {
      planned = { matches, action };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
