import { type AccessLookup, accessLookup, attributesOn, roleNamesOf, rulesAsked } from '../access/access-index.ts';
import {
  affectsEvery,
  attachingAttributes,
  decidesAccess,
  type DecidingState,
  fixedIn,
  rulesEverywhere,
  withoutAttribute,
} from '../access/deciding-kinds.ts';
import { describedVersions, hiddenControls } from '../../model/dialects.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { type DesiredState, type Sample } from '../../model/desired.ts';
import { memoizeByObject } from '../../model/collections.ts';
import { asText, equal, type JsonObject, textsIn } from '../../model/json.ts';
import type { FieldRule, Registry } from '../../model/kind.ts';
import { liveById, liveEdges, type LiveResource, type LiveState } from '../../model/live.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { type Diff, type EdgeChange, isWritten, liveKeyOf, renamesOf, withNames } from '../../model/plan/plan.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import { isAuthSetting, isFeatureFlag, isOrganizationSetting, type RoleNames } from '../../model/protection/access-objects.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf } from '../../model/resource.ts';
import { type DeclaredAttachments, readDeclaredAttachments } from './declared-attachments.ts';
import { grantEnds, type GrantEnds } from './grant-ends.ts';
import { accessControlRows, type GatewayAccess, type SampleText } from '../controls/control-row.ts';
import { controlTable, decidingKindsOf } from '../controls/control-table.ts';

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
  /** Finds what decides access to a connection; made of the resources and edges where it is absent. */
  readonly lookup?: AccessLookup;
  /** What the gateway decides about access beside the resources and edges. */
  readonly listed: ListedAccess;
  /** Samples that rules must block or mask, by rule; of manifests that were applied, because those are reviewed. */
  readonly samples?: ReadonlyMap<ResourceId, readonly SampleText[]> | undefined;
  /** Returns how manifests declare an edge; absent when no manifests are known. */
  readonly declaredAttachments?: DeclaredAttachments | undefined;
  /** When manifests take access away, which a gateway does not know. */
  readonly ends?: GrantEnds | undefined;
};

/** What a gateway decides about access beside the resources and edges. */
type ListedAccess = Pick<DecidingState, 'fixed' | 'isControlled' | 'hidesRoles'> & GatewayAccess;

/** Returns what finds what decides access to a connection in a snapshot, which does not change. */
export const lookupIn: (snapshot: ProtectionSnapshot) => AccessLookup = memoizeByObject(
  (snapshot) => snapshot.lookup ?? accessLookup(decidingStateOf(snapshot)),
);

/** Returns why a change of an object may affect every connection while a plan is applied; undefined if it affects only those that it names. */
export function affectsEveryConnection(
  id: ResourceId,
  before: ProtectionSnapshot,
  after: ProtectionSnapshot,
): ReturnType<typeof affectsEvery> {
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
  return {
    resources,
    edges,
    everywhere: everywhereIn(snapshot),
    fixed: listed.fixed,
    isControlled: listed.isControlled,
    hidesRoles: listed.hidesRoles === true,
  };
}

/** Controls to which a gateway may add, by dialect. */
const incompleteByDialect: Readonly<Record<string, readonly ControlType[]>> = hiddenControls;

/** Returns the feature flags of a gateway; undefined where they were not read. */
function flagsIn(watched: readonly LiveResource[] = []): ReadonlyMap<string, boolean> | undefined {
  const flags = watched.filter(({ id }) => isFeatureFlag(id));
  return flags.length === 0 ? undefined : new Map(flags.map(({ id, spec }) => [nameOf(id), spec['enabled'] === true]));
}

/** Returns the masking provider of a gateway; nothing where it was not read. */
function providerIn(watched: readonly LiveResource[] = []): { readonly provider?: string } {
  const found = watched.find(({ id }) => isOrganizationSetting(id) && nameOf(id) === 'masking_provider');
  return found === undefined ? {} : { provider: asText(found.spec['value']) };
}

