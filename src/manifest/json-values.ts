import { isObject, type Json, type JsonObject } from '../model/json.ts';

const noStrings: readonly string[] = [];
const noEntries: readonly Json[] = [];
const noFields: JsonObject = {};

/** Returns the strings of a list; none for any other value. */
export function readStrings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : noStrings;
}

/** Returns the entries of a list; none for any other value. */
export function readEntries(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : noEntries;
}

/** Returns the object at a key; an empty one if there is none. */
export function readObject(value: JsonObject, key: string): JsonObject {
  const below = value[key];
  return isObject(below) ? below : noFields;
}

/** Returns the value at the tokens, by key and index; undefined if there is none. */
export function readValueAt(value: Json | undefined, tokens: readonly string[]): Json | undefined {
  let below = value;
  for (const token of tokens) {
    if (Array.isArray(below)) below = below[Number(token)];
    else below = isObject(below) && Object.hasOwn(below, token) ? below[token] : undefined;
  }
  return below;
}

/** Converts a scalar to text; a list or a map becomes the empty string. */
export function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
