import { setTimeout } from 'node:timers/promises';
import { AppError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { RequestEvent } from '../model/result/outcome.ts';
import { createClient, type Client } from './http/client.ts';
import type { Handshake, Dialect, ServerInfo, Capabilities } from './dialect.ts';
import { dialectOf } from './dialects/index.ts';
import { defaultRetryLimits, pauseAfter, type RetryLimits } from './http/retry.ts';
import { openTransport, type TransportTimeouts } from './http/transport.ts';

export type SessionOptions = {
  /** The root of the gateway's API. */
  readonly url: string;
  readonly token: string;
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly dialect: 'auto' | 'interface' | 'hoop';
  /** Interrupts requests and pauses; a write under way is then uncertain. */
  readonly signal?: AbortSignal;
  readonly random?: () => number;
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly timeouts?: Partial<TransportTimeouts>;
  readonly retries?: Partial<RetryLimits>;
  /** The largest answer that is read, in bytes. */
  readonly maxBytes?: number;
  /** Told of each try of each request. */
  readonly onRequest?: (event: RequestEvent) => void;
};

/** A gateway that can be asked: who it is, how it speaks, and the client that speaks to it. */
export type GatewaySession = {
  readonly url: string;
  readonly client: Client;
  readonly dialect: Dialect;
  /** What it says of itself and of the caller; asked once. */
  readonly handshake: () => Promise<Handshake>;
  readonly capabilities: () => Promise<Capabilities>;
  readonly identify: () => Promise<GatewayIdentity>;
  /** Waits a little, longer after each attempt. */
  readonly pause: (attempt: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

const defaultTimeouts: TransportTimeouts = { connectMs: 10_000, idleMs: 60_000, wholeMs: 300_000 };
const defaultMaxBytes = 512 * 1024 * 1024;

/** Opens a line to a gateway; asks it who it is unless the dialect is given. */
export async function openSession(options: SessionOptions): Promise<GatewaySession> {
  const { random = Math.random, now = Date.now, sleep = sleepFor, signal, onRequest } = options;
  const url = apiRoot(options.url);
  const limits = { ...defaultRetryLimits, ...options.retries };
  const transport = openTransport({ ...defaultTimeouts, ...options.timeouts }, options.maxBytes ?? defaultMaxBytes);
  const optional = { ...(signal === undefined ? {} : { signal }), ...(onRequest === undefined ? {} : { onRequest }) };
  const client = createClient({ transport, url, token: options.token, limits, random, now, sleep, ...optional });

  try {
    const probe = options.dialect === 'auto' ? await requestServerInfo(client, [401]) : undefined;
    const dialect = dialectOf(options.dialect, probe);
    const auth = options.auth === 'auto' ? dialect.authHeaderFor(options.token.trim()) : options.auth;
    client.authorize(auth);
    client.useErrorHints(dialect.errorHints);
    const hello = auth === 'bearer' && probe !== undefined && probe.status !== 401 ? probe : undefined;
    let asked: Promise<Handshake> | undefined;
    const answers = (): Promise<Handshake> => (asked ??= shakeHands(client, dialect, hello));
    let introduced: Promise<Capabilities> | undefined;
    const introduction = (): Promise<Capabilities> => (introduced ??= answers().then((all) => dialect.readCapabilities(all)));
    return {
      url,
      client,
      dialect,
      handshake: answers,
      capabilities: introduction,
      async identify() {
        const { organisation, version, role, borrowed } = await introduction();
        return {
          url,
          dialect: dialect.name,
          ...(organisation === undefined ? {} : { organisation }),
          ...(version === undefined ? {} : { version }),
          ...(role === undefined ? {} : { role }),
          ...(borrowed === undefined ? {} : { borrowed }),
        };
      },
      pause: (attempt) => sleep(pauseAfter(attempt, undefined, { ...limits, random }), signal),
      close: () => transport.close(),
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** Asks a gateway who it is, unless it said so already, and who the caller is. */
async function shakeHands(client: Client, dialect: Dialect, known: ServerInfo | undefined): Promise<Handshake> {
  const caller = dialect.callerPath === undefined ? undefined : client.send({ method: 'GET', path: dialect.callerPath });
  const [hello, answer] = await Promise.all([known ?? requestServerInfo(client, []), caller]);
  return { serverInfo: hello, caller: answer?.body };
}

/** Asks a gateway who it is; one that does not say is none the worse. */
async function requestServerInfo(client: Client, accept: readonly number[]): Promise<ServerInfo> {
  const { status, header, body } = await client.send({ method: 'GET', path: '/serverinfo', accept: [403, 404, 405, 501, ...accept] });
  return { server: header('server') ?? '', status, body };
}

/** The API's root without a final slash; credentials, a query or another scheme than http are refused. */
function apiRoot(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
  if (!fits || url.search !== '' || url.hash !== '') {
    throw new AppError('api/bad-url', 3, 'the url of the gateway is not an http(s) address without credentials, query and fragment', {
      hint: 'it looks like https://gateway.example.com/api; the token belongs into an environment variable',
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

async function sleepFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
}
