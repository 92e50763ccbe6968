import { type BaseState, desiredByKey, type DesiredResource, formerIdOf, withLeftFields } from '../../model/desired.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import { comparedFields, type Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import { type FieldChange, isSecretChange, type Origin, shownValue, type Value } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, overlaps, pointer, type Pointer, tokensOf } from '../../model/pointer.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { isToolList, toolText } from '../../model/spec/tool-lists.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { mergedEntries, unmerge } from '../../model/spec/merge-strictest.ts';
import { hasOtherContent, isSameSecretSource } from './compare-secrets.ts';
import { compareSpecs, skippedPaths } from './compare-specs.ts';
import { resolveDefaults, resolveReferences } from './resolve-specs.ts';

/** Both sides of one resource whose changes are attributed to the manifests or the gateway. */
type OriginSides = {
  readonly kind: Kind;
  readonly desired: DesiredResource;
  readonly live: LiveResource | undefined;
  readonly state: LiveState;
};

/**
 * Compares the gateway with the base: the changes that would undo what was changed there since, where the base states it and the token may read
 * it. `desired` is the manifest, if there is one: what is between two writes of it did not drift.
 */
export function driftSince(
  base: DesiredResource,
  { kind, desired, live, state }: Omit<OriginSides, 'desired'> & { readonly desired: DesiredResource | undefined },
): readonly FieldChange[] {
  const found = desired === undefined ? (live?.spec ?? {}) : unmerge(kind.fields, desired.spec, live?.spec ?? {});
  return compareSpecs(comparedFields(kind), appliedSpec(base, { kind, live, state }), found, skippedPaths(base, live));
}

function appliedSpec(base: DesiredResource, { kind, live, state }: Omit<OriginSides, 'desired'>): JsonObject {
  return resolveDefaults(kind, { ...base, spec: resolveReferences(kind, base, live, state).spec }, live);
}

/** Marks each change of a resource with the side that changed since the base. */
export function withOrigins(fields: readonly FieldChange[], base: DesiredResource, sides: OriginSides): readonly FieldChange[] {
  const { kind, desired, live } = sides;
  const drifted = new Map(driftSince(base, sides).map(({ path, after }) => [path, after]));
  const spec = live === undefined ? appliedSpec(base, sides) : {};
  // Between the two writes of an entry the gateway has both forms, and both differences are of that apply.
  const merged = mergedEntries(kind.fields, desired.spec, live?.spec ?? {});
  return fields.map((field): FieldChange => {
    const plainOrigin = (): Origin => {
      if (live === undefined) return lostOrigin(field, spec);
      return merged.some((entry) => isPointerWithin(field.path, entry)) ? 'intent' : fieldOrigin(field, drifted);
    };
    if (isToolList(field.path) && !isSecretChange(field))
      return field.origin === undefined ? { ...field, ...listOrigin(field, { desired, base, live }) } : field;
    if (!isSecretChange(field)) return { ...field, origin: plainOrigin() };
    // What follows from the manifests alone has its origin already.
    return field.origin === undefined ? { ...field, ...secretOrigin(field, { desired, base, live }) } : field;
  });
}

/** Marks the changes at the given paths as held; values that follow from other fields follow from the held ones. */
export function withHeld(
  fields: readonly FieldChange[],
  held: ReadonlySet<Pointer>,
  { kind, desired, live }: Pick<OriginSides, 'kind' | 'desired' | 'live'>,
): readonly FieldChange[] {
  if (held.size === 0 || live === undefined) return fields;
  const marked = fields.map((field): FieldChange => (held.has(field.path) ? { ...field, held: true } : field));
  return updateDerived(kind, marked, desired, live.spec);
}

/** Derives fields again from the fields after the write: held fields keep their live value. */
function updateDerived(kind: Kind, fields: readonly FieldChange[], desired: DesiredResource, live: JsonObject): readonly FieldChange[] {
  const written = fields.filter(({ held }) => held !== true);
  if (written.length === fields.length) return fields;
  const edits = written.filter((field) => !isSecretChange(field)).map(({ path, after }) => ({ path, value: shownValue(after) }));
  const derived = kind.derived(editSpec(kind.fields, live, edits), desired);
  return fields.flatMap((field) => {
    const rule = kind.fields.find(({ name }) => pointer(name) === field.path);
    const value = rule?.omitted === 'derived' && !desired.stated.has(rule.name) ? derived[rule.name] : undefined;
    if (rule === undefined || value === undefined || field.held === true || equal(value, shownValue(field.after))) return [field];
    return equal(value, live[rule.name] ?? rule.empty) ? [] : [{ ...field, after: { value } }];
  });
}

