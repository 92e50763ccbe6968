import { appendAll } from '../../model/collections.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { equal, isObject, type Json, type JsonObject, distinctSorted } from '../../model/json.ts';
import type { FieldRule } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange, Value } from '../../model/plan/plan.ts';
import { isWithinAny, pointer, type Pointer } from '../../model/pointer.ts';
import { elementToken, entriesByToken, type KeyedRule } from '../../model/spec/edit.ts';

/** Returns the paths that are not compared with live: ignored ones, and those that the token may not read. */
export function skippedPaths(desired: DesiredResource, live: LiveResource | undefined): readonly Pointer[] {
  return live === undefined ? [] : [...desired.ignore, ...live.unknown];
}

/** Returns the name and value of a field as an entry; empty if it has no value. */
export function entryOf(spec: JsonObject, name: string): readonly (readonly [string, Json])[] {
  const value = spec[name];
  return value === undefined ? [] : [[name, value]];
}

const absent: Value = { absent: true };

/** Returns the values of an object that only one side has. */
export function wholeFields(fields: readonly FieldRule[], spec: JsonObject, side: 'before' | 'after'): readonly FieldChange[] {
  return fields.flatMap(({ name, empty }): readonly FieldChange[] => {
    const value = spec[name] ?? empty;
    return equal(value, empty) ? [] : [{ path: pointer(name), before: absent, after: absent, [side]: { value } }];
  });
}

/**
 * Returns the differences between two normalized specs: per element of a set, per key of a map, per entry and field of a keyed
 * list, otherwise per field. Does not compare fields that `desired` omits, and nothing at or below the paths of `skip`.
 */
export function compareSpecs(
  fields: readonly FieldRule[],
  desired: JsonObject,
  live: JsonObject,
  skip: readonly Pointer[],
): readonly FieldChange[] {
  return compareObjects(fields, desired, live, { at: '', skip });
}

type ComparedPath = { readonly at: Pointer; readonly skip: readonly Pointer[] };

function compareObjects(fields: readonly FieldRule[], desired: JsonObject, live: JsonObject, place: ComparedPath): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of fields) {
    const wanted = desired[field.name];
    if (wanted === undefined) continue;
    const found = live[field.name] ?? field.empty;
    if (equal(wanted, found)) continue;
    const below = { at: `${place.at}${pointer(field.name)}`, skip: place.skip };
    if (!isSkipped(below)) appendAll(changes, compareValues(field, wanted, found, below));
  }
  return changes;
}

function compareValues(field: FieldRule, desired: Json, live: Json, place: ComparedPath): readonly FieldChange[] {
  if (field.shape === 'object' && isObject(desired) && isObject(live)) return compareObjects(field.fields, desired, live, place);
  if (field.shape === 'map' && isObject(desired) && isObject(live))
    return compareElements(new Map(Object.entries(desired)), new Map(Object.entries(live)), place);
  if (Array.isArray(desired) && Array.isArray(live)) {
    if (field.shape === 'set') return compareElements(elements(desired), elements(live), place);
    if (field.shape === 'keyed') return compareEntries(field, desired, live, place);
  }
  return [{ path: place.at, before: { value: live }, after: { value: desired } }];
}

function compareElements(desired: ReadonlyMap<string, Json>, live: ReadonlyMap<string, Json>, place: ComparedPath): readonly FieldChange[] {
  return union(desired, live).flatMap((token) => {
    const wanted = desired.get(token);
    const found = live.get(token);
    const path = `${place.at}${pointer(token)}`;
    if (equal(wanted, found) || isSkipped({ at: path, skip: place.skip })) return [];
    return [{ path, before: valueOf(found), after: valueOf(wanted) }];
  });
}

function compareEntries(field: KeyedRule, desired: readonly Json[], live: readonly Json[], place: ComparedPath): readonly FieldChange[] {
  const wanted = entriesByToken(field, desired);
  const found = entriesByToken(field, live);
  return union(wanted, found).flatMap((token) => {
    const path = `${place.at}${pointer(token)}`;
    if (isSkipped({ at: path, skip: place.skip })) return [];
    const one = wanted.get(token);
    const other = found.get(token);
    if (isObject(one) && isObject(other)) return compareObjects(field.fields, one, other, { at: path, skip: place.skip });
    return equal(one, other) ? [] : [{ path, before: valueOf(other), after: valueOf(one) }];
  });
}

function elements(values: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(values.map((value) => [elementToken(value), value]));
}

function union(left: ReadonlyMap<string, unknown>, right: ReadonlyMap<string, unknown>): readonly string[] {
  return distinctSorted([...left.keys(), ...right.keys()]);
}

function valueOf(value: Json | undefined): Value {
  return value === undefined ? absent : { value };
}

function isSkipped({ at, skip }: ComparedPath): boolean {
  return isWithinAny(at, skip);
}
