import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, didYouMean } from '../../model/diagnostic.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import { comparedFields, type Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState, LookupEntry } from '../../model/live.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { isWithinAny, pointer, type Pointer } from '../../model/pointer.ts';
import { isUuid, nameOf } from '../../model/resource.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { compareSpecs, entryOf, skippedPaths } from './compare-specs.ts';

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
    if (live !== undefined && (text === live.spec[field.name] || isWithinAny(path, desired.ignore))) continue;
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
  return {
    code: 'manifest/dangling-reference',
    message: `unknown ${kind.toLowerCase()} "${text}" on the gateway`,
    hint:
      didYouMean(
        text,
        known.map((one) => one.name),
      ) ?? (known.length === 0 ? 'the gateway has none' : `it has: ${known.map((one) => one.name).join(', ')}`),
  };
}

/** Returns whether a name means one thing: it is unique, and no id of something else. */
function isUnambiguous({ uid, name }: LookupEntry, known: readonly LookupEntry[]): boolean {
  return known.every((one) => one.uid === uid || (one.name !== name && one.uid !== name.toLowerCase()));
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
    // A stated empty value that nothing is derived for is meant.
    ...[...free].flatMap(({ name }) => entryOf(values[name] === undefined && desired.stated.has(name) ? spec : values, name)),
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
