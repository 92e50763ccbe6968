import { equal, type JsonObject } from '../model/json.ts';

/** Returns the tags that all connections have with the same values. */
export function sharedTags([first = {}, ...rest]: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(Object.entries(first).filter(([key, value]) => rest.every((tags) => equal(tags[key], value))));
}
