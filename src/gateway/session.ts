import { setTimeout } from 'node:timers/promises';
import {
  type Capabilities,
  type Dialect,
  type Handshake,
  type ObjectAddress,
  type ServerInfo,
  serverInfoPath,
  type WireKind,
} from './dialect.ts';
import {
  defaultDialect,
  dialectNamed,
  mayBeApiKey,
  recognizeAbsence,
  recognizeHeader,
  recognizeInfo,
  recognizeRows,
} from './dialects/choose-dialect.ts';
import { type Client, createClient } from './http/client.ts';
import {
  type NetworkOptions,
  type RetryLimits,
  type Transport,
  type TransportTimeouts,
  defaultRetryLimits,
  openTransport,
  pauseAfter,
} from './http/transport.ts';
import { type IdIndex, createIdIndex } from './id-index.ts';
import { type EntryReader, entryReader } from './from-wire.ts';
import { onFirstUse } from '../model/collections.ts';
import { gatewayUrl } from '../model/config.ts';
import type { DialectChoice } from '../model/dialects.ts';
import { type ApiError, AppError } from '../model/errors.ts';
import type { AccessGrant } from '../model/protection/access-objects.ts';
import { type GatewayIdentity, hasField } from '../model/gateway.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { InheritedKeys, LiveResource } from '../model/live.ts';
import { type ResourceId, kindOf, nameOf, resourceId } from '../model/resource.ts';
import type { RequestEvent, RetryEvent } from '../model/result/outcome.ts';

export type SessionOptions = {
  /** The root of the gateway's API. */
  readonly url: string;
  readonly token: string;
  /** The environment variable that has the token. */
  readonly tokenName?: string | undefined;
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly dialect: DialectChoice;
  /** Interrupts requests and pauses; the outcome of a write in progress is then uncertain. */
  readonly signal?: AbortSignal | undefined;
  readonly random?: () => number;
  readonly now?: () => number;
  readonly sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
  readonly timeouts?: Partial<TransportTimeouts>;
  readonly network?: NetworkOptions | undefined;
  /** Reaches the gateway; opened from the other options by default. */
  readonly transport?: Transport | undefined;
  readonly retries?: Partial<RetryLimits>;
  readonly readConcurrency?: number | undefined;
  /** The largest response body that is read, in bytes. */
  readonly maxBytes?: number;
  /** Called after each attempt of each request. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called before each pause that precedes another attempt. */
  readonly onRetry?: (event: RetryEvent) => void;
};

/** A session with one gateway: the client, the dialect, and what the gateway reports about itself. */
export type GatewaySession = {
  readonly url: string;
  readonly client: Client;
  readonly dialect: Dialect;
  /** What the gateway reports about itself and about the caller; requested once. */
  readonly handshake: () => Promise<Handshake>;
  readonly capabilities: () => Promise<Capabilities>;
  readonly identify: () => Promise<GatewayIdentity>;
  /** Waits before the next attempt of a write, as long as the gateway asks; each pause is longer than the one before. */
  readonly pause: (attempt: number, failed: ApiError) => Promise<void>;
  readonly close: () => Promise<void>;
};

const defaultTimeouts: TransportTimeouts = { connectMs: 10_000, idleMs: 60_000, wholeMs: 300_000 };
const defaultMaxBytes = 128 * 1024 * 1024;

