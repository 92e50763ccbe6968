import { entriesByToken, elementToken, type KeyedRule } from './edit.ts';
import type { FieldRule } from '../kind.ts';
import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import type { FieldChange, Value } from '../plan/plan.ts';
import { tokensOf } from '../pointer.ts';
import type { ProtectionVerdict } from '../protection/protection.ts';

/** How a change affects protection: it may strengthen it, weaken it, do both, or neither. */
export type Direction = {
  readonly strengthens: boolean;
  readonly weakens: boolean;
  /** The two sides cannot be compared: a pattern became another pattern, or one side cannot be read. */
  readonly incomparable?: true;
};

export const noEffect: Direction = { strengthens: false, weakens: false };
const incomparable: Direction = { strengthens: true, weakens: true, incomparable: true };

/** Combines directions: each flag is set when any of them sets it. */
export function combineDirections(directions: readonly Direction[]): Direction {
  return {
    strengthens: directions.some((one) => one.strengthens),
    weakens: directions.some((one) => one.weakens),
    ...(directions.some((one) => one.incomparable === true) ? { incomparable: true } : {}),
  };
}

/** Returns the verdict that a direction stands for; `unknown` when the sides cannot be compared. */
export function verdictOf({ strengthens, weakens, incomparable: isIncomparable }: Direction): ProtectionVerdict {
  if (isIncomparable === true) return 'unknown';
  if (weakens) return strengthens ? 'both' : 'weakens';
  return strengthens ? 'strengthens' : 'neutral';
}

/** Compares two specs by the `protects` rule of each field (`x-ostiary-protects` in the schema). */
export function specDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject): Direction {
  return fieldsDirection(fields, before, after, false);
}

/**
 * Returns the direction of one field, set element, map key, or entry of a keyed list in a spec that is otherwise `live`.
 * Secrets have no effect.
 */
export function directionOf(
  fields: readonly FieldRule[],
  change: Pick<FieldChange, 'path' | 'before' | 'after'>,
  live: JsonObject = {},
): Direction {
  if ('secret' in change.before || 'secret' in change.after) return noEffect;
  const tokens = tokensOf(change.path);
  const direction = directionAt(fields, tokens, change, false);
  const field = fields.find(({ name }) => name === tokens[0]);
  return field !== undefined && isCounted(field, live) && (direction.strengthens || direction.weakens) ? incomparable : direction;
}

type Sides = { readonly before: Value; readonly after: Value };

/** Returns whether only some of the entries are required; then a longer list is not necessarily stricter. */
function isCounted({ enough }: FieldRule, spec: JsonObject): boolean {
  return enough !== undefined && typeof spec[enough] === 'number';
}

/** Follows the path to the field. `inside` an entry that protects, a field without a rule of its own cannot be compared. */
function directionAt(fields: readonly FieldRule[], [name, ...rest]: readonly string[], sides: Sides, inside: boolean): Direction {
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined) return incomparable;
  if (rest.length === 0) return wholeDirection(field, sides, inside);
  if (field.shape === 'object') return directionAt(field.fields, rest, sides, inside);
  if (field.protects === undefined) return directionWithoutRule(field, inside);
  if (field.shape === 'keyed' && rest.length > 1) return directionAt(field.fields, rest.slice(1), sides, true);
  return elementDirection(field, sides);
}

function wholeDirection(field: FieldRule, { before, after }: Sides, inside: boolean): Direction {
  if ('value' in before && 'value' in after) return fieldDirection(field, before.value, after.value, inside);
  if ('unknown' in before || 'unknown' in after) return protectsAnything(field) ? incomparable : directionWithoutRule(field, inside);
  return fieldDirection(field, sideOf(before, field.empty), sideOf(after, field.empty), inside);
}

function sideOf(value: Value, empty: Json): Json {
  return 'value' in value ? value.value : empty;
}

