import { addToGroup } from '../model/collections.ts';
import type { DesiredResource } from '../model/desired.ts';
import type { FieldRule, Kind } from '../model/kind.ts';
import { equal, isObject, type Json, type JsonObject } from '../model/json.ts';
import { type FieldChange, shownValue, type Value } from '../model/plan/plan.ts';
import { type Pointer, tokensOf } from '../model/pointer.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf } from '../model/resource.ts';
import { editSpec } from '../model/spec/edit.ts';
import { decidesAccess, includesEvery } from './access/deciding-kinds.ts';
import { compareProtection, type ControlDifference, createComparisonCache } from './controls/compare-protection.ts';
import { controlTable, controlTypesOf } from './controls/control-table.ts';
import { emptyPosture, type Posture } from './controls/control-row.ts';
import { createPostureBuilder, readPostures } from './posture/posture.ts';
import {
  everywhereIn,
  allConnections,
  indexAttributes,
  type ProtectionSnapshot,
  readAccessIn,
  rulesOn,
} from './posture/protection-snapshot.ts';

/**
 * Returns whether the drifted spec of a resource is provably stricter than the reverted one: the revert makes a connection lose
 * protection, and gains nothing and changes nothing that cannot be compared.
 */
export type DriftCheck = (id: ResourceId, drifted: JsonObject, reverted: JsonObject) => boolean;

/**
 * Returns a check of two specs of one resource that compares the whole protection of the connections it affects. `snapshot`
 * holds everything else as it is after the plan.
 */
export function createDriftCheck(snapshot: ProtectionSnapshot): DriftCheck {
  const resources = new Map(snapshot.resources);
  const [usual, everywhere] = [readAccessIn(snapshot), everywhereIn(snapshot)];
  const build = createPostureBuilder({ access: usual, samples: snapshot.samples });
  return (id, drifted, reverted) => {
    const original = resources.get(id);
    const sameAttributes = equal(drifted['attributes'], reverted['attributes']);
    const view = (spec: JsonObject): ProtectionSnapshot => {
      resources.set(id, { spec, unknown: original?.unknown ?? [] });
      const rulesByAttribute = sameAttributes ? snapshot.rulesByAttribute : indexAttributes(resources);
      return { ...snapshot, resources, rulesByAttribute, ...(decidesAccess(kindOf(id)) ? {} : { everywhere }) };
    };
    const ids = new Set([...connectionsWith(id, view(drifted)), ...connectionsWith(id, view(reverted))]);
    const postures = (spec: JsonObject): ReturnType<typeof readPostures> =>
      readPostures(view(spec), build, decidesAccess(kindOf(id)) ? undefined : usual);
    const before = [...ids].map(postures(drifted));
    const after = [...ids].map(postures(reverted));
    if (original === undefined) resources.delete(id);
    else resources.set(id, original);
    const compared = createComparisonCache();
    return onlyLoses(before.flatMap((one, index) => compareProtection(one ?? emptyPosture, after[index] ?? emptyPosture, compared)));
  };
}

function onlyLoses(differences: readonly ControlDifference[]): boolean {
  const isCertain = differences.every(
    ({ gained, coexisting, incomparable }) => gained.length + coexisting.length + incomparable.length === 0,
  );
  return isCertain && differences.some(({ lost }) => lost.length > 0);
}

/**
 * Returns the keys of attachments that were made outside Ostiary and are not provably stricter than their removal. It compares one after
 * the other. `snapshot` is the state after a plan that keeps all of them; those that it returns are removed from it.
 */
export function findAttachmentsToRevert(snapshot: ProtectionSnapshot, attachments: readonly EdgeEnds[]): ReadonlySet<string> {
  const edges = new Map([...snapshot.edges].map(([connection, rules]) => [connection, new Set(rules)] as const));
  for (const { rule, connection } of attachments) edges.get(connection)?.delete(rule);
  const build = createPostureBuilder({ access: readAccessIn(snapshot), samples: snapshot.samples });
  const compared = createComparisonCache();
  const shared = attachments.some(({ rule }) => decidesAccess(kindOf(rule))) ? undefined : readPostures({ ...snapshot, edges }, build);
  return new Set(
    attachments.flatMap((ends) => {
      const rules = edges.get(ends.connection) ?? new Set();
      const ids = includesEvery(ends.rule, { resources: snapshot.resources, edges }) ? allConnections(snapshot) : [ends.connection];
      const read = (): readonly Posture[] =>
        ids.map(shared ?? readPostures({ ...snapshot, edges }, build)).map((one) => one ?? emptyPosture);
      const without = read();
      edges.set(ends.connection, rules.add(ends.rule));
      if (onlyLoses(read().flatMap((one, index) => compareProtection(one, without[index] ?? emptyPosture, compared)))) return [];
      rules.delete(ends.rule);
      return [edgeKey(ends)];
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
export function findStricterDrift(
  { id, kind, desired, live, reverted, fields }: DriftedResource,
  isStricter: DriftCheck,
): ReadonlySet<Pointer> {
  let current = reverted;
  const found = new Set<Pointer>();
  for (const unit of driftUnits(kind, fields, [reverted, live])) {
    const edited = editSpec(
      kind.fields,
      current,
      unit.map(({ path, before }) => ({ path, value: shownValue(before) })),
    );
    const kept = { ...edited, ...derivedValues(kind, desired, edited) };
    // Each unit is held beside those before it, so that all of them together are stricter, too.
    if (isRejected(kind, kept) || !isStricter(id, kept, current)) continue;
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
  const groups = new Map<string, FieldChange[]>();
  const twins = new Set<string>();
  for (const field of fields) {
    const tokens = tokensOf(field.path);
    const { unit, isTwin } = unitOf(kind.fields, tokens, shownValue(field.before) ?? shownValue(field.after));
    const key = decidesAccess(kind.name) ? kind.name : (joinedKey(kind.name, tokens[0] ?? '', sides) ?? unit);
    addToGroup(groups, key, field);
    if (isTwin) twins.add(key);
  }
  return [...groups].flatMap(([key, group]) => {
    const drifted = group.filter((field) => isProtectionDrift(kind, field));
    if (drifted.length === 0) return [];
    return [twins.has(key) && group.every(({ before, after }) => isKnown(before) && isKnown(after)) ? group : drifted];
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
