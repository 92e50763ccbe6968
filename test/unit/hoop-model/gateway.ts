import { sendRequest, type RecordedResponse, type RecordedRequest } from '../../support/hoop/send-request.ts';
import { isList, isObject, type Json, type JsonObject } from '../../support/hoop/json.ts';
import type { HoopOptions } from '../../support/hoop/options.ts';
import { startHoopModel, type HoopModel } from '../../support/hoop/start.ts';

/** A model with a key of every role; requests use the admin key by default. */
export type Gateway = {
  readonly model: HoopModel;
  readonly send: (method: string, path: string, body?: Json, question?: Partial<RecordedRequest>) => Promise<RecordedResponse>;
  /** Returns the object that a GET of the path responds with. */
  readonly get: (path: string, question?: Partial<RecordedRequest>) => Promise<JsonObject>;
  /** Creates an object and returns the response. */
  readonly make: (path: string, body: Json) => Promise<JsonObject>;
  readonly close: () => Promise<void>;
};

export const agent = 'prod-agent';
export const unknownId = '00000000-0000-4000-8000-000000000000';

export async function startGateway(options: HoopOptions = {}): Promise<Gateway> {
  const model = await startHoopModel({
    licence: 'enterprise',
    agents: [{ name: agent }],
    keys: [
      { name: 'ci', token: 'hpk_admin', groups: ['admin'] },
      { name: 'watcher', token: 'hpk_auditor', groups: ['auditor'] },
      { name: 'dev', token: 'hpk_standard', groups: ['developers'] },
    ],
    users: [{ email: 'ada@example.com', token: 'jwt-of-ada', groups: ['admin'] }],
    ...options,
  });
  const send: Gateway['send'] = (method, path, body, question = {}) =>
    sendRequest(model.url, { method, path, token: 'hpk_admin', ...(body === undefined ? {} : { body }), ...question });
  return {
    model,
    send,
    get: async (path, question) => object((await send('GET', path, undefined, question)).body),
    make: async (path, body) => {
      const answer = await send('POST', path, body);
      if (answer.status !== 201) throw new Error(`POST ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return object(answer.body);
    },
    close: model.close,
  };
}

/** Returns the body of a connection, with additional fields. */
export function connection(name: string, extra: JsonObject = {}): JsonObject {
  return {
    name,
    type: 'database',
    subtype: 'postgres',
    agent_id: '11111111-1111-4111-8111-111111111111',
    access_mode_runbooks: 'enabled',
    access_mode_exec: 'enabled',
    access_mode_connect: 'enabled',
    access_schema: 'enabled',
    ...extra,
  };
}

/** Returns the body of a masking rule, with additional fields. */
export function masking(name: string, extra: JsonObject = {}): JsonObject {
  return { name, supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }], ...extra };
}

export function object(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Error(`${JSON.stringify(value)} is not an object`);
  return value;
}

export function list(value: Json | undefined): readonly Json[] {
  if (!isList(value)) throw new Error(`${JSON.stringify(value)} is not an array`);
  return value;
}

/** Returns the status and message of a refusal in one line. */
export function refusal({ status, body }: RecordedResponse): string {
  return `${status} ${JSON.stringify(isObject(body) ? body['message'] : body)}`;
}

export function word(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error(`${JSON.stringify(value)} is not a text`);
  return value;
}
