import { AppError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';

/** Returns an answer that is an object; throws AppError `forge/unexpected-answer` for anything else, such as the page of a proxy. */
export function objectIn(value: unknown, what: string): JsonObject {
  return isObject(value) ? value : throwUnexpected(what);
}

/** Returns an answer that is a list; throws AppError `forge/unexpected-answer` for anything else. */
export function listIn(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : throwUnexpected(`a list with ${what}`);
}

/** Returns an integer of an object; throws AppError `forge/unexpected-answer` if there is none. */
export function numberIn(value: JsonObject, name: string, what: string): number {
  const found = value[name];
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : throwUnexpected(what);
}

/** Returns a text of an object; throws AppError `forge/unexpected-answer` if there is none. */
export function textIn(value: JsonObject, name: string, what: string): string {
  const found = value[name];
  return typeof found === 'string' ? found : throwUnexpected(what);
}

/** Throws: nothing is concluded from an answer of another shape. */
export function throwUnexpected(what: string): never {
  throw new AppError('forge/unexpected-answer', 4, `the response of the API is not ${what}`, {
    hint: 'check its URL and proxies; the result of the run is valid',
  });
}
