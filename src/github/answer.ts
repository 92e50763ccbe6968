import { AppError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';

/** The object that an answer is; throws where it is something else, such as the page of a proxy. */
export function objectIn(value: unknown, what: string): JsonObject {
  return isObject(value) ? value : unexpected(what);
}

/** The list that an answer is. */
export function listIn(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : unexpected(`a list with ${what}`);
}

/** A number of an object; throws where there is none. */
export function numberIn(value: JsonObject, name: string, what: string): number {
  const found = value[name];
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : unexpected(what);
}

/** A text of an object; throws where there is none. */
export function textIn(value: JsonObject, name: string, what: string): string {
  const found = value[name];
  return typeof found === 'string' ? found : unexpected(what);
}

/** The login of somebody in an object, empty where an account is gone. */
export function loginIn(value: JsonObject, name = 'user'): string {
  const somebody = value[name];
  return isObject(somebody) && typeof somebody['login'] === 'string' ? somebody['login'] : '';
}

/** Nothing is concluded from an answer that is none. */
export function unexpected(what: string): never {
  throw new AppError('github/unexpected-answer', 4, `what GitHub answered is not ${what}`, {
    hint: 'is GITHUB_API_URL right, and is there a proxy before it? The result of the run stands',
  });
}