/** Returns what a gateway decides about access. Where watched kinds were not asked for, all that its dialect may add is missing. */
function gatewayAccess(live: Partial<LiveState>, dialect: string): ListedAccess {
  const { longestAccess, accessLimits, watched, rowFields = {}, unread = [], server } = live;
  const described = describedVersions[dialect];
  const rows = Object.values(rowFields);
  // Without an answer of a gateway, it is taken to be the described one, with a provider: without one it rejects masking rules.
  const reported = server === undefined ? { version: described, provider: 'mspresidio' } : { version: 'unknown', ...server };
  const enforcing = { ...reported, version: described && reported.version, ...providerIn(watched), flags: flagsIn(watched) };
  const gateway = { longestAccess, license: accessLimits, fixed: fixedIn(live), isControlled: rows.includes('on'), enforcing };
  if (watched === undefined) return { ...gateway, incomplete: new Set(incompleteByDialect[dialect]) };
  const missing = new Set([...unread.map(({ kind }) => kind), ...(rows.includes('unreadable') ? [accessControlRows] : [])]);
  const unreadable = controlTable.filter((row) => decidingKindsOf(row).some((kind) => missing.has(kind)));
  const hidesRoles = unread.some(({ kind }) => isAuthSetting(`${kind}/`));
  return { ...gateway, hidesRoles, incomplete: new Set(unreadable.map(({ type }) => type)) };
}

