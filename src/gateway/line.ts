import { setTimeout } from 'node:timers/promises';
import { AppError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { RequestEvent } from '../model/result/outcome.ts';
import { openClient, type Client } from './client.ts';
import type { Answers, Dialect, Hello, Introduction } from './dialect.ts';
import { dialectOf } from './dialects/index.ts';
import { defaultRetryLimits, pauseAfter, type RetryLimits } from './retry.ts';
import { openTransport, type Timeouts } from './transport.ts';

export type LineOptions = {
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
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: Partial<RetryLimits>;
  /** The largest answer that is read, in bytes. */
  readonly maxBytes?: number;
  /** Told of each try of each request. */
  readonly onRequest?: (event: RequestEvent) => void;
};

/** A gateway that can be asked: who it is, how it speaks, and the client that speaks to it. */
export type Line = {
  readonly url: string;
  readonly client: Client;
  readonly dialect: Dialect;
  /** What it says of itself and of the caller; asked once. */
  readonly answers: () => Promise<Answers>;
  readonly introduction: () => Promise<Introduction>;
  readonly identify: () => Promise<GatewayIdentity>;
  /** Waits a little, longer after each attempt. */
  readonly pause: (attempt: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

const defaultTimeouts: Timeouts = { connect: 10_000, idle: 60_000, whole: 300_000 };
const defaultMaxBytes = 512 * 1024 * 1024;

/** Opens a line to a gateway; asks it who it is unless the dialect is given. */
export async function openLine(options: LineOptions): Promise<Line> {
  const { random = Math.random, now = Date.now, sleep = pause, signal, onRequest } = options;
  const url = rootOf(options.url);
  const limits = { ...defaultRetryLimits, ...options.retries };
  const transport = openTransport({ ...defaultTimeouts, ...options.timeouts }, options.maxBytes ?? defaultMaxBytes);
  const optional = { ...(signal === undefined ? {} : { signal }), ...(onRequest === undefined ? {} : { onRequest }) };
  const client = openClient({ transport, url, token: options.token, limits, random, now, sleep, ...optional });

  try {
    const probe = options.dialect === 'auto' ? await greet(client, [401]) : undefined;
    const dialect = dialectOf(options.dialect, probe);
    const auth = options.auth === 'auto' ? dialect.auth(options.token.trim()) : options.auth;
    client.authorize(auth);
    client.advise(dialect.advice);
    const hello = auth === 'bearer' && probe !== undefined && probe.status !== 401 ? probe : undefined;
    let asked: Promise<Answers> | undefined;
    const answers = (): Promise<Answers> => (asked ??= ask(client, dialect, hello));
    let introduced: Promise<Introduction> | undefined;
    const introduction = (): Promise<Introduction> => (introduced ??= answers().then((all) => dialect.introduce(all)));
    return {
      url,
      client,
      dialect,
      answers,
      introduction,
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
async function ask(client: Client, dialect: Dialect, known: Hello | undefined): Promise<Answers> {
  const caller = dialect.callerPath === undefined ? undefined : client.send({ method: 'GET', path: dialect.callerPath });
  const [hello, answer] = await Promise.all([known ?? greet(client, []), caller]);
  return { hello, caller: answer?.body };
}

/** Asks a gateway who it is; one that does not say is none the worse. */
async function greet(client: Client, accept: readonly number[]): Promise<Hello> {
  const { status, header, body } = await client.send({ method: 'GET', path: '/serverinfo', accept: [403, 404, 405, 501, ...accept] });
  return { server: header('server') ?? '', status, body };
}

/** The API's root without a final slash; credentials, a query or another scheme than http are refused. */
function rootOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
  if (!fits || url.search !== '' || url.hash !== '') {
    throw new AppError('api/bad-url', 3, 'the url of the gateway is not an http(s) address without credentials, query and fragment', {
      hint: 'it looks like https://gateway.example.com/api; the token belongs into an environment variable',
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
}
