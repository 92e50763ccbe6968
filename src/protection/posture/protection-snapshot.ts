import { accessLookup } from '../access/access-index.ts';
import { affectsEvery, attachingAttributes, decidesAccess, type DecidingState, rulesEverywhere } from '../access/deciding-kinds.ts';
import { hiddenControls } from '../../model/dialects.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { type DesiredState, type Sample } from '../../model/desired.ts';
import { addToGroup, memoizeByList } from '../../model/collections.ts';
import { equal, type JsonObject, textsIn } from '../../model/json.ts';
import type { FieldRule, Kind, Registry } from '../../model/kind.ts';
import { fixedObjects, liveEdges, type LiveResource, type LiveState } from '../../model/live.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { isWritten, liveKeyOf, type Change, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import { isAttribute, isMachineIdentity } from '../../model/protection/access-objects.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf } from '../../model/resource.ts';
import { type DeclaredAttachments, readDeclaredAttachments } from './declared-attachments.ts';
import { grantEnds, type GrantEnds } from './grant-ends.ts';
import { accessControlRows, type GatewayAccess, type SampleText } from '../controls/control-row.ts';
import { controlTable } from '../controls/control-table.ts';

/** One resource: its spec, the paths that cannot be read, and the gateway's id; without one, the gateway does not have it yet. */
export type ResourceSnapshot = { readonly spec: JsonObject; readonly unknown: readonly Pointer[]; readonly uid?: string | undefined };

/** Everything that determines protection at one moment: all resources and attachments of a gateway. */
export type ProtectionSnapshot = {
  readonly resources: ReadonlyMap<ResourceId, ResourceSnapshot>;
  /** The rules that an edge attaches, by connection. */
  readonly edges: ReadonlyMap<ResourceId, ReadonlySet<ResourceId>>;
  /** The rules with an attribute, by attribute. */
  readonly rulesByAttribute: ReadonlyMap<string, ReadonlySet<ResourceId>>;
  /** The rules that include every connection; found in the resources and edges where it is absent. */
  readonly everywhere?: ReadonlySet<ResourceId>;
  /** What the gateway decides about access; found in the resources and edges where it is absent. */
  readonly access?: GatewayAccess;
  /** The attributes that objects have until the plan deletes them, by object; absent in other states than that after a plan. */
  readonly detached?: ReadonlyMap<ResourceId, readonly ResourceId[]>;
  /** What the gateway decides about access beside the resources and edges; `readAccessIn` returns both together. */
  readonly listed: ListedAccess;
  /** Samples that rules must block or mask, by rule; of manifests that were applied, because those are reviewed. */
  readonly samples?: ReadonlyMap<ResourceId, readonly SampleText[]> | undefined;
  /** Returns how manifests declare an edge; absent when no manifests are known. */
  readonly declaredAttachments?: DeclaredAttachments;
  /** When manifests take access away, which a gateway does not know. */
  readonly ends?: GrantEnds | undefined;
};

/** What a gateway decides about access beside the resources and edges. */
type ListedAccess = Pick<DecidingState, 'fixed' | 'isControlled'> & Omit<GatewayAccess, 'lookup'>;

const known = new WeakMap<ProtectionSnapshot, GatewayAccess>();

/** Returns what the gateway decides about access with the resources and edges of a snapshot, which do not change afterwards. */
export function readAccessIn(snapshot: ProtectionSnapshot): GatewayAccess {
  const access = snapshot.access ?? known.get(snapshot) ?? readAccess(snapshot);
  known.set(snapshot, access);
  return access;
}

/** Returns whether a change of an object may affect every connection while a plan is applied. */
export function affectsEveryConnection(id: ResourceId, before: ProtectionSnapshot, after: ProtectionSnapshot): boolean {
  return affectsEvery(id, decidingStateOf(before), decidingStateOf(after));
}

