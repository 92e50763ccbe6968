import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { startPgliteServer, startPostgresServer, type TestServer, type TestServerOptions } from '../support/servers.ts';

/** Both databases that a gateway runs on. */
export const databases: readonly (readonly [name: string, start: (options?: TestServerOptions) => Promise<TestServer>])[] = [
  ['PGlite', startPgliteServer],
  ['PostgreSQL', startPostgresServer],
];

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** The body where it is an object, else an empty one. */
  readonly body: JsonObject;
  /** The body where it is an array, else an empty one. */
  readonly list: readonly JsonObject[];
};

/** Sends one request: body, key and headers as given. */
export type Call = (method: string, path: string, request?: Request) => Promise<Answer>;
type Request = {
  readonly body?: Json;
  readonly text?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Speaks to the server as its admin, unless a request says otherwise. */
export function callerOf(server: Pick<TestServer, 'url' | 'key'>): Call {
  return async (method, path, { body, text, key = server.key, headers = {} } = {}) => {
    const sent = text ?? (body === undefined ? null : JSON.stringify(body));
    const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
    const response = await fetch(`${server.url}${path}`, { method, body: sent, headers: { ...authorization, ...headers } });
    const received = await response.text();
    const parsed: Json = received === '' ? null : JSON.parse(received);
    return {
      status: response.status,
      headers: response.headers,
      body: isObject(parsed) ? parsed : {},
      list: Array.isArray(parsed) ? parsed.filter((entry) => isObject(entry)) : [],
    };
  };
}

/** The id of a registered agent. */
export async function agentId(call: Call, name = 'default'): Promise<string> {
  const { list } = await call('GET', '/agents');
  return idOf({ body: list.find((agent) => agent['name'] === name) ?? {} });
}

/** A body that creates a connection. */
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

/** The ids in a field of an answer. */
export function idsIn(answer: Pick<Answer, 'body'>, field: string): readonly string[] {
  const value = answer.body[field];
  return Array.isArray(value) ? value.map((id: Json) => (typeof id === 'string' ? id : '')) : [];
}

/** The id of what an answer holds. */
export function idOf({ body }: Pick<Answer, 'body'>): string {
  return typeof body['id'] === 'string' ? body['id'] : '';
}

/** Makes a key of those groups, and tells it. */
export async function makeKey(call: Call, name: string, groups: readonly string[], manager = ''): Promise<string> {
  const { status, body } = await call('POST', '/api-keys', { body: { name, groups: [...groups], manager } });
  const { key } = body;
  if (status !== 201 || typeof key !== 'string') throw new Error(`no key was made: ${status} ${JSON.stringify(body)}`);
  return key;
}

/** The rows of a page. */
export function rowsOf({ body }: Pick<Answer, 'body'>): readonly JsonObject[] {
  const { data } = body;
  return Array.isArray(data) ? data.filter((row: Json) => isObject(row)) : [];
}
