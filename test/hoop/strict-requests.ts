import { asObject, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { LiveCall } from './live.ts';

/** Sends requests that have to succeed. */
export function strictly(call: LiveCall): (method: string, path: string, body?: JsonObject) => Promise<JsonObject> {
  return async (method, path, body) => {
    const { status, body: answer } = await call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${JSON.stringify(answer)}`);
    return asObject(answer);
  };
}

/** Replaces `@id` by the id that the gateway gave an object. */
export function resolveIds(sent: Json, ids: ReadonlyMap<string, string>): JsonObject {
  const replaced = (value: Json): Json => {
    if (typeof value === 'string') return value.startsWith('@') ? (ids.get(value.slice(1)) ?? value) : value;
    if (Array.isArray(value)) return value.map(replaced);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one)])) : value;
  };
  return asObject(replaced(sent));
}