/** Returns the direction when an element or entry is added, removed or replaced. */
function elementDirection(field: FieldRule, { before, after }: Sides): Direction {
  if (!('value' in before || 'absent' in before) || !('value' in after || 'absent' in after)) return incomparable;
  const direction = { strengthens: 'value' in after, weakens: 'value' in before };
  if (direction.strengthens === direction.weakens) return direction.strengthens ? incomparable : noEffect;
  return field.protects === 'fewer' ? reverse(direction) : direction;
}

function protectsAnything(field: FieldRule): boolean {
  return field.protects !== undefined || (field.shape === 'object' && field.fields.some(protectsAnything));
}

/** Returns the direction of a field without a rule: inside an entry, only the description is known to have no effect. */
function directionWithoutRule(field: FieldRule, inside: boolean): Direction {
  return inside && field.name !== 'description' ? incomparable : noEffect;
}

function fieldsDirection(fields: readonly FieldRule[], before: JsonObject, after: JsonObject, inside: boolean): Direction {
  return combineDirections(
    fields.map((field) => {
      const direction = fieldDirection(field, before[field.name] ?? field.empty, after[field.name] ?? field.empty, inside);
      const isUnequal = direction.strengthens || direction.weakens;
      return isUnequal && (isCounted(field, before) || isCounted(field, after)) ? incomparable : direction;
    }),
  );
}

function fieldDirection(field: FieldRule, before: Json, after: Json, inside: boolean): Direction {
  if (equal(before, after)) return noEffect;
  if (field.shape === 'object')
    return isObject(before) && isObject(after) ? fieldsDirection(field.fields, before, after, inside) : incomparable;
  const { protects } = field;
  if (protects === undefined) return directionWithoutRule(field, inside);
  switch (protects) {
    case 'entries':
      return field.shape === 'keyed' ? entriesDirection(field, listOf(before), listOf(after)) : setDirection(listOf(before), listOf(after));
    case 'fewer':
      return reverse(setDirection(listOf(before), listOf(after)));
    case 'lower':
      return strengthensIf(numberOr(after, Number.POSITIVE_INFINITY) < numberOr(before, Number.POSITIVE_INFINITY));
    case 'higher':
      return strengthensIf(numberOr(after, Number.NEGATIVE_INFINITY) > numberOr(before, Number.NEGATIVE_INFINITY));
    case 'most':
      return strengthensIf(numberOr(after, Number.POSITIVE_INFINITY) > numberOr(before, Number.POSITIVE_INFINITY));
    case 'threshold':
      return typeof before === 'number' && typeof after === 'number' ? strengthensIf(after < before) : incomparable;
    case 'enabled':
      return strengthensIf(after === true || after === 'enabled');
    case 'disabled':
      return strengthensIf(after === false || after === 'disabled');
  }
}

function setDirection(before: readonly Json[], after: readonly Json[]): Direction {
  const previous = new Set(before.map(elementToken));
  const current = new Set(after.map(elementToken));
  return { strengthens: [...current].some((token) => !previous.has(token)), weakens: [...previous].some((token) => !current.has(token)) };
}

/** Compares keyed lists: an added entry strengthens, a removed entry weakens, an entry on both sides is compared by field. */
function entriesDirection(field: KeyedRule, before: readonly Json[], after: readonly Json[]): Direction {
  const previous = entriesByToken(field, before);
  const current = entriesByToken(field, after);
  const inside = [...current].flatMap(([token, entry]) => {
    const previousEntry = previous.get(token);
    return isObject(previousEntry) && isObject(entry) ? [fieldsDirection(field.fields, previousEntry, entry, true)] : [];
  });
  return combineDirections([
    ...inside,
    {
      strengthens: [...current.keys()].some((token) => !previous.has(token)),
      weakens: [...previous.keys()].some((token) => !current.has(token)),
    },
  ]);
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the number, or `none` when there is no limit. */
function numberOr(value: Json, none: number): number {
  return typeof value === 'number' ? value : none;
}

function strengthensIf(more: boolean): Direction {
  return { strengthens: more, weakens: !more };
}

function reverse(direction: Direction): Direction {
  return { ...direction, strengthens: direction.weakens, weakens: direction.strengthens };
}
