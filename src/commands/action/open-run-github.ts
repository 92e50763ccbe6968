import { openTransport, type HttpExchange, type NetworkOptions } from '../../gateway/http/transport.ts';
import { openGitHub, type GitHub, type SendRequest } from '../../github/github-client.ts';
import type { CliContext } from '../context/cli-context.ts';
import { readNetwork } from '../context/connect.ts';
import { version } from '../context/version.ts';
import type { ActionTask, TaskResult } from './task.ts';

/** Opens GitHub for the repository of the run, through the proxies of the environment. */
export function openRunGitHub(
  { inputs, run }: Pick<ActionTask, 'inputs' | 'run'>,
  { waits, context }: Pick<TaskResult, 'waits' | 'context'>,
): GitHub {
  const send = senderOf(context.env);
  return openGitHub({ ...run, token: inputs.token, version, sleep: waits.sleep, waits, ...(send === undefined ? {} : { send }) });
}

/** Returns a function that sends requests through the proxies of the environment; undefined if it has none. */
export function senderOf(env: CliContext['env']): SendRequest | undefined {
  const network = readNetwork(env);
  return network === undefined ? undefined : sendThrough(network);
}

const timeouts = { connectMs: 10_000, idleMs: 30_000, wholeMs: 60_000 };
const maxBytes = 64 * 1024 * 1024;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Makes a function that sends requests as Node's `fetch` does, which uses no proxy; a transport is opened for each request. */
function sendThrough(network: NetworkOptions): SendRequest {
  return async (url, { method: given = 'GET', headers, body, signal }) => {
    const method: HttpExchange['method'] | undefined = methods.find((one) => one === given);
    if (method === undefined || (body !== undefined && body !== null && typeof body !== 'string'))
      throw new TypeError(`${given} is not sent`);
    const transport = openTransport(timeouts, maxBytes, network);
    try {
      const { status, header, text } = await transport.exchange({
        method,
        url: url.href,
        headers: Object.fromEntries(new Headers(headers)),
        ...(typeof body === 'string' ? { body } : {}),
        ...(signal instanceof AbortSignal ? { signal } : {}),
      });
      const names = ['content-type', 'link', 'location', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
      const found = names.flatMap((name): [string, string][] => {
        const value = header(name);
        return value === undefined ? [] : [[name, value]];
      });
      return new Response(text === '' ? null : text, { status, headers: found });
    } finally {
      await transport.close();
    }
  };
}
