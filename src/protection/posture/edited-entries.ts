import { asArray, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { FieldRule } from '../../model/kind.ts';
import { type FieldChange, shownValue } from '../../model/plan/plan.ts';
import { pointer, type Pointer, tokensOf } from '../../model/pointer.ts';
import { entriesByToken, type KeyedRule } from '../../model/spec/edit.ts';

/** The specs of an object before and after a change. */
type SpecSides = { readonly before: JsonObject; readonly after: JsonObject };

/** A list of entries, and the name of the entry in it that a path leads to. */
type EntryPlace = { readonly rule: KeyedRule; readonly list: readonly string[]; readonly token: string };

/** One side of an edited entry: it was removed from a list, or added to it. */
type EntryPart = { readonly field: FieldChange; readonly place: EntryPlace; readonly index: number; readonly name: Json | undefined };

/**
 * Finds entries that were edited and are known by their content, as those without a name are: the plan removes one and adds one at the
 * same place. Returns the removed field by the path of the added one.
 */
export function findEditedEntries(
  rules: readonly FieldRule[],
  fields: readonly FieldChange[],
  { before, after }: SpecSides,
): ReadonlyMap<Pointer, FieldChange> {
  const whole = fields.filter((field) => 'absent' in field.before || 'absent' in field.after);
  if (whole.length < 2) return new Map();
  const parts = (spec: JsonObject, side: 'before' | 'after'): readonly EntryPart[] =>
    whole.flatMap((field) => ('value' in field[side] ? partOf(rules, field, { spec, side }) : []));
  const [removed, added] = [parts(before, 'before'), parts(after, 'after')];
  const pairs = new Map<Pointer, FieldChange>();
  const used = new Set<EntryPart>();
  const pair = (one: EntryPart, isSame: (other: EntryPart) => boolean): void => {
    const others = removed.filter((other) => !used.has(other) && listOf(other) === listOf(one) && mayBeOne(other, one));
    const found = others.find(isSame);
    if (pairs.has(one.field.path) || found === undefined) return;
    used.add(found);
    pairs.set(one.field.path, found.field);
  };
  for (const one of added) pair(one, ({ index }) => index === one.index);
  const isOnly = (one: EntryPart, all: readonly EntryPart[]): boolean => all.filter((other) => listOf(other) === listOf(one)).length === 1;
  for (const one of added) if (isOnly(one, added)) pair(one, (other) => isOnly(other, removed));
  return pairs;
}

function listOf({ place }: EntryPart): Pointer {
  return pointer(...place.list);
}

/** Two entries with names are two entries. */
function mayBeOne(one: EntryPart, other: EntryPart): boolean {
  return one.name === undefined || other.name === undefined;
}

function partOf(
  rules: readonly FieldRule[],
  field: FieldChange,
  { spec, side }: { readonly spec: JsonObject; readonly side: 'before' | 'after' },
): readonly EntryPart[] {
  const place = entryAt(rules, tokensOf(field.path));
  if (place === undefined) return [];
  const list = place.list.reduce<Json | undefined>((value, token) => (isObject(value) ? value[token] : undefined), spec);
  const index = [...entriesByToken(place.rule, asArray(list)).keys()].indexOf(place.token);
  const value = shownValue(field[side]);
  const key = isObject(value) ? value[place.rule.key] : undefined;
  return [{ field, place, index, name: typeof key === 'string' && key !== '' ? key : undefined }];
}

/** Returns the list and the entry that tokens lead to; undefined if they lead elsewhere. */
function entryAt(
  rules: readonly FieldRule[],
  [name = '', ...rest]: readonly string[],
  above: readonly string[] = [],
): EntryPlace | undefined {
  const rule = rules.find((one) => one.name === name);
  const list = [...above, name];
  if (rule?.shape === 'object') return entryAt(rule.fields, rest, list);
  const [token] = rest;
  return rule?.shape === 'keyed' && rest.length === 1 && token !== undefined ? { rule, list, token } : undefined;
}
