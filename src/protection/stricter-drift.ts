import { groupBy } from '../model/collections.ts';
import type { DesiredResource } from '../model/desired.ts';
import type { FieldRule, Kind } from '../model/kind.ts';
import { equal, isObject, type Json, type JsonObject } from '../model/json.ts';
import { type FieldChange, shownValue, type Value } from '../model/plan/plan.ts';
import { type Pointer, tokensOf } from '../model/pointer.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf } from '../model/resource.ts';
import { editSpec } from '../model/spec/edit.ts';
import { decidesAccess, includesEvery } from './access/deciding-kinds.ts';
import { differencesBetween } from './compare/plan-differences.ts';
import { controlTable, controlTypesOf } from './controls/control-table.ts';
import { allConnections, everywhereIn, type ProtectionSnapshot, lookupIn, rulesOn, withSpec } from './posture/protection-snapshot.ts';

/** What a revert does: it certainly takes protection away and adds none, it changes nothing for anybody, or anything else. */
export type RevertEffect = 'weakens' | 'none' | 'other';

/** Returns what reverting the drifted spec of a resource to another one does to the connections that it affects. */
export type DriftCheck = (id: ResourceId, drifted: JsonObject, reverted: JsonObject) => RevertEffect;

/**
 * Returns a check of two specs of one resource that compares everything about the connections it affects. `snapshot` holds everything else as
 * it is after the plan.
 */
export function createDriftCheck(snapshot: ProtectionSnapshot): DriftCheck {
  const rules = [...snapshot.resources].filter(([id]) => kindOf(id) !== 'Connection');
  // What other connections are decides nothing about one.
  const alone = (id: ResourceId): ProtectionSnapshot => {
    const found = snapshot.resources.get(id);
    const resources = new Map(found === undefined ? rules : [...rules, [id, found]]);
    return { ...snapshot, resources, everywhere: everywhereIn(snapshot), lookup: lookupIn(snapshot) };
  };
  return (id, drifted, reverted) => {
    const state = kindOf(id) === 'Connection' ? alone(id) : snapshot;
    const [before, after] = [withSpec(state, id, drifted), withSpec(state, id, reverted)];
    return revertEffect(before, after, [...new Set([...connectionsWith(id, before), ...connectionsWith(id, after)])]);
  };
}

function revertEffect(before: ProtectionSnapshot, after: ProtectionSnapshot, ids: readonly ResourceId[]): RevertEffect {
  const { access, aspects } = differencesBetween(before, after, ids);
  // What no session enforces makes no difference.
  const all = [...access, ...aspects].map(({ causes }) => causes).filter((one) => Object.keys(one).length > 0);
  if (all.length === 0) return 'none';
  return all.every((one) => one.more !== undefined && one.less === undefined && one.unclear === undefined) ? 'weakens' : 'other';
}

/**
 * Returns the keys of attachments that were made outside Ostiary and are not provably stricter than their removal. It compares one after
 * the other. `snapshot` is the state after a plan that keeps all of them; those that it returns are removed from it.
 */
export function findAttachmentsToRevert(snapshot: ProtectionSnapshot, attachments: readonly EdgeEnds[]): ReadonlySet<string> {
  const shared = attachments.some(({ rule }) => decidesAccess(kindOf(rule))) ? {} : { lookup: lookupIn(snapshot) };
  const edges = new Map([...snapshot.edges].map(([connection, rules]) => [connection, new Set(rules)] as const));
  for (const { rule, connection } of attachments) edges.get(connection)?.delete(rule);
  let without: ProtectionSnapshot = { ...snapshot, ...shared, edges };
  return new Set(
    attachments.flatMap((ends) => {
      const { rule, connection } = ends;
      const ids = includesEvery(rule, { resources: snapshot.resources, edges: without.edges }) ? allConnections(snapshot) : [connection];
      const own = new Set(without.edges.get(connection)).add(rule);
      const attached = { ...snapshot, ...shared, edges: new Map(without.edges).set(connection, own) };
      if (revertEffect(attached, without, ids) !== 'weakens') return [edgeKey(ends)];
      without = attached;
      return [];
    }),
  );
}

function connectionsWith(id: ResourceId, snapshot: ProtectionSnapshot): readonly ResourceId[] {
  if (kindOf(id) === 'Connection') return [id];
  return allConnections(snapshot).filter((other) => rulesOn(snapshot, other).has(id));
}

/** One resource with drift: its spec if all drift is reverted, and the manifest that its derived values follow from. */
type DriftedResource = {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly desired: DesiredResource;
  readonly live: JsonObject;
  readonly reverted: JsonObject;
  readonly fields: readonly FieldChange[];
};

/** Returns whether a change is a drift of something that protects, with both sides known. */
export function isProtectionDrift(kind: Kind, { path, origin, before, after }: FieldChange): boolean {
  return origin === 'drift' && isKnown(before) && isKnown(after) && controlTypesOf(kind.name, path).length > 0;
}

