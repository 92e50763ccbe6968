import { byToken, elementToken, type KeyedRule } from './entries.ts';
import type { FieldRule } from './field.ts';
import { equal, isObject, type Json, type JsonObject } from './json.ts';

/** Whether a change adds protection, takes some away, does both, or neither. */
export type Direction = { readonly gains: boolean; readonly loses: boolean };

export const neutral: Direction = { gains: false, loses: false };
const both: Direction = { gains: true, loses: true };

/** Joins directions: each side that any of them has. */
export function joinDirections(directions: readonly Direction[]): Direction {
  return { gains: directions.some((one) => one.gains), loses: directions.some((one) => one.loses) };
}

/** The direction of a whole spec's change, by the `protects` rule of each field. */
export function specDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject): Direction {
  return joinDirections(fields.map((field) => fieldDirection(field, before[field.name] ?? field.empty, after[field.name] ?? field.empty)));
}

function fieldDirection(field: FieldRule, before: Json, after: Json): Direction {
  if (equal(before, after)) return neutral;
  if (field.shape === 'object') return isObject(before) && isObject(after) ? specDirection(field.fields, before, after) : both;
  const { protects } = field;
  if (protects === undefined) return neutral;
  switch (protects) {
    case 'entries':
      return field.shape === 'keyed' ? entriesDirection(field, listOf(before), listOf(after)) : setDirection(listOf(before), listOf(after));
    case 'fewer':
      return reverse(setDirection(listOf(before), listOf(after)));
    case 'lower':
      return towards(numberOr(after, Number.POSITIVE_INFINITY) < numberOr(before, Number.POSITIVE_INFINITY));
    case 'higher':
      return towards(numberOr(after, Number.NEGATIVE_INFINITY) > numberOr(before, Number.NEGATIVE_INFINITY));
    case 'most':
      return towards(numberOr(after, Number.POSITIVE_INFINITY) > numberOr(before, Number.POSITIVE_INFINITY));
    case 'enabled':
      return towards(after === true || after === 'enabled');
    case 'disabled':
      return towards(after === false || after === 'disabled');
  }
}

function setDirection(before: readonly Json[], after: readonly Json[]): Direction {
  const had = new Set(before.map(elementToken));
  const has = new Set(after.map(elementToken));
  return { gains: [...has].some((token) => !had.has(token)), loses: [...had].some((token) => !has.has(token)) };
}

/** An entry that comes protects more, one that goes less; inside an entry what has no rule of its own counts as both. */
function entriesDirection(field: KeyedRule, before: readonly Json[], after: readonly Json[]): Direction {
  const had = byToken(field, before);
  const has = byToken(field, after);
  const inside = [...has].flatMap(([token, entry]) => {
    const earlier = had.get(token);
    return isObject(earlier) && isObject(entry) && !equal(earlier, entry) ? [entryDirection(field.fields, earlier, entry)] : [];
  });
  return joinDirections([
    ...inside,
    { gains: [...has.keys()].some((token) => !had.has(token)), loses: [...had.keys()].some((token) => !has.has(token)) },
  ]);
}

function entryDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject): Direction {
  const changed = fields.filter((field) => !equal(before[field.name] ?? field.empty, after[field.name] ?? field.empty));
  if (changed.some((field) => field.protects === undefined && field.name !== 'description')) return both;
  return specDirection(changed, before, after);
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** What no number stands for: the weakest of all where nothing limits, else the strongest. */
function numberOr(value: Json, none: number): number {
  return typeof value === 'number' ? value : none;
}

function towards(more: boolean): Direction {
  return { gains: more, loses: !more };
}

function reverse(direction: Direction): Direction {
  return { gains: direction.loses, loses: direction.gains };
}
