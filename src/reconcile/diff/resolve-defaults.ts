import type { DesiredResource } from '../../model/desired.ts';
import { editSpec } from '../../model/spec/edit.ts';
import type { FieldRule } from '../../model/field.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { nameOf } from '../../model/resource.ts';
import { compareSpecs } from './compare-specs.ts';

/** The fields that are compared one by one: no secrets, no edges, nothing that only manifests have. */
export function comparedFields(kind: Kind): readonly FieldRule[] {
  return kind.fields.filter((field) => field.secret === undefined && field.edge === undefined && field.manifestOnly !== true);
}

/** What is not compared with live: what somebody else owns, and what the caller may not see. */
export function skippedPaths(desired: DesiredResource, live: LiveResource | undefined): readonly Pointer[] {
  return live === undefined ? [] : [...desired.ignore, ...live.unknown];
}

/**
 * The spec that a resource is to have, as far as the manifest says: what it resets takes the value that the gateway
 * fills in, and what follows from other fields follows from them as they will be, live's where they are not ours.
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
  if (skip.length === 0 && !resets) return { ...spec, ...filledOtherwise(kind, desired, live) };
  const free = new Set(derived.filter((field) => !desired.stated.has(field.name) || equal(spec[field.name], field.empty)));
  const fields = comparedFields(kind).filter((field) => !free.has(field));
  const changes = compareSpecs(fields, spec, live?.spec ?? {}, skip);
  const values = {
    ...kind.derived(editSpec(kind.fields, live?.spec ?? {}, changes.map(editOf)), desired),
    ...filledOtherwise(kind, desired, live),
  };
  return Object.fromEntries([
    ...fields.flatMap(({ name }) => entryOf(spec, name)),
    ...[...free].flatMap(({ name }) => entryOf(values, name)),
  ]);
}

/** What the gateway filled in for a secret that the manifest does not state: as good as what it fills in without. */
function filledOtherwise(kind: Kind, desired: DesiredResource, live: LiveResource | undefined): JsonObject {
  const values = live === undefined ? {} : (kind.derivedOtherwise?.(live.spec, desired) ?? {});
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !desired.stated.has(name) && equal(live?.spec[name], value)));
}

function editOf({ path, after }: FieldChange): { readonly path: Pointer; readonly value: Json | undefined } {
  return { path, value: 'value' in after ? after.value : undefined };
}

/** A field's name and value; nothing where it has none. */
export function entryOf(spec: JsonObject, name: string): readonly (readonly [string, Json])[] {
  const value = spec[name];
  return value === undefined ? [] : [[name, value]];
}