/**
 * Returns the paths of the drift that is provably stricter than the manifest: reverting it would only weaken protection. All other drift
 * counts as reverted, and so does what every gateway rejects.
 */
export function findStricterDrift({ id, kind, desired, live, reverted, fields }: DriftedResource, check: DriftCheck): ReadonlySet<Pointer> {
  let current = reverted;
  const found = new Set<Pointer>();
  const withUnit = (spec: JsonObject, unit: readonly FieldChange[]): JsonObject => {
    const edited = editSpec(
      kind.fields,
      spec,
      unit.map(({ path, before }) => ({ path, value: shownValue(before) })),
    );
    return { ...edited, ...derivedValues(kind, desired, edited) };
  };
  for (const unit of driftUnits(kind, fields, [reverted, live])) {
    // Each unit is held beside those before it, so that all of them together are stricter, too.
    const kept = withUnit(current, unit);
    if (isRejected(kind, kept)) continue;
    const beside = check(id, kept, current);
    // Reviewers that a person added to a connection, and closed it, are stricter by themselves.
    if (beside === 'other' || (beside === 'none' && check(id, withUnit(reverted, unit), reverted) !== 'weakens')) continue;
    current = kept;
    for (const { path } of unit) found.add(path);
  }
  return found;
}

/** Returns whether every gateway rejects a spec: drift can contradict what changed in the manifest. */
function isRejected(kind: Kind, spec: JsonObject): boolean {
  return kind.check(spec).some(({ severity }) => severity === 'error');
}

function derivedValues(kind: Kind, desired: DesiredResource, spec: JsonObject): JsonObject {
  const unstated = kind.fields.filter(({ name, omitted }) => omitted === 'derived' && !desired.stated.has(name));
  if (unstated.length === 0) return {};
  const derived = kind.derived(spec, desired);
  return Object.fromEntries(unstated.flatMap(({ name }) => (derived[name] === undefined ? [] : [[name, derived[name]] as const])));
}

/**
 * Groups drift that is held or reverted as a whole: the entry of a rule, and fields that protect only together, as all fields of a rule about approval do. Two entries
 * with the same name cannot be written separately, so their changes are in one group, whoever made them.
 */
function driftUnits(
  kind: Kind,
  fields: readonly FieldChange[],
  sides: readonly [JsonObject, JsonObject],
): readonly (readonly FieldChange[])[] {
  const all = fields.map((field) => {
    const tokens = tokensOf(field.path);
    const { unit, isTwin } = unitOf(kind.fields, tokens, shownValue(field.before) ?? shownValue(field.after));
    return { field, isTwin, key: decidesAccess(kind.name) ? kind.name : (joinedKey(kind.name, tokens[0] ?? '', sides) ?? unit) };
  });
  return [...groupBy(all, ({ key }) => key).values()].flatMap((unit) => {
    const group = unit.map(({ field }) => field);
    const drifted = group.filter((field) => isProtectionDrift(kind, field));
    if (drifted.length === 0) return [];
    return [unit.some(({ isTwin }) => isTwin) && group.every(({ before, after }) => isKnown(before) && isKnown(after)) ? group : drifted];
  });
}

/** Returns the key of the group of joined fields, unless the deciding field is the same on both sides and counts nothing. */
function joinedKey(kind: string, name: string, [one, other]: readonly [JsonObject, JsonObject]): string | undefined {
  const row = controlTable.find(({ fields, decides }) => decides !== undefined && fields[kind]?.includes(name) === true);
  if (row?.decides === undefined) return undefined;
  const [left, right] = [one[row.decides] ?? null, other[row.decides] ?? null];
  return typeof left === 'number' || !equal(left, right) ? row.type : undefined;
}

type Unit = { readonly unit: string; readonly isTwin: boolean };

/**
 * Returns the entry of a keyed list that a path is in, by name, or the whole path. An entry that is known by its content is a
 * twin: another one has the same name, or the same content.
 */
function unitOf(fields: readonly FieldRule[], [name = '', ...rest]: readonly string[], value: Json | undefined): Unit {
  const field = fields.find((candidate) => candidate.name === name);
  const [token = ''] = rest;
  if (field?.shape === 'object') {
    const { unit, isTwin } = unitOf(field.fields, rest, value);
    return { unit: `${name}/${unit}`, isTwin };
  }
  if (field?.shape !== 'keyed') return { unit: [name, ...rest].join('/'), isTwin: false };
  const key = isObject(value) && rest.length === 1 ? value[field.key] : token;
  if (key === token) return { unit: `${name}/${token}`, isTwin: false };
  const content = token.replace(/\++$/, '');
  return typeof key === 'string' && key !== ''
    ? { unit: `${name}/${key}`, isTwin: true }
    : { unit: `${name}/${content}`, isTwin: content !== token };
}

function isKnown(value: Value): boolean {
  return 'value' in value || 'absent' in value;
}
