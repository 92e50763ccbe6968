import { type DesiredResource, type BaseState, desiredByKey } from '../../model/desired.ts';
import { specDirection } from '../../model/spec/direction.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import type { FieldChange, Origin, Value } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { unmerge } from '../../model/spec/merge-strictest.ts';
import { compareSpecs } from './compare-specs.ts';
import { resolveReferences } from './resolve-references.ts';
import { comparedFields, resolveDefaults } from './resolve-defaults.ts';
import { formerIdOf } from '../prepare/former-names.ts';

/** What decides where the changes of one resource come from. */
export type AppliedResource = {
  /** The resource as it was last applied. */
  readonly base: DesiredResource;
  /** What was tightened by hand is undone all the same. */
  readonly revert: boolean;
};

/** Tells of each change of a resource who moved since the base, and holds those that would loosen what was tightened by hand. */
export function withOrigins(
  fields: readonly FieldChange[],
  { base, revert }: AppliedResource,
  { kind, desired, live, state }: { kind: Kind; desired: DesiredResource; live: LiveResource | undefined; state: LiveState },
): readonly FieldChange[] {
  const resolved = { ...base, spec: resolveReferences(kind, base, live, state).spec };
  const spec = resolveDefaults(kind, resolved, live);
  const found = unmerge(kind.fields, desired.spec, live?.spec ?? {});
  const drifted = new Map(compareSpecs(comparedFields(kind), spec, found, []).map(({ path, after }) => [path, after]));
  const told = fields.map((field): FieldChange => {
    const plain = (): Origin => (live === undefined ? lostOrigin(field, spec) : fieldOrigin(field, drifted));
    const origin = isSecret(field) ? secretOrigin(field, desired, base) : plain();
    const holds = origin === 'drift' && !revert && live !== undefined && loosens(kind, field, live.spec);
    return { ...field, origin, ...(holds ? { held: true as const } : {}) };
  });
  return live === undefined ? told : following(kind, twinsHeld(told), desired, live.spec);
}

/**
 * Entries of one list that stand twice, by content or by name, cannot be written apart: where one is held, so is what
 * changes about its twin.
 */
function twinsHeld(fields: readonly FieldChange[]): readonly FieldChange[] {
  const held = fields.flatMap((field) => (field.held === true ? twinPaths(field) : []));
  if (held.length === 0) return fields;
  return fields.map((field) =>
    held.some((path) => isPointerWithin(single(field.path), path)) ? { ...field, held: true as const } : field,
  );
}

/** Where the twins of an entry stand: under its content, and under its name. */
function twinPaths({ path, before }: FieldChange): readonly Pointer[] {
  const parent = path.slice(0, path.lastIndexOf('/'));
  const entry = shown(before);
  const name = isObject(entry) ? entry['name'] : undefined;
  const isByContent = tokensOf(path).at(-1)?.startsWith('{') === true;
  if (!isByContent) return [];
  return [single(path), ...(typeof name === 'string' && name !== '' ? [`${parent}${pointer(name)}`] : [])];
}

function single(path: Pointer): Pointer {
  return path.replace(/\++$/, '');
}

/** What follows from other fields follows from them as they will be: held ones as they are. */
function following(kind: Kind, fields: readonly FieldChange[], desired: DesiredResource, live: JsonObject): readonly FieldChange[] {
  const written = fields.filter(({ held }) => held !== true);
  if (written.length === fields.length) return fields;
  const edits = written.filter((field) => !isSecret(field)).map(({ path, after }) => ({ path, value: shown(after) }));
  const derived = kind.derived(editSpec(kind.fields, live, edits), desired);
  return fields.flatMap((field) => {
    const rule = kind.fields.find(({ name }) => pointer(name) === field.path);
    const value = rule?.omitted === 'derived' && !desired.stated.has(rule.name) ? derived[rule.name] : undefined;
    if (rule === undefined || value === undefined || field.held === true || equal(value, shown(field.after))) return [field];
    return equal(value, live[rule.name] ?? rule.empty) ? [] : [{ ...field, after: { value } }];
  });
}

function isSecret({ before, after }: FieldChange): boolean {
  return 'secret' in before || 'secret' in after;
}

/** What the base would write there is a drift if it is the same, and both moved if it is another, or somewhere near. */
function fieldOrigin({ path, after }: FieldChange, drifted: ReadonlyMap<Pointer, Value>): Origin {
  const stood = drifted.get(path);
  if (stood !== undefined) return equal(shown(stood), shown(after)) ? 'drift' : 'both';
  for (const other of drifted.keys()) if (isPointerWithin(path, other) || isPointerWithin(other, path)) return 'both';
  return 'intent';
}

/** The object itself is gone, so whatever the base had of it was lost. */
function lostOrigin({ path, after }: FieldChange, base: JsonObject): Origin {
  const stood = valueAtTop(base, path);
  if (stood === undefined) return 'intent';
  return equal(stood, shown(after)) ? 'drift' : 'both';
}

function valueAtTop(spec: JsonObject, path: Pointer): Json | undefined {
  return spec[tokensOf(path)[0] ?? ''];
}

function shown(value: Value): Json | undefined {
  return 'value' in value ? value.value : undefined;
}

/** Live secrets cannot be told from those of the base: what the manifests say alike was changed on the gateway. */
function secretOrigin({ path }: FieldChange, desired: DesiredResource, base: DesiredResource): Origin {
  const wished = desired.secrets[path];
  const stood = base.secrets[path];
  if (wished === undefined || stood === undefined) return wished === stood ? 'drift' : 'intent';
  if (wished.source !== stood.source) return 'intent';
  return wished.state !== 'value' || stood.state !== 'value' || wished.equals(stood) ? 'drift' : 'intent';
}

/** Returns whether writing the field would take protection away from what is live. */
function loosens(kind: Kind, { path, after }: FieldChange, live: JsonObject): boolean {
  if (!('value' in after) && !('absent' in after)) return false;
  return specDirection(kind.fields, live, editSpec(kind.fields, live, [{ path, value: shown(after) }])).weakens;
}

/** Finds what was last applied of a resource, under the name that it has or, where it is live, had. */
export function lastAppliedLookup(
  base: BaseState | undefined,
  revert: readonly string[] = [],
): (resource: DesiredResource, isLive: boolean) => AppliedResource | undefined {
  if (base === undefined) return () => undefined;
  const applied = desiredByKey(base.desired.resources);
  const reverts = new Set(revert);
  return (resource, isLive) => {
    const former = isLive ? formerIdOf(resource) : undefined;
    const found = applied.get(resource.key) ?? (former === undefined ? undefined : applied.get(former));
    return found === undefined ? undefined : { base: found, revert: reverts.has(resource.id) };
  };
}
