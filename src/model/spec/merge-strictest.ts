import { elementToken } from './edit.ts';
import type { FieldRule } from '../kind.ts';
import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import { pointer, type Pointer } from '../pointer.ts';
import { strictestTools } from './tool-lists.ts';
import { normalizeValue } from './normalize.ts';

/**
 * Merges two specs into one that protects at least as much as both: sets and entries are merged (an entry with the same name
 * and other content is listed twice), numbers and switches take the stricter value. Of two lists of which a number is needed, all are
 * needed: as many of both lists together may be enough for neither. Other fields keep their live value. A field that the gateway saves
 * after the others, and that both grants and protects, is as desired: the others protect as much as both when it is replaced.
 */
export function mergeStrictest(fields: readonly FieldRule[], desired: JsonObject, live: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...live };
  for (const field of fields) {
    const wished = desired[field.name];
    if (wished === undefined) continue;
    const value = field.late === 'replaced' ? wished : unionValue(field, wished, live[field.name] ?? field.empty);
    result[field.name] = normalizeValue(field, value);
  }
  for (const { name, counts, protects } of fields)
    if (counts !== undefined && !equal(desired[counts] ?? live[counts] ?? null, live[counts] ?? null))
      result[name] = protects === 'enabled' ? true : null;
  return result;
}

/**
 * Reverts `mergeStrictest` for keyed entries: of two entries with the same name it removes the desired one. The result is the
 * live spec from before the merge; a spec without such pairs is returned unchanged.
 */
export function unmerge(fields: readonly FieldRule[], desired: JsonObject, live: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...live };
  for (const field of fields) {
    const wished = desired[field.name];
    const found = live[field.name];
    if (wished === undefined || found === undefined) continue;
    if (field.shape === 'object' && isObject(wished) && isObject(found)) result[field.name] = unmerge(field.fields, wished, found);
    if (field.shape === 'keyed' && Array.isArray(wished) && Array.isArray(found))
      result[field.name] = withoutTwins(field.key, wished, found);
  }
  return result;
}

/** Lists the keyed entries of which `unmerge` removes one: a write of both was not followed by the second one. */
export function mergedEntries(fields: readonly FieldRule[], desired: JsonObject, live: JsonObject): readonly Pointer[] {
  return fields.flatMap((field): readonly Pointer[] => {
    const [wished, found] = [desired[field.name], live[field.name]];
    if (field.shape === 'object' && isObject(wished) && isObject(found))
      return mergedEntries(field.fields, wished, found).map((path) => `/${field.name}${path}`);
    if (field.shape !== 'keyed' || !Array.isArray(wished) || !Array.isArray(found)) return [];
    const kept = new Set(withoutTwins(field.key, wished, found));
    return found.flatMap((entry) => (kept.has(entry) ? [] : [pointer(field.name, keyOf(field.key, entry))]));
  });
}

function withoutTwins(key: string, desired: readonly Json[], live: readonly Json[]): readonly Json[] {
  const count = (name: Json): number => live.filter((entry) => keyOf(key, entry) === name).length;
  return live.filter(
    (entry) => keyOf(key, entry) === '' || count(keyOf(key, entry)) === 1 || !desired.some((wished) => equal(wished, entry)),
  );
}

function keyOf(key: string, entry: Json): string {
  const name = isObject(entry) ? entry[key] : '';
  return typeof name === 'string' ? name : '';
}

function unionValue(field: FieldRule, desired: Json, live: Json): Json {
  if (equal(desired, live)) return live;
  if (field.shape === 'object') return isObject(desired) && isObject(live) ? mergeStrictest(field.fields, desired, live) : live;
  const { protects } = field;
  if (protects === undefined) return live;
  switch (protects) {
    case 'entries':
    case 'union':
      return Array.isArray(desired) && Array.isArray(live) ? joined(desired, live) : live;
    case 'everybody':
      return Array.isArray(desired) && Array.isArray(live) && desired.length > 0 && live.length > 0 ? joined(desired, live) : [];
    case 'fewer':
      // Null is a list of everything.
      if (Array.isArray(desired) && live === null) return desired;
      return Array.isArray(desired) && Array.isArray(live) ? common(desired, live) : live;
    case 'lower':
      return stricter(desired, live, Math.min);
    case 'threshold':
      return typeof desired === 'number' && typeof live === 'number' ? Math.min(desired, live) : strictestThreshold;
    case 'higher':
      return stricter(desired, live, Math.max);
    case 'most':
      return typeof desired === 'number' && typeof live === 'number' ? Math.max(desired, live) : null;
    case 'enabled':
      return [desired, live].find((value) => value === true || value === 'enabled') ?? live;
    case 'disabled':
      return [desired, live].find((value) => value === false || value === 'disabled') ?? live;
    case 'tools':
      return isObject(desired) && isObject(live) ? strictestTools(desired, live) : live;
    case 'steps':
      return 'jit_command';
  }
}

/** The threshold that no other one is stricter than. Without a threshold the gateway uses one of its own, which is unknown. */
const strictestThreshold = 0;

function joined(desired: readonly Json[], live: readonly Json[]): readonly Json[] {
  return [...live, ...desired.filter((entry) => !live.some((other) => equal(entry, other)))];
}

function common(desired: readonly Json[], live: readonly Json[]): readonly Json[] {
  const wished = new Set(desired.map(elementToken));
  return live.filter((element) => wished.has(elementToken(element)));
}

function stricter(desired: Json, live: Json, choose: (left: number, right: number) => number): Json {
  if (typeof desired !== 'number') return live;
  return typeof live === 'number' ? choose(desired, live) : desired;
}
