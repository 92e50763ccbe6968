import type { FieldRule } from '../../model/field.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';

/**
 * Returns a value as it is written over a stored one: it carries keys that no schema has from the stored objects. Entries of
 * a list correspond by their key, or else by equal content. An entry's empty key is omitted.
 */
export function carryUnknown(rule: FieldRule, value: Json, stored: Json | undefined): Json {
  if (rule.shape === 'object' && isObject(value)) return carryObject(rule.fields, value, isObject(stored) ? stored : {});
  if (rule.shape !== 'keyed' || !Array.isArray(value)) return value;
  const before = Array.isArray(stored) ? stored.filter((entry: Json) => isObject(entry)) : [];
  return value.map((entry: Json) => {
    if (!isObject(entry)) return entry;
    const { [rule.key]: key, ...rest } = entry;
    return carryObject(rule.fields, key === '' ? rest : entry, findCounterpart(rule, entry, before) ?? {});
  });
}

function carryObject(fields: readonly FieldRule[], value: JsonObject, stored: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...unknownKeys(fields, stored), ...value };
  for (const field of fields) {
    const inner = result[field.name];
    if (inner !== undefined) result[field.name] = carryUnknown(field, inner, stored[field.name]);
  }
  return result;
}

/** Returns the stored entry that corresponds to a written one; undefined where there is none, or more than one. */
function findCounterpart(
  { key, fields }: FieldRule & { readonly shape: 'keyed' },
  entry: JsonObject,
  before: readonly JsonObject[],
): JsonObject | undefined {
  const named = entry[key];
  const content = knownKeys(fields, entry);
  const same = before.filter((other) => {
    return typeof named === 'string' && named !== '' ? other[key] === named : equal(knownKeys(fields, other), content);
  });
  return same.length === 1 ? same[0] : undefined;
}

function unknownKeys(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.some((field) => field.name === name)));
}

function knownKeys(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const known = Object.entries(value).filter(([name]) => fields.some((field) => field.name === name));
  return normalizeObject(fields, Object.fromEntries(known));
}