/** Lists the connections that some of the snapshots have. */
export function allConnections(...snapshots: readonly Pick<ProtectionSnapshot, 'resources'>[]): readonly ResourceId[] {
  const ids = snapshots.flatMap(({ resources }) => [...resources.keys()].filter((id) => kindOf(id) === 'Connection'));
  return [...new Set(ids)];
}

/** Returns what decides access in a snapshot. */
export function decidingStateOf(snapshot: ProtectionSnapshot): DecidingState {
  const { resources, edges, listed } = snapshot;
  return { resources, edges, everywhere: everywhereIn(snapshot), fixed: listed.fixed, isControlled: listed.isControlled };
}

function readAccess(snapshot: ProtectionSnapshot): GatewayAccess {
  const { license, longestAccess, incomplete } = snapshot.listed;
  return { license, longestAccess, incomplete, lookup: accessLookup(decidingStateOf(snapshot)) };
}

/** Controls to which a gateway may add, by dialect. */
const incompleteByDialect: Readonly<Record<string, readonly ControlType[]>> = hiddenControls;

/** Returns what a gateway decides about access. Where watched kinds were not asked for, all that its dialect may add is missing. */
function gatewayAccess(live: Partial<LiveState>, dialect: string): ListedAccess {
  const { resources = [], longestAccess, accessLimits, watched, rowFields = {}, unread = [] } = live;
  const rows = Object.values(rowFields);
  // A connection does not list the attributes that the gateway manages; these list it.
  const managed = resources.filter(({ id, managedBy }) => managedBy !== undefined && isAttribute(id));
  const fixed = managed.length === 0 ? fixedObjects(live) : [...fixedObjects(live), ...managed];
  const gateway = { longestAccess, license: accessLimits, fixed, isControlled: rows.includes('on') };
  if (watched === undefined) return { ...gateway, incomplete: new Set(incompleteByDialect[dialect]) };
  const missing = new Set([...unread.map(({ kind }) => kind), ...(rows.includes('unreadable') ? [accessControlRows] : [])]);
  const unreadable = controlTable.filter(({ decidedBy = [] }) => decidedBy.some((kind) => missing.has(kind)));
  return { ...gateway, incomplete: new Set(unreadable.map(({ type }) => type)) };
}

/** Indexes the resources of a live state, which does not change. */
const resourcesIn = memoizeByList(
  (resources: readonly LiveResource[]): ProtectionSnapshot['resources'] =>
    new Map(resources.map(({ id, uid, spec, unknown }) => [id, { spec, unknown, uid }])),
);

/** Takes the snapshot of the live state. */
export function liveSnapshot(live: LiveState, registry: Registry, dialect: string): ProtectionSnapshot {
  return createSnapshot(resourcesIn(live.resources), rulesByConnection(liveEdges(live, registry)), gatewayAccess(live, dialect));
}

/** Takes the snapshot that manifests describe. An omitted field that keeps its live value counts as unknown. */
export function desiredSnapshot(desired: DesiredState, registry: Registry, dialect: string): ProtectionSnapshot {
  const resources = desired.resources.map(({ key, spec, stated }): readonly [ResourceId, ResourceSnapshot] => {
    const isOmitted = ({ name }: FieldRule): boolean => spec[name] === undefined && !stated.has(name);
    const omitted = (registry.get(kindOf(key))?.fields ?? []).filter(
      (field) => field.omitted === 'kept' && isOmitted(field) && [field.dialect ?? dialect, field.borrowed].includes(dialect),
    );
    return [key, { spec, unknown: omitted.map((field) => pointer(field.name)) }];
  });
  return {
    ...createSnapshot(new Map(resources), rulesByConnection(desired.edges), gatewayAccess({}, dialect)),
    declaredAttachments: readDeclaredAttachments(desired),
    ends: grantEnds(desired),
  };
}

