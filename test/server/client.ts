import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { startPgliteServer, startPostgresServer, type TestServer, type TestServerOptions } from '../support/servers.ts';

/** The two databases that a gateway supports. */
export const databases: readonly (readonly [name: string, start: (options?: TestServerOptions) => Promise<TestServer>])[] = [
  ['PGlite', startPgliteServer],
  ['PostgreSQL', startPostgresServer],
];

export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** The body if it is an object, else an empty one. */
  readonly body: JsonObject;
  /** The body if it is an array, else an empty one. */
  readonly list: readonly JsonObject[];
};

/** Sends one request with the given body, key and headers. */
export type CallServer = (method: string, path: string, request?: CallOptions) => Promise<ApiAnswer>;
type CallOptions = {
  readonly body?: Json;
  readonly text?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Creates a client that uses the admin key, unless a request names another one. */
export function callerOf(server: Pick<TestServer, 'url' | 'key'>): CallServer {
  return async (method, path, { body, text, key = server.key, headers = {} } = {}) => {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
    const ask = () =>
      fetch(`${server.url}${path}`, { method, ...(sent === undefined ? {} : { body: sent }), headers: { ...authorization, ...headers } });
    // A server may close an idle connection while a request is on its way: a read is repeated, as browsers do.
    const response = await (method === 'GET' ? ask().catch(ask) : ask());
    const received = await response.text();
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    const parsed: Json = isJson && received !== '' ? JSON.parse(received) : null;
    return {
      status: response.status,
      headers: response.headers,
      body: isObject(parsed) ? parsed : {},
      list: Array.isArray(parsed) ? parsed.filter((entry) => isObject(entry)) : [],
    };
  };
}

/** Returns the id of a registered agent. */
export async function agentId(call: CallServer, name = 'default'): Promise<string> {
  const { list } = await call('GET', '/agents');
  return idOf({ body: list.find((agent) => agent['name'] === name) ?? {} });
}

/** Returns a body that creates a connection. */
export function connectionBody(name: string, agent: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    type: 'database',
    agent_id: agent,
    access_mode_connect: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'enabled',
    ...more,
  };
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Returns the ids in a field of a response. */
export function idsIn(answer: Pick<ApiAnswer, 'body'>, field: string): readonly string[] {
  const value = answer.body[field];
  return Array.isArray(value) ? value.map((id: Json) => (typeof id === 'string' ? id : '')) : [];
}

/** Returns the id in a response. */
export function idOf({ body }: Pick<ApiAnswer, 'body'>): string {
  return typeof body['id'] === 'string' ? body['id'] : '';
}

/** Creates a key of these groups and returns its text. */
export async function createKey(call: CallServer, name: string, groups: readonly string[], manager = ''): Promise<string> {
  const { status, body } = await call('POST', '/api-keys', { body: { name, groups: [...groups], manager } });
  const { key } = body;
  if (status !== 201 || typeof key !== 'string') throw new Error(`no key was made: ${status} ${JSON.stringify(body)}`);
  return key;
}

/** Returns the rows of a page. */
export function rowsOf({ body }: Pick<ApiAnswer, 'body'>): readonly JsonObject[] {
  const { data } = body;
  return Array.isArray(data) ? data.filter((row: Json) => isObject(row)) : [];
}
