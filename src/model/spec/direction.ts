import { byToken, elementToken, type KeyedRule } from './list-tokens.ts';
import type { FieldRule } from '../field.ts';
import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import type { FieldChange, Value } from '../plan/plan.ts';
import { tokensOf } from '../pointer.ts';
import type { Way } from '../protection/protection.ts';

/** Whether a change may add protection, may take some away, may do both, or does neither. */
export type Direction = {
  readonly gains: boolean;
  readonly loses: boolean;
  /** Nobody can tell which of both: a pattern became another one, or a side cannot be seen. */
  readonly unsure?: true;
};

export const neutral: Direction = { gains: false, loses: false };
const unsure: Direction = { gains: true, loses: true, unsure: true };

/** Joins directions: each side that any of them has. */
export function joinDirections(directions: readonly Direction[]): Direction {
  return {
    gains: directions.some((one) => one.gains),
    loses: directions.some((one) => one.loses),
    ...(directions.some((one) => one.unsure === true) ? { unsure: true } : {}),
  };
}

/** Says a direction in one word. */
export function wayOf({ gains, loses, unsure: untold }: Direction): Way {
  if (untold === true) return 'unknown';
  if (loses) return gains ? 'both' : 'weakens';
  return gains ? 'strengthens' : 'neutral';
}

/** The direction of a whole spec's change, by the `protects` rule of each field. */
export function specDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject): Direction {
  return fieldsDirection(fields, before, after, false);
}

/**
 * Which way one field, set element, map key, or entry of a keyed list goes, in a spec that is otherwise `live`; a secret
 * protects nothing by itself.
 */
export function directionOf(
  fields: readonly FieldRule[],
  change: Pick<FieldChange, 'path' | 'before' | 'after'>,
  live: JsonObject = {},
): Direction {
  if ('secret' in change.before || 'secret' in change.after) return neutral;
  const tokens = tokensOf(change.path);
  const direction = directionAt(fields, tokens, change, false);
  const field = fields.find(({ name }) => name === tokens[0]);
  return field !== undefined && isCounted(field, live) && (direction.gains || direction.loses) ? unsure : direction;
}

type Sides = { readonly before: Value; readonly after: Value };

/** Where some of the entries are enough, one more is one more that may be enough: more of them need not protect more. */
function isCounted({ enough }: FieldRule, spec: JsonObject): boolean {
  return enough !== undefined && typeof spec[enough] === 'number';
}

/** Follows the path to the field; `inside` an entry that protects, a field without a rule of its own is one nobody can judge. */
function directionAt(fields: readonly FieldRule[], [name, ...rest]: readonly string[], sides: Sides, inside: boolean): Direction {
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined) return unsure;
  if (rest.length === 0) return wholeDirection(field, sides, inside);
  if (field.shape === 'object') return directionAt(field.fields, rest, sides, inside);
  if (field.protects === undefined) return unruled(field, inside);
  if (field.shape === 'keyed' && rest.length > 1) return directionAt(field.fields, rest.slice(1), sides, true);
  return partDirection(field, sides);
}

function wholeDirection(field: FieldRule, { before, after }: Sides, inside: boolean): Direction {
  if ('value' in before && 'value' in after) return fieldDirection(field, before.value, after.value, inside);
  if ('unknown' in before || 'unknown' in after) return protectsAnything(field) ? unsure : unruled(field, inside);
  return fieldDirection(field, sideOf(before, field.empty), sideOf(after, field.empty), inside);
}

function sideOf(value: Value, empty: Json): Json {
  return 'value' in value ? value.value : empty;
}

/** An element or an entry comes, goes, or becomes another one. */
function partDirection(field: FieldRule, { before, after }: Sides): Direction {
  if (!('value' in before || 'absent' in before) || !('value' in after || 'absent' in after)) return unsure;
  const direction = { gains: 'value' in after, loses: 'value' in before };
  if (direction.gains === direction.loses) return direction.gains ? unsure : neutral;
  return field.protects === 'fewer' ? reverse(direction) : direction;
}

function protectsAnything(field: FieldRule): boolean {
  return field.protects !== undefined || (field.shape === 'object' && field.fields.some(protectsAnything));
}

/** What an entry says of itself changes nothing; any other field without a rule changes what the entry does. */
function unruled(field: FieldRule, inside: boolean): Direction {
  return inside && field.name !== 'description' ? unsure : neutral;
}

function fieldsDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject, inside: boolean): Direction {
  return joinDirections(
    fields.map((field) => {
      const direction = fieldDirection(field, before[field.name] ?? field.empty, after[field.name] ?? field.empty, inside);
      const isUnequal = direction.gains || direction.loses;
      return isUnequal && (isCounted(field, before) || isCounted(field, after)) ? unsure : direction;
    }),
  );
}

function fieldDirection(field: FieldRule, before: Json, after: Json, inside: boolean): Direction {
  if (equal(before, after)) return neutral;
  if (field.shape === 'object') return isObject(before) && isObject(after) ? fieldsDirection(field.fields, before, after, inside) : unsure;
  const { protects } = field;
  if (protects === undefined) return unruled(field, inside);
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
    case 'threshold':
      return typeof before === 'number' && typeof after === 'number' ? towards(after < before) : unsure;
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

/** An entry that comes protects more, one that goes less. */
function entriesDirection(field: KeyedRule, before: readonly Json[], after: readonly Json[]): Direction {
  const had = byToken(field, before);
  const has = byToken(field, after);
  const inside = [...has].flatMap(([token, entry]) => {
    const earlier = had.get(token);
    return isObject(earlier) && isObject(entry) ? [fieldsDirection(field.fields, earlier, entry, true)] : [];
  });
  return joinDirections([
    ...inside,
    { gains: [...has.keys()].some((token) => !had.has(token)), loses: [...had.keys()].some((token) => !has.has(token)) },
  ]);
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
  return { ...direction, gains: direction.loses, loses: direction.gains };
}
