import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpExchange, RawResponse, Transport } from '../../../src/gateway/http/transport.ts';
import { setAgentOnline } from './agents.ts';
import { respond, type ModelResponse } from './respond.ts';
import type { ModelContext } from './call.ts';
import { dumpStore } from './dump.ts';
import { toGoJson } from './json.ts';
import { RequestLog } from './log.ts';
import type { HoopOptions, ModelSettings, RepositorySeed } from './options.ts';
import { openReview, type ReviewSeed } from './review-seed.ts';
import type { ReviewRow } from './rows.ts';
import type { Store } from './store.ts';
import { createModelContext } from './model-context.ts';

/** A running model of the public gateway, and its controls for tests. */
export type HoopModel = {
  /** Where it listens, without the base path `/api`. */
  readonly url: string;
  /** Reaches it without the network, in half the time; a lost answer fails like a connection that breaks. */
  readonly transport: Transport;
  /** Sends a request below the base path, without the network. */
  readonly send: (
    method: string,
    path: string,
    token: string,
    body?: unknown,
  ) => Promise<{ readonly status: number; readonly body: unknown }>;
  readonly close: () => Promise<void>;
  /** Its tables; tests read and change them without requests. */
  readonly store: Store;
  /** All tables as lines, to find what was written: see `dumpStore`. */
  readonly dump: () => ReturnType<typeof dumpStore>;
  readonly settings: ModelSettings;
  readonly organisation: ModelContext['organisation'];
  readonly log: RequestLog;
  /** Reachable git repositories by normalised key. */
  readonly repositories: Map<string, RepositorySeed>;
  /** Sets the faults of requests; undefined removes them. */
  readonly setFault: (fault: HoopOptions['fault']) => void;
  /** Returns what a GET request would answer at this moment; no log has it, and it may be between two requests of a client. */
  readonly readNow: (path: string, token: string) => Pick<ModelResponse, 'status' | 'body'>;
  readonly setAgentOnline: (name: string, online: boolean) => void;
  /** Opens a review as the session of a connection would. */
  readonly openReview: (seed: ReviewSeed) => ReviewRow;
};

/** Starts a fresh model of the public gateway with these options. */
export async function startHoopModel(options: HoopOptions = {}): Promise<HoopModel> {
  const context = createModelContext(options);
  const log = new RequestLog();
  const state = { fault: options.fault };
  const basePath = options.basePath ?? '/api';
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => void response.destroy(error instanceof Error ? error : undefined));
  });
  // A client of the same busy process would send a request on a connection that is just being closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => void server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const result = await answer(request.method ?? 'GET', request.url ?? '/', request.headers, await text(request));
    if (result.lost) response.destroy();
    else send(response, result, context.version, request.method === 'HEAD');
  }

  async function answer(method: string, target: string, headers: IncomingHttpHeaders, body: string): Promise<ModelResponse> {
    const result = respond(context, log, { method, target, headers, body, basePath }, (seen) => state.fault?.(seen));
    if (result.delay > 0) await sleep(result.delay);
    return result;
  }

  async function exchange({ method, url, headers, body = '', signal }: HttpExchange): Promise<RawResponse> {
    signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    const result = await answer(method, `${pathname}${search}`, headers, body);
    // As undici does.
    if (result.lost) throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    const found = new Headers(headersOf(result, context.version));
    return { status: result.status, header: (name) => found.get(name) ?? undefined, text: textOf(result) ?? '' };
  }

  return {
    url: `http://127.0.0.1:${port ?? 0}`,
    transport: { exchange, close: async () => {} },
    async send(method, path, token, body) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const result = await answer(method, `${basePath}${path}`, headers, body === undefined ? '' : JSON.stringify(body));
      const answered = textOf(result) ?? '';
      return { status: result.status, body: answered === '' ? undefined : JSON.parse(answered) };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    store: context.store,
    dump: () => dumpStore(context.store),
    settings: context.settings,
    organisation: context.organisation,
    log,
    repositories: context.repositories,
    setFault: (fault) => void (state.fault = fault),
    readNow: (path, token) => {
      const received = { method: 'GET', target: `${basePath}${path}`, headers: { authorization: `Bearer ${token}` }, body: '', basePath };
      return respond(context, new RequestLog(), received, () => undefined);
    },
    setAgentOnline: (name, online) => setAgentOnline(context, name, online),
    openReview: (seed) => openReview(context, seed),
  };
}

function headersOf(result: ModelResponse, version: string): Record<string, string> {
  const type = result.text === undefined ? 'application/json; charset=utf-8' : 'text/plain';
  const typed = textOf(result) === undefined ? {} : { 'content-type': type };
  return { server: `hoopgateway/${version}`, 'access-control-allow-origin': '*', ...typed, ...result.headers };
}

function textOf(result: ModelResponse): string | undefined {
  return result.text ?? (result.body === undefined ? undefined : toGoJson(result.body));
}

function send(response: ServerResponse, result: ModelResponse, version: string, head: boolean): void {
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(headersOf(result, version))) response.setHeader(name, value);
  const body = textOf(result);
  if (body !== undefined && result.status !== 204) response.setHeader('content-length', Buffer.byteLength(body));
  response.end(head || result.status === 204 ? undefined : body);
}
