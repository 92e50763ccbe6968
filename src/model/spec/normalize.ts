import type { FieldRule } from '../kind.ts';
import { canonical, compareText, isObject, type Json, type JsonObject } from '../json.ts';

/**
 * Normalizes an object: every known field is present (null and absent become its empty value), sets and keyed lists are
 * sorted, sets have no duplicates. Unknown keys stay unchanged. Idempotent.
 */
export function normalizeObject(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const field of fields) result[field.name] = normalizeValue(field, value[field.name]);
  for (const key of Object.keys(value)) {
    const kept = value[key];
    if (!Object.hasOwn(result, key) && kept !== undefined) result[key] = kept;
  }
  return result;
}

/** Returns a normalized object without the keys that are no field, in its entries too. */
export function knownFields(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const entries = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const found = value[field.name];
    return found === undefined ? [] : [[field.name, knownValue(field, found)]];
  });
  return Object.fromEntries(entries);
}

function knownValue(field: FieldRule, value: Json): Json {
  if (field.shape === 'object' && isObject(value)) return knownFields(field.fields, value);
  if (field.shape !== 'keyed' || !Array.isArray(value)) return value;
  return value.map((entry: Json) => (isObject(entry) ? knownFields(field.fields, entry) : entry));
}

/** Normalizes the value of one field. */
export function normalizeValue(field: FieldRule, value: Json | undefined): Json {
  if (value === undefined || value === null) return field.empty;
  switch (field.shape) {
    case 'set':
      return Array.isArray(value) ? sortedSet(value) : value;
    case 'keyed':
      return Array.isArray(value)
        ? sortedEntries(
            field.key,
            value.map((entry: Json) => (isObject(entry) ? normalizeObject(field.fields, entry) : entry)),
          )
        : value;
    case 'object':
      return isObject(value) ? normalizeObject(field.fields, value) : value;
    case 'list':
    case 'map':
    case 'scalar':
      return value;
  }
}

function sortedSet(values: readonly Json[]): readonly Json[] {
  if (values.length < 2 || isAscending(values)) return values;
  const byText = new Map(values.map((value) => [canonical(value), value]));
  return [...byText].toSorted(([left], [right]) => compareText(left, right)).map(([, value]) => value);
}

/** Returns whether the values are already sorted and unique. */
function isAscending(values: readonly Json[]): boolean {
  let before = '';
  for (const value of values) {
    if (typeof value !== 'string' || !plain.test(value)) return isAscendingText(values.map(canonical));
    if (compareText(before, value) >= 0) return false;
    before = value;
  }
  return true;
}

/** Texts of these characters sort like their JSON form: nothing is escaped, and no character sorts before the closing quote. */
const plain = /^[\w$%*+,\-./:;=@~]+$/;

function isAscendingText(texts: readonly string[]): boolean {
  return texts.every((text, index) => index === 0 || compareText(texts[index - 1] ?? '', text) < 0);
}

function sortedEntries(key: string, entries: readonly Json[]): readonly Json[] {
  if (entries.length < 2) return entries;
  const text = (entry: Json): string => `${isObject(entry) && typeof entry[key] === 'string' ? entry[key] : ''}\u0000${canonical(entry)}`;
  return entries
    .map((entry) => [text(entry), entry] as const)
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, entry]) => entry);
}