/** Returns the origin of a field: `drift` if the base would write the same value, `both` if it would write another value there, above or below. */
function fieldOrigin({ path, after }: FieldChange, drifted: ReadonlyMap<Pointer, Value>): Origin {
  const reverted = drifted.get(path);
  if (reverted !== undefined) return equal(shownValue(reverted), shownValue(after)) ? 'drift' : 'both';
  for (const other of drifted.keys()) if (overlaps(path, other)) return 'both';
  return 'intent';
}

/** Returns the origin of a field of a deleted object: the gateway lost everything that the base had. */
function lostOrigin({ path, after }: FieldChange, base: JsonObject): Origin {
  const applied = valueAtTop(base, path);
  if (applied === undefined) return 'intent';
  return equal(applied, shownValue(after)) ? 'drift' : 'both';
}

function valueAtTop(spec: JsonObject, path: Pointer): Json | undefined {
  return spec[tokensOf(path)[0] ?? ''];
}

/** Returns the origin of a list of tools whose texts are known: by the text in the base, otherwise by the source. */
function listOrigin(field: FieldChange, sides: SecretSides): Pick<FieldChange, 'origin'> {
  const { path, before, after } = field;
  const applied = sides.base.secrets[path];
  const text = toolText(applied);
  if (applied !== undefined && text === undefined) {
    const { cause: _, ...origin } = secretOrigin(field, sides);
    return origin;
  }
  // A list that the base left to the gateway did not drift.
  if (applied === undefined && !isWithinAny(path, sides.base.wholeSecrets)) return { origin: 'intent' };
  if (text === shownValue(after)) return { origin: 'drift' };
  return { origin: text === shownValue(before) ? 'intent' : 'both' };
}

/** Returns the origin of a secret by its source and committed content, because the values of the base are not known: without a change of them it is a drift. */
function secretOrigin({ path }: FieldChange, { desired, base, live }: SecretSides): Pick<FieldChange, 'origin' | 'cause'> {
  const declared = desired.secrets[path];
  const applied = base.secrets[path];
  if (declared === undefined || applied === undefined) return { origin: declared === applied ? 'drift' : 'intent' };
  const origin = isMovedOnGateway(live?.secrets[path], applied) ? 'both' : 'intent';
  if (hasOtherContent(declared, applied)) return { origin, cause: 'file' };
  if (declared.source !== applied.source) return { origin };
  if (isRotatable(declared) && live?.secrets[path] !== undefined) return rotationOrigin(live);
  return { origin: isSameSecretSource(declared, applied) ? 'drift' : origin };
}

/** Returns whether the gateway has another value than the base wrote, as far as both are known. */
function isMovedOnGateway(live: LiveSecret | undefined, applied: DesiredSecret): boolean {
  return live?.state === 'value' && applied.state === 'value' && !isRotatable(applied) && !applied.equals(live);
}

type SecretSides = { readonly desired: DesiredResource; readonly base: DesiredResource; readonly live: LiveResource | undefined };

/** Returns whether the value may change while the manifests stay: it comes from the environment or from a file that is not committed. */
function isRotatable({ source, content }: DesiredSecret): boolean {
  return source.startsWith('env:') || (source.startsWith('file:') && content === undefined);
}

/** Returns the origin of a differing value with an unchanged source. What nothing proves counts as drift. */
function rotationOrigin({ changedSecrets }: LiveResource): Pick<FieldChange, 'origin' | 'cause'> {
  if (changedSecrets === 'source') return { origin: 'intent', cause: 'source' };
  return changedSecrets === 'gateway' ? { origin: 'drift' } : { origin: 'drift', cause: 'undetermined' };
}

/**
 * Returns a lookup of the last applied form of a resource, by its key or, for a live resource, by its former name. Fields that the base leaves to the
 * gateway have the values that the last apply recorded.
 */
export function lastAppliedLookup(
  base: BaseState | undefined,
): (resource: DesiredResource, isLive: boolean) => DesiredResource | undefined {
  if (base === undefined) return () => undefined;
  const applied = desiredByKey(base.desired.resources);
  return (resource, isLive) => {
    const formerId = isLive ? formerIdOf(resource) : undefined;
    const found = applied.get(resource.key) ?? (formerId === undefined ? undefined : applied.get(formerId));
    return found && withLeftFields(found, base.left?.get(found.key));
  };
}