/** Takes the snapshot after a plan: the live state with all written changes; held and blocked changes are left out. */
export function plannedSnapshot(
  plan: Pick<Diff, 'changes' | 'edges'> & { readonly target: Pick<Diff['target'], 'dialect'> },
  live: LiveState,
  registry: Registry,
): ProtectionSnapshot {
  const snapshot = liveSnapshot(withNames(live, renamesOf(plan.changes)), registry, plan.target.dialect);
  const resources = new Map(snapshot.resources);
  const { edges, rulesOf } = editableEdges(snapshot.edges);
  for (const change of plan.changes.filter(isWritten)) {
    const key = liveKeyOf(change);
    const kind = registry.get(kindOf(key));
    if (kind === undefined) continue;
    if (change.action === 'delete') {
      resources.delete(key);
      // Rules by name keep the name of a connection that is gone.
      for (const rule of edges.get(key) ?? []) if (!decidesAccess(kindOf(rule))) rulesOf(key).delete(rule);
      for (const [connection, rules] of edges) if (rules.has(key)) rulesOf(connection).delete(key);
    } else resources.set(key, resourceAfter(change, kind, resources.get(key)));
  }
  for (const { action, rule, connection } of plan.edges) {
    if (action === 'attach') rulesOf(connection).add(rule);
    if (action === 'detach') rulesOf(connection).delete(rule);
  }
  const deleted = plan.changes.flatMap((change) => (change.action === 'delete' && isAttribute(change.id) ? [change.id] : []));
  const { listed } = snapshot;
  const having = deleted.map((id) => [id, detachAttribute(resources, id)] as const);
  const detached = new Map<ResourceId, ResourceId[]>();
  for (const [attribute, ids] of having) for (const id of ids) addToGroup(detached, id, attribute);
  const fixed = withCredentials(listed.fixed, new Map(having.map(([id, ids]) => [nameOf(id), ids])));
  // The specs of connections have the groups.
  const isControlled = listed.isControlled || accessRowsOf(plan.changes, live) !== undefined;
  return { ...createSnapshot(resources, edges, { ...listed, fixed, isControlled }), detached };
}

/** Returns the objects that no plan writes when attributes are deleted, with the objects that have them: machines keep the credentials that they got by them. */
function withCredentials(fixed: readonly LiveResource[], deleted: ReadonlyMap<string, readonly ResourceId[]>): readonly LiveResource[] {
  if (deleted.size === 0) return fixed;
  return fixed.map((one) => {
    if (!isMachineIdentity(one.id)) return one;
    const kept = textsIn(one.spec['attributes']).flatMap((name) => (deleted.get(name) ?? []).map(nameOf));
    return { ...one, links: [...(one.links ?? []), ...kept] };
  });
}

/** Takes a deleted attribute from everything that has it, as the gateway does, and lists what had it. */
function detachAttribute(resources: Map<ResourceId, ResourceSnapshot>, key: ResourceId): readonly ResourceId[] {
  const deleted = nameOf(key);
  const having: ResourceId[] = [];
  for (const [id, resource] of resources) {
    const names = textsIn(resource.spec['attributes']);
    if (!names.includes(deleted)) continue;
    resources.set(id, { ...resource, spec: { ...resource.spec, attributes: names.filter((name) => name !== deleted) } });
    having.push(id);
  }
  return having;
}

