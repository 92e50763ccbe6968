import { appendAll } from '../../model/collections.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, suggest } from '../../model/diagnostic.ts';
import { type Json, type JsonObject, compareText, equal, isObject } from '../../model/json.ts';
import { type FieldRule, type Kind, comparedFields } from '../../model/kind.ts';
import type { LiveResource, LiveState, LookupEntry } from '../../model/live.ts';
import type { FieldChange, Value } from '../../model/plan/plan.ts';
import { type Pointer, isPointerWithin, pointer } from '../../model/pointer.ts';
import { isUuid, nameOf } from '../../model/resource.ts';
import { type KeyedRule, editSpec, elementToken, entriesByToken } from '../../model/spec/edit.ts';

/** A desired spec with references in the form of the live state. */
type ResolvedSpec = { readonly spec: JsonObject; readonly diagnostics: readonly Diagnostic[] };

/**
 * Resolves references to objects that no manifest declares (agents): names and ids become the form of the live state. Does not
 * look up references that equal the live one or are not compared with it.
 */
export function resolveReferences(kind: Kind, desired: DesiredResource, live: LiveResource | undefined, state: LiveState): ResolvedSpec {
  const diagnostics: Diagnostic[] = [];
  let spec = desired.spec;
  for (const field of kind.fields) {
    const text = desired.spec[field.name];
    if (field.refers === undefined || field.edge !== undefined || typeof text !== 'string' || text === '') continue;
    const path = pointer(field.name);
    if (live !== undefined && (text === live.spec[field.name] || desired.ignore.some((prefix) => isPointerWithin(path, prefix)))) continue;
    const found = lookUp(field.refers, text, state.lookups[field.refers]);
    if ('name' in found) spec = { ...spec, [field.name]: found.name };
    else diagnostics.push({ ...found, severity: 'error', at: desired.locate(path), resource: desired.id });
  }
  return { spec, diagnostics };
}

type LookupFailure = Pick<Diagnostic, 'code' | 'message' | 'hint'>;

function lookUp(kind: string, text: string, known: readonly LookupEntry[] | undefined): { readonly name: string } | LookupFailure {
  if (known === undefined) {
    if (isUuid(text)) return { name: text.toLowerCase() };
    return {
      code: 'manifest/dangling-reference',
      message: `the gateway does not list its ${kind.toLowerCase()}s, so "${text}" cannot be resolved`,
      hint: 'use the ID (a UUID) instead of the name',
    };
  }
  // The id wins: a name may have the form of an id of something else.
  const byId = known.find((one) => one.uid === text.toLowerCase());
  if (byId !== undefined) return { name: isUnambiguous(byId, known) ? byId.name : byId.uid };
  const named = known.filter((one) => one.name === text);
  if (named.length > 1) {
    const ids = named.map((one) => one.uid).join(', ');
    return {
      code: 'manifest/ambiguous-reference',
      message: `the gateway has ${named.length} ${kind.toLowerCase()}s named "${text}"`,
      hint: `use the ID instead: ${ids}`,
    };
  }
  if (named.length === 1) return { name: text };
  const near = suggest(
    text,
    known.map((one) => one.name),
  );
  return {
    code: 'manifest/dangling-reference',
    message: `unknown ${kind.toLowerCase()} "${text}" on the gateway`,
    hint:
      near === undefined
        ? known.length === 0
          ? 'the gateway has none'
          : `it has: ${known.map((one) => one.name).join(', ')}`
        : `did you mean "${near}"?`,
  };
}

/** Returns whether a name means one thing: it is unique, and no id of something else. */
function isUnambiguous({ uid, name }: LookupEntry, known: readonly LookupEntry[]): boolean {
  return known.every((one) => one.uid === uid || (one.name !== name && one.uid !== name.toLowerCase()));
}

/** Returns the paths that are not compared with live: ignored ones, and those that the token may not read. */
export function skippedPaths(desired: DesiredResource, live: LiveResource | undefined): readonly Pointer[] {
  return live === undefined ? [] : [...desired.ignore, ...live.unknown];
}

/**
 * Returns the desired spec with defaults: a reset field takes the value that the gateway fills in, and a derived field follows from
 * the other fields as they will be after the write, including live fields that the manifest does not set.
 */
export function resolveDefaults(kind: Kind, desired: DesiredResource, live: LiveResource | undefined): JsonObject {
  const defaults = kind.createDefaults(nameOf(desired.id));
  const spec: Record<string, Json> = { ...(live === undefined ? defaults : {}), ...desired.spec };
  for (const field of kind.fields) {
    const value = defaults[field.name];
    if (value !== undefined && equal(spec[field.name], field.empty)) spec[field.name] = value;
  }
  const skip = skippedPaths(desired, live);
  const derived = kind.fields.filter((field) => field.omitted === 'derived');
  const resets = derived.some((field) => desired.stated.has(field.name) && equal(spec[field.name], field.empty));
  if (skip.length === 0 && !resets) return { ...spec, ...secretDefaults(kind, desired, live) };
  const free = new Set(derived.filter((field) => !desired.stated.has(field.name) || equal(spec[field.name], field.empty)));
  const fields = comparedFields(kind).filter((field) => !free.has(field));
  const changes = compareSpecs(fields, spec, live?.spec ?? {}, skip);
  const values = {
    ...kind.derived(editSpec(kind.fields, live?.spec ?? {}, changes.map(editOf)), desired),
    ...secretDefaults(kind, desired, live),
  };
  return Object.fromEntries([
    ...fields.flatMap(({ name }) => entryOf(spec, name)),
    ...[...free].flatMap(({ name }) => entryOf(values, name)),
  ]);
}

/** Returns live values that the gateway filled in because of a secret that the manifest does not set; they count as defaults. */
function secretDefaults(kind: Kind, desired: DesiredResource, live: LiveResource | undefined): JsonObject {
  const values = live === undefined ? {} : (kind.derivedOtherwise?.(live.spec, desired) ?? {});
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !desired.stated.has(name) && equal(live?.spec[name], value)));
}

function editOf({ path, after }: FieldChange): { readonly path: Pointer; readonly value: Json | undefined } {
  return { path, value: 'value' in after ? after.value : undefined };
}

/** Returns the name and value of a field as an entry; empty if it has no value. */
export function entryOf(spec: JsonObject, name: string): readonly (readonly [string, Json])[] {
  const value = spec[name];
  return value === undefined ? [] : [[name, value]];
}

const absent: Value = { absent: true };

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
  return [...new Set([...left.keys(), ...right.keys()])].toSorted(compareText);
}

function valueOf(value: Json | undefined): Value {
  return value === undefined ? absent : { value };
}

function isSkipped(place: ComparedPath): boolean {
  return place.skip.some((path) => isPointerWithin(place.at, path));
}