/** Takes the snapshot of the live state. */
export function liveSnapshot(live: LiveState, registry: Registry, dialect: string): ProtectionSnapshot {
  return createSnapshot(liveById(live.resources), rulesByConnection(liveEdges(live, registry)), gatewayAccess(live, dialect));
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

/** What a write leaves of one object. */
export type ObjectWrite = {
  readonly id: ResourceId;
  /** Undefined: it is deleted. */
  readonly spec: JsonObject | undefined;
  /** The paths that the write states, and that are known afterwards. */
  readonly stated: ReadonlySet<Pointer>;
  readonly edges: readonly (EdgeEnds & Pick<EdgeChange, 'action'>)[];
  /** Whether the object includes every connection, where the snapshot has only some of them. */
  readonly includesEvery?: boolean;
};

/** Returns the state after some writes, with what the gateway does by itself: a deleted attribute is taken from everything that has it. */
export function afterWrites(state: ProtectionSnapshot, writes: readonly ObjectWrite[]): ProtectionSnapshot {
  const resources = new Map(state.resources);
  const { edges, rulesOf } = editableEdges(state.edges);
  const everywhere = state.everywhere === undefined ? undefined : new Set(state.everywhere);
  let { fixed } = state.listed;
  for (const { id, spec, stated, includesEvery } of writes) {
    if (includesEvery === true) everywhere?.add(id);
    if (includesEvery === false || spec === undefined) everywhere?.delete(id);
    if (spec === undefined) {
      resources.delete(id);
      // Rules by name keep the name of a connection that is gone.
      for (const rule of edges.get(id) ?? []) if (!decidesAccess(kindOf(rule))) rulesOf(id).delete(rule);
      for (const [connection, rules] of edges) if (rules.has(id)) rulesOf(connection).delete(id);
      fixed = withoutAttribute(id, resources, fixed);
    } else {
      const { unknown = [], uid } = resources.get(id) ?? {};
      resources.set(id, { spec, unknown: unknown.filter((path) => !stated.has(path)), uid });
    }
  }
  for (const { action, rule, connection } of writes.flatMap((write) => write.edges)) {
    if (action === 'attach') rulesOf(connection).add(rule);
    if (action === 'detach') rulesOf(connection).delete(rule);
  }
  const made = createSnapshot(resources, edges, { ...state.listed, fixed });
  return everywhere === undefined ? made : { ...made, everywhere };
}

/** Returns what a gateway calls the groups of admins and auditors in a state. */
export function rolesIn({ listed }: Pick<ProtectionSnapshot, 'listed'>): RoleNames {
  return roleNamesOf(listed);
}

/** Takes the snapshot after a plan: the live state with all written changes; held and blocked changes are left out. */
export function plannedSnapshot(
  plan: Pick<Diff, 'changes' | 'edges'> & { readonly target: Pick<Diff['target'], 'dialect'> },
  live: LiveState,
  registry: Registry,
): ProtectionSnapshot {
  const snapshot = liveSnapshot(withNames(live, renamesOf(plan.changes)), registry, plan.target.dialect);
  const writes = plan.changes.filter(isWritten).flatMap((change): readonly ObjectWrite[] => {
    const [id, kind] = [liveKeyOf(change), registry.get(kindOf(liveKeyOf(change)))];
    if (kind === undefined) return [];
    const spec = change.action === 'delete' ? undefined : specAfter(change, kind, snapshot.resources.get(id)?.spec ?? {});
    return [{ id, spec: spec && normalizeObject(kind.fields, spec), stated: new Set(change.fields.map(({ path }) => path)), edges: [] }];
  });
  // The gateway takes what is deleted from what is written at any time.
  const all = [...writes.filter(({ spec }) => spec !== undefined), ...writes.filter(({ spec }) => spec === undefined)];
  const [first, ...rest] = all;
  const made = afterWrites(snapshot, first === undefined ? [] : [{ ...first, edges: plan.edges }, ...rest]);
  // The specs of connections have the groups.
  const isControlled = made.listed.isControlled || accessRowsOf(plan.changes, live) !== undefined;
  return { ...made, listed: { ...made.listed, isControlled } };
}

/**
 * Returns the state before the first step of a plan. A plan that switches access control on does so before all steps, with the groups of all
 * connections in one request.
 */
export function beforeSteps(before: ProtectionSnapshot, after: ProtectionSnapshot): ProtectionSnapshot {
  if (before.listed.isControlled || !after.listed.isControlled) return before;
  const resources = new Map(
    [...before.resources].map(([id, one]): readonly [ResourceId, ResourceSnapshot] => {
      const groups = kindOf(id) === 'Connection' ? after.resources.get(id)?.spec['access_groups'] : undefined;
      return [id, groups === undefined ? one : { ...one, spec: { ...one.spec, access_groups: groups } }];
    }),
  );
  const { lookup: _, ...rest } = before;
  return { ...rest, ...createSnapshot(resources, before.edges, { ...before.listed, isControlled: true }) };
}

/** Returns a state with some objects and one connection, and what decides about all connections. */
export function restrictedTo(state: ProtectionSnapshot, connection: ResourceId, ids: ReadonlySet<ResourceId>): ProtectionSnapshot {
  const resources = new Map<ResourceId, ResourceSnapshot>();
  for (const id of [connection, ...ids]) {
    const resource = state.resources.get(id);
    if (resource !== undefined) resources.set(id, resource);
  }
  const edges = new Map([[connection, state.edges.get(connection) ?? noRules]]);
  return { ...createSnapshot(resources, edges, state.listed), everywhere: everywhereIn(state) };
}

/** Returns a snapshot in which one object has another spec. What the object does not decide is shared with the given one. */
export function withSpec(snapshot: ProtectionSnapshot, id: ResourceId, spec: JsonObject): ProtectionSnapshot {
  const found = snapshot.resources.get(id);
  const resources = new Map(snapshot.resources).set(id, { spec, unknown: found?.unknown ?? [] });
  const rulesByAttribute = equal(found?.spec['attributes'], spec['attributes']) ? snapshot.rulesByAttribute : indexAttributes(resources);
  const shared = decidesAccess(kindOf(id)) ? {} : { everywhere: everywhereIn(snapshot), lookup: lookupIn(snapshot) };
  return { ...snapshot, resources, rulesByAttribute, ...shared };
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

/** Returns the rules that may be on a connection at any moment between two states, also where only one has its attribute, or the rule's. */
export function rulesBetween(states: readonly ProtectionSnapshot[], connection: ResourceId): ReadonlySet<ResourceId> {
  const attributes = new Set(
    states.flatMap(({ resources, listed }) => attributesOn(listed, nameOf(connection), resources.get(connection)?.spec ?? {})),
  );
  const rules = new Set<ResourceId>(attributes);
  for (const state of states) {
    for (const rule of rulesOn(state, connection)) rules.add(rule);
    for (const attribute of attributes) for (const rule of state.rulesByAttribute.get(nameOf(attribute)) ?? []) rules.add(rule);
    for (const rule of rulesAsked(state.listed, connection)) rules.add(rule);
  }
  return rules;
}

/** Returns the connections of each rule at any moment between two states, also those that no list shows. */
export function connectionsByRule(before: ProtectionSnapshot, after: ProtectionSnapshot): ReadonlyMap<ResourceId, ReadonlySet<ResourceId>> {
  const byRule = new Map<ResourceId, Set<ResourceId>>();
  for (const id of new Set([...allConnections(before, after), ...before.edges.keys(), ...after.edges.keys()])) {
    for (const rule of rulesBetween([before, after], id)) {
      const ids = byRule.get(rule);
      if (ids === undefined) byRule.set(rule, new Set([id]));
      else ids.add(id);
    }
  }
  return byRule;
}

const noRules: ReadonlySet<ResourceId> = new Set();

/** Returns the rules that include every connection of a snapshot. */
export const everywhereIn: (snapshot: ProtectionSnapshot) => ReadonlySet<ResourceId> = memoizeByObject(
  (snapshot) => snapshot.everywhere ?? rulesEverywhere(snapshot),
);

/** Makes a state of a gateway of its objects and attachments. */
export function createSnapshot(
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

const rulesByConnection = memoizeByObject((edges: readonly EdgeEnds[]): ProtectionSnapshot['edges'] => {
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
