import type { FieldRule } from '../../model/field.ts';
import { equal, isObject, sortedKeys, type Json, type JsonObject } from '../../model/json.ts';
import { hasField, type DialectFields } from '../../model/gateway.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import { pointer } from '../../model/pointer.ts';

/**
 * Returns the plain fields of a live object as a manifest states them: without values that omission implies, but with
 * every value that omission would keep, so that plans compare it.
 */
export function listStatedFields(kind: Kind, live: LiveResource, fields: readonly FieldRule[]): ReadonlyMap<string, Json> {
  const derived = kind.derived(live.spec);
  const stated = new Map<string, Json>();
  for (const field of fields) {
    if (isUnknown(live, field)) continue;
    const value = live.spec[field.name] ?? field.empty;
    if (field.required || !isImplied(field, value, derived)) stated.set(field.name, toStatedValue(field, value));
  }
  return stated;
}

/** Lists the plain fields that manifests for a gateway may state. */
export function listStatableFields(kind: Kind, speech: DialectFields): readonly FieldRule[] {
  const plain = kind.fields.filter(({ secret, edge, manifestOnly }) => secret === undefined && edge === undefined && manifestOnly !== true);
  return plain.filter((field) => hasField(speech, kind.name, field));
}

function isUnknown({ unknown }: LiveResource, { name }: FieldRule): boolean {
  return unknown.length > 0 && unknown.includes(pointer(name));
}

/** Returns whether omitting the field means the value. */
function isImplied(field: FieldRule, value: Json, derived: JsonObject): boolean {
  if (equal(value, field.empty)) return true;
  const implied = field.omitted === 'derived' ? derived[field.name] : undefined;
  return implied !== undefined && equal(value, normalizeValue(field, implied));
}

/** Returns the value with sorted keys, without unknown keys and empty fields. */
export function toStatedValue(field: FieldRule, value: Json): Json {
  if (field.shape === 'object' && isObject(value)) return toStatedObject(field.fields, value);
  if (field.shape === 'map' && isObject(value)) return Object.fromEntries(listKeys(value).map((key) => [key, value[key] ?? null]));
  if (field.shape !== 'keyed' || !Array.isArray(value)) return value;
  return value.map((entry: Json) => (isObject(entry) ? toStatedObject(field.fields, entry) : entry));
}

/** Returns the sorted keys, except `__proto__`, which no document may have. */
function listKeys(value: JsonObject): readonly string[] {
  return sortedKeys(value).filter((key) => key !== '__proto__');
}

function toStatedObject(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const entries = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const found = value[field.name];
    if (found === undefined || (!field.required && equal(found, field.empty))) return [];
    return [[field.name, toStatedValue(field, found)]];
  });
  return Object.fromEntries(entries);
}