/** Opens a session with a gateway; requests the server info where the dialect is `auto`. Throws an AppError for an invalid URL or token. */
export async function openSession(options: SessionOptions): Promise<GatewaySession> {
  const { token, tokenName, random = Math.random, now = Date.now, sleep = sleepFor, signal, readConcurrency, onRequest, onRetry } = options;
  const url = apiRoot(options.url);
  const limits = { ...defaultRetryLimits, ...options.retries };
  const transport =
    options.transport ?? openTransport({ ...defaultTimeouts, ...options.timeouts }, options.maxBytes ?? defaultMaxBytes, options.network);
  const certified = options.network?.client !== undefined;
  const client = createClient({
    transport,
    url,
    token,
    tokenName,
    limits,
    random,
    now,
    sleep,
    signal,
    certified,
    readConcurrency,
    onRequest,
    onRetry,
  });

  try {
    if (options.auth !== 'auto') client.authorize(options.auth);
    const {
      dialect: found,
      serverInfo,
      sentAs,
    } = options.dialect === 'auto' ? await detectDialect(client, { ...options, url }) : { dialect: dialectNamed(options.dialect) };
    const dialect = found ?? defaultDialect();
    const auth = options.auth === 'auto' ? dialect.authHeaderFor(options.token.trim()) : options.auth;
    client.authorize(auth);
    client.useErrorHints(dialect.errorHints, found === undefined ? `the gateway is not recognized: ${dialectHint}` : undefined);
    // The server info shows what the caller may see only if the token was in the right header.
    const known = auth === sentAs && serverInfo?.status !== 401 ? serverInfo : undefined;
    const handshake = onFirstUse(() => shakeHands(client, dialect, known));
    const capabilities = onFirstUse(async () => dialect.readCapabilities(await handshake()));
    return {
      url,
      client,
      dialect,
      handshake,
      capabilities,
      identify: async () => identityFrom(url, dialect, await capabilities()),
      async pause(attempt, { message, failure }) {
        const pauseMs = pauseAfter(attempt, failure.retryAfterMs, { ...limits, random });
        onRetry?.({ message, pauseMs });
        await sleep(pauseMs, signal);
      },
      close: () => transport.close(),
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** Returns who the gateway is, as its answers about itself show. */
export function identityFrom(url: string, dialect: Dialect, { organisation, version, role, borrowed }: Capabilities): GatewayIdentity {
  return {
    url,
    dialect: dialect.name,
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    ...(borrowed === undefined ? {} : { borrowed }),
  };
}

/** Requests the server info, unless it is known, and the caller's account where the dialect has a path for it. */
async function shakeHands(client: Client, dialect: Dialect, known: ServerInfo | undefined): Promise<Handshake> {
  const caller = dialect.callerPath === undefined ? undefined : client.send({ method: 'GET', path: dialect.callerPath });
  const [serverInfo, response] = await Promise.all([known ?? requestServerInfo(client, []), caller]);
  return { serverInfo, caller: response?.body };
}

type Detection = { readonly dialect: Dialect | undefined; readonly serverInfo?: ServerInfo; readonly sentAs?: 'bearer' | 'api-key' };

/** The hint for a gateway that is not recognized. */
export const dialectHint = 'set dialect: interface or hoop in the config';

/**
 * Finds the dialect by the body of the server info, otherwise by the connections, otherwise by a header. Throws an AppError where a gateway
 * shows none; returns undefined where the next read gives a better reason, such as a wrong token or path.
 */
async function detectDialect(client: Client, options: Pick<SessionOptions, 'token' | 'auth' | 'url'>): Promise<Detection> {
  const { token, auth } = options;
  let sentAs: 'bearer' | 'api-key' = auth === 'auto' ? 'bearer' : auth;
  let serverInfo = await requestServerInfo(client, [401]);
  const shown = recognizeInfo(serverInfo) ?? recognizeHeader(serverInfo);
  if (serverInfo.status === 401 && shown === undefined && auth === 'auto' && mayBeApiKey(token.trim())) {
    sentAs = 'api-key';
    client.authorize(sentAs);
    serverInfo = await requestServerInfo(client, [401]);
  }
  const inInfo = recognizeInfo(serverInfo);
  if (inInfo !== undefined || serverInfo.status === 401) return { dialect: inInfo ?? recognizeHeader(serverInfo), serverInfo, sentAs };
  const { status, body } = await client.send({ method: 'GET', path: '/connections?page=1&page_size=1', accept: listStatuses });
  const dialect = recognizeRows(body) ?? recognizeHeader(serverInfo) ?? recognizeAbsence(serverInfo, body);
  if (dialect === undefined && !explainedStatuses.includes(status)) throw unknownDialect(options.url);
  return { dialect, serverInfo, sentAs };
}

/** The statuses of a list whose next read reports the reason. */
const explainedStatuses = [401, 404, 405, 500, 501];
const listStatuses = [...explainedStatuses, 400, 403, 422];

function unknownDialect(url: string): AppError {
  return new AppError(
    'api/unknown-dialect',
    4,
    `${url}: the gateway shows neither in /serverinfo nor in its connections which API it has`,
    {
      hint: `check that the URL is the root of a gateway’s API, then ${dialectHint}, or pass --dialect`,
    },
  );
}

/** Requests the server info; a gateway that does not provide it can still be used. */
async function requestServerInfo(client: Client, accept: readonly number[]): Promise<ServerInfo> {
  const { status, header, body } = await client.send({ method: 'GET', path: serverInfoPath, accept: [403, 404, 405, 501, ...accept] });
  return { server: header('server') ?? '', status, body };
}

/** Returns the API's root without a final slash; throws an AppError for credentials, a query, a fragment or a scheme other than http(s). */
export function apiRoot(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
  if (!fits || url.search !== '' || url.hash !== '') {
    throw new AppError('api/bad-url', 3, 'invalid gateway URL: expected http(s)://HOST/PATH without credentials, query and fragment', {
      hint: 'example: https://gateway.example.com/api; pass the token in an environment variable',
    });
  }
  return gatewayUrl(text);
}

async function sleepFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal && { signal });
}

/** One kind as this gateway has it: the kind with only the fields of this gateway, its wire form, its reader. */
export type KindBinding = { readonly kind: Kind; readonly wireKind: WireKind; readonly reader: EntryReader };

/** The texts in the rows of objects by their ids; `off` while the feature of the rows is off. */
export type RowsRead = ReadonlyMap<string, readonly string[]> | 'off' | 'unreadable';

/** What reading and writing share while a gateway is open. */
export type GatewayContext = Pick<GatewaySession, 'url' | 'client' | 'dialect' | 'handshake' | 'capabilities' | 'pause'> & {
  readonly idIndex: IdIndex;
  /** By uid: the result of the last read of that one object. */
  readonly recentReads: Map<string, LiveResource>;
  /** The rows beside objects as their list was read last, and the read of it that is in progress. */
  readonly rows: { last?: RowsRead; reading?: Promise<readonly AccessGrant[] | 'off' | 'unreadable'> };
  /** The rows of a plugin by the ids of their objects, as their list was read last. */
  readonly pluginRows: { last?: RowsRead | 'left out' };
  /** The keys of inherited secrets, where a bulk read has brought them. */
  readonly inherited: { keys?: InheritedKeys };
  readonly registry: Registry;
  /** Returns how this gateway has a kind; throws where the dialect has no such kind. */
  readonly bindingFor: (kind: string) => Promise<KindBinding>;
};

/** Makes what reading and writing share. */
export function createContext(
  { url, client, dialect, handshake, capabilities, pause }: GatewaySession,
  registry: Registry,
): GatewayContext {
  const idIndex = createIdIndex();
  const bindings = new Map<string, KindBinding>();
  return {
    url,
    client,
    dialect,
    handshake,
    capabilities,
    pause,
    idIndex,
    recentReads: new Map(),
    rows: {},
    pluginRows: {},
    inherited: {},
    registry,
    async bindingFor(name) {
      const { borrowed } = await capabilities();
      const present = bindings.get(name);
      if (present !== undefined) return present;
      const registered = registry.get(name);
      const wireKind = dialect.kinds[name];
      if (registered === undefined || wireKind === undefined) throw new Error(`the dialect ${dialect.name} has no kind ${name}`);
      const speech = { dialect: dialect.name, ...(borrowed === undefined ? {} : { borrowed }) };
      const kind = { ...registered, fields: registered.fields.filter((field) => hasField(speech, name, field)) };
      const binding = { kind, wireKind, reader: entryReader(kind, wireKind, idIndex) };
      bindings.set(name, binding);
      return binding;
    },
  };
}

/** Returns the id that the gateway uses for what a request writes. */
export function gatewayIdOf(kind: Kind, id: ResourceId, spec: Parameters<Kind['identity']>[1]): ResourceId {
  return resourceId(kindOf(id), kind.identity(nameOf(id), spec));
}

/** Returns what a path needs of a live object. */
export function addressOf(live: { readonly id: ResourceId; readonly uid: string }): ObjectAddress {
  return { uid: live.uid, name: nameOf(live.id) };
}