/** Returns the snapshot before a plan with some of its rules, and their attachments, as they are after it. */
export function mixSnapshots(before: ProtectionSnapshot, after: ProtectionSnapshot, rules: ReadonlySet<ResourceId>): ProtectionSnapshot {
  if (rules.size === 0) return before;
  const resources = new Map(before.resources);
  for (const rule of rules) {
    const resource = after.resources.get(rule);
    if (resource === undefined) {
      resources.delete(rule);
      // The gateway lists it, so a plan deletes it; without one that a plan creates, what names it stays as it is.
      if (isAttribute(rule) && before.resources.get(rule)?.uid !== undefined) detachAttribute(resources, rule);
    } else resources.set(rule, resource);
  }
  // What a written object keeps of an attribute that is not deleted yet.
  const planned = after.detached === undefined ? before : after;
  for (const [id, attributes] of planned.detached ?? []) {
    const [resource, kept] = [resources.get(id), attributes.filter((attribute) => resources.has(attribute)).map(nameOf)];
    if (kept.length === 0 || resource === undefined || resource !== planned.resources.get(id)) continue;
    resources.set(id, { ...resource, spec: { ...resource.spec, attributes: [...textsIn(resource.spec['attributes']), ...kept] } });
  }
  const { edges, rulesOf } = editableEdges(before.edges);
  for (const { connection, rule } of edgesBut(before, after)) if (rules.has(rule)) rulesOf(connection).delete(rule);
  for (const { connection, rule } of edgesBut(after, before)) if (rules.has(rule)) rulesOf(connection).add(rule);
  return createSnapshot(resources, edges, before.listed);
}

/** Returns a snapshot in which one object has another spec. What the object does not decide is shared with the given one. */
export function withSpec(snapshot: ProtectionSnapshot, id: ResourceId, spec: JsonObject): ProtectionSnapshot {
  const found = snapshot.resources.get(id);
  const resources = new Map(snapshot.resources).set(id, { spec, unknown: found?.unknown ?? [] });
  const rulesByAttribute = equal(found?.spec['attributes'], spec['attributes']) ? snapshot.rulesByAttribute : indexAttributes(resources);
  const shared = decidesAccess(kindOf(id)) ? {} : { everywhere: everywhereIn(snapshot), access: readAccessIn(snapshot) };
  return { ...snapshot, resources, rulesByAttribute, ...shared };
}

/** Lists the edges of one snapshot that another one has not. */
function* edgesBut(one: ProtectionSnapshot, other: ProtectionSnapshot): Generator<EdgeEnds> {
  for (const [connection, rules] of one.edges) {
    const others = other.edges.get(connection) ?? noRules;
    if (others !== rules) for (const rule of rules) if (!others.has(rule)) yield { rule, connection };
  }
}

/**
 * Returns a function that leaves some connections of snapshots out; maps that snapshots share stay shared. Rules name only the connections that stay,
 * so each of the others must have the same rules as one of them.
 */
export function withoutConnections(isLeftOut: (connection: ResourceId) => boolean): (snapshot: ProtectionSnapshot) => ProtectionSnapshot {
  const reduce = <Value>(all: ReadonlyMap<ResourceId, Value>): ReadonlyMap<ResourceId, Value> =>
    new Map([...all].filter(([id]) => kindOf(id) !== 'Connection' || !isLeftOut(id)));
  const [keptIn, edgesIn] = [onceFor(reduce<ResourceSnapshot>), onceFor(reduce<ReadonlySet<ResourceId>>)];
  return ({ resources, edges, ...more }) => ({ ...more, resources: keptIn(resources), edges: edgesIn(edges) });
}

/** Returns a function that makes each value once. */
function onceFor<Given extends object, Made extends object>(make: (given: Given) => Made): (given: Given) => Made {
  const all = new WeakMap<Given, Made>();
  return (given) => {
    const made = all.get(given) ?? make(given);
    all.set(given, made);
    return made;
  };
}

/** Returns the rules on a connection: those attached by an edge, those that share an attribute with it, and those that include every connection. */
export function rulesOn(snapshot: ProtectionSnapshot, connection: ResourceId): ReadonlySet<ResourceId> {
  // A rule has attributes as well, and shares them with itself.
  if (kindOf(connection) !== 'Connection') return noRules;
  const everywhere = everywhereIn(snapshot);
  const named = snapshot.edges.get(connection) ?? noRules;
  const attached = everywhere.size === 0 ? named : new Set([...named, ...everywhere]);
  if (snapshot.rulesByAttribute.size === 0) return attached;
  const attributes = textsIn(snapshot.resources.get(connection)?.spec['attributes']);
  const shared = attributes.flatMap((attribute) => [...(snapshot.rulesByAttribute.get(attribute) ?? [])]);
  return shared.length === 0 ? attached : new Set([...attached, ...shared]);
}

