import type { DesiredResource } from '../../model/desired.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { comparedFields, type Kind } from '../../model/kind.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { nameOf } from '../../model/resource.ts';
import { compareSpecs } from './compare-specs.ts';

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
