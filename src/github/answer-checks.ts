import { AppError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';

/** Returns an answer that is an object; throws AppError `github/unexpected-answer` for anything else, such as the page of a proxy. */
export function objectIn(value: unknown, what: string): JsonObject {
  return isObject(value) ? value : throwUnexpected(what);
}

/** Returns an answer that is a list; throws AppError `github/unexpected-answer` for anything else. */
export function listIn(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : throwUnexpected(`a list with ${what}`);
}

/** Returns an integer of an object; throws AppError `github/unexpected-answer` if there is none. */
export function numberIn(value: JsonObject, name: string, what: string): number {
  const found = value[name];
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : throwUnexpected(what);
}

/** Returns a text of an object; throws AppError `github/unexpected-answer` if there is none. */
export function textIn(value: JsonObject, name: string, what: string): string {
  const found = value[name];
  return typeof found === 'string' ? found : throwUnexpected(what);
}

/** Returns the login of an account in an object, empty if the account was deleted. */
export function loginIn(value: JsonObject, name = 'user'): string {
  const account = value[name];
  return isObject(account) && typeof account['login'] === 'string' ? account['login'] : '';
}

/** Throws: nothing is concluded from an answer of another shape. */
export function throwUnexpected(what: string): never {
  throw new AppError('github/unexpected-answer', 4, `what GitHub answered is not ${what}`, {
    hint: 'is GITHUB_API_URL right, and is there a proxy before it? The result of the run stands',
  });
}