const noRules: ReadonlySet<ResourceId> = new Set();

const knownEverywhere = new WeakMap<ProtectionSnapshot, ReadonlySet<ResourceId>>();

/** Returns the rules that include every connection of a snapshot. */
export function everywhereIn(snapshot: ProtectionSnapshot): ReadonlySet<ResourceId> {
  const rules = snapshot.everywhere ?? knownEverywhere.get(snapshot) ?? rulesEverywhere(snapshot);
  knownEverywhere.set(snapshot, rules);
  return rules;
}

function createSnapshot(
  resources: ProtectionSnapshot['resources'],
  edges: ProtectionSnapshot['edges'],
  listed: ListedAccess,
): ProtectionSnapshot {
  return { resources, edges, rulesByAttribute: indexAttributes(resources), listed };
}

/** Returns the samples of manifests that rules must catch, by rule; undefined when there are none. */
export function samplesOf({ resources }: DesiredState): ProtectionSnapshot['samples'] {
  const all = new Map<ResourceId, readonly SampleText[]>();
  for (const { key, samples = [] } of resources) {
    const texts = samples.flatMap(sampleTexts);
    if (texts.length > 0) all.set(key, texts);
  }
  return all.size === 0 ? undefined : all;
}

function sampleTexts({ given }: Sample): readonly SampleText[] {
  const { input, output, text, expect, finds } = given;
  if (typeof text === 'string') return Array.isArray(finds) && finds.length > 0 ? [{ control: 'masking', text }] : [];
  if (expect !== 'blocked') return [];
  if (typeof output === 'string') return [{ control: 'output', text: output }];
  return typeof input === 'string' ? [{ control: 'input', text: input }] : [];
}

/** Indexes the rules with an attribute by that attribute, which is one of them. */
function indexAttributes(resources: ProtectionSnapshot['resources']): ProtectionSnapshot['rulesByAttribute'] {
  const rulesByAttribute = new Map<string, Set<ResourceId>>();
  for (const [id, { spec }] of resources) {
    if (kindOf(id) === 'Connection') continue;
    for (const attribute of attachingAttributes(id, spec))
      rulesByAttribute.set(attribute, (rulesByAttribute.get(attribute) ?? new Set()).add(id));
  }
  return rulesByAttribute;
}

const rulesByConnection = memoizeByList((edges: readonly EdgeEnds[]): ProtectionSnapshot['edges'] => {
  const { edges: attached, rulesOf } = editableEdges();
  for (const { rule, connection } of edges) rulesOf(connection).add(rule);
  return attached;
});

type EditableEdges = {
  readonly edges: Map<ResourceId, ReadonlySet<ResourceId>>;
  readonly rulesOf: (connection: ResourceId) => Set<ResourceId>;
};

/** Returns a copy of edges; `rulesOf` returns the rules of one connection to be changed. Those of all others stay shared with the original. */
function editableEdges(shared: ProtectionSnapshot['edges'] = new Map()): EditableEdges {
  const edges = new Map(shared);
  const own = new Map<ResourceId, Set<ResourceId>>();
  return {
    edges,
    rulesOf(connection) {
      const changed = own.get(connection);
      if (changed !== undefined) return changed;
      const rules = new Set(edges.get(connection));
      own.set(connection, rules);
      edges.set(connection, rules);
      return rules;
    },
  };
}

function resourceAfter(change: Change, kind: Kind, resource: ResourceSnapshot | undefined): ResourceSnapshot {
  const spec = normalizeObject(kind.fields, specAfter(change, kind, resource?.spec ?? {}));
  const written = new Set(change.fields.map(({ path }) => path));
  return { spec, unknown: (resource?.unknown ?? []).filter((path) => !written.has(path)), uid: resource?.uid };
}
