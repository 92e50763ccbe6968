import { addToGroup, EdgeMap } from '../../model/collections.ts';
import { type BaseState, type DeclaredEdge, desiredByKey, type DesiredResource, formerIdOf, leftSecrets } from '../../model/desired.ts';
import { equal, type JsonObject } from '../../model/json.ts';
import { closableFields, comparedFields, type Kind } from '../../model/kind.ts';
import { liveById, liveEdges, type LiveResource, type LiveState } from '../../model/live.ts';
import { type Diff, remainingOrphans, shownValue } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, type Pointer, pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, kindOf } from '../../model/resource.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { unmerge } from '../../model/spec/merge-strictest.ts';
import { compareSpecs } from '../compare/compare-specs.ts';
import { resolveDefaults, resolveReferences } from '../compare/resolve-specs.ts';
import { declaredEnds, edgeField, type EdgeIndex, indexEdges } from '../compare/edge-index.ts';
import { isUnchanged, kindFields } from '../diff/draft-change.ts';
import { lastAppliedLookup } from '../compare/origins.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { isSameSecretSource } from '../compare/compare-secrets.ts';

/** The gateway as the base left it, and the manifests that lead from there to the same result. */
export type StateAtBase = {
  readonly live: LiveState;
  /** Fields that the manifests no longer state have the value that they keep on the gateway. */
  readonly resources: readonly DesiredResource[];
  readonly edges: readonly DeclaredEdge[];
  /** The objects of the base that are missing on the gateway. */
  readonly restored: ReadonlySet<ResourceId>;
};

/**
 * Returns the gateway without the changes that were made outside Ostiary since the base; undefined if there are none, or if the manifests
 * are those of the base and leave nothing to the gateway that was changed there. What an incomplete apply wrote stays: it is no drift.
 */
export function liveAtBase(prepared: Prepared, plan: Pick<Diff, 'orphans' | 'changes'>): StateAtBase | undefined {
  const { base, applied, desired, named, live } = prepared;
  if (base === undefined || applied === undefined || (applied === desired && !hasChangedLeft(prepared, base))) return undefined;
  const found = findUndone(prepared, new Set(remainingOrphans(plan).map(({ id }) => id)));
  const edges = findUndoneEdges(prepared, found);
  if (found.edited.size + found.imported.size + found.restored.size + edges.added.length + edges.removed.length === 0) return undefined;
  const former = new Map([...named.renames].map(([from, to]) => [to, from]));
  const idOf = (id: ResourceId): ResourceId => former.get(id) ?? id;
  const edited = new Map([...found.edited].map(([id, resource]) => [idOf(id), { ...resource, id: idOf(id) }]));
  const kept = live.resources.filter(({ id }) => !found.imported.has(id)).map((resource) => edited.get(resource.id) ?? resource);
  const all = withEdges([...kept, ...found.restored.values()], edges, { prepared, idOf });
  const stated = named.desired.resources.map((resource) => found.stated.get(resource.key) ?? resource);
  return {
    live: { ...live, resources: all },
    resources: [...stated, ...found.orphans.values()],
    edges: [...desired.edges, ...attachmentsOf(found.orphans, prepared)],
    restored: new Set(found.restored.keys()),
  };
}

/** Returns whether the gateway changed a field that the manifests leave to it, and whose value the last apply recorded. */
function hasChangedLeft({ input, named }: Prepared, { left = new Map() }: BaseState): boolean {
  return [...left].some(([key, fields]) => {
    const [kind, live] = [input.registry.get(kindOf(key)), named.liveById.get(key)];
    return kind !== undefined && live !== undefined && compareSpecs(comparedFields(kind), fields, live.spec, live.unknown).length > 0;
  });
}

/** Returns the live attachments of orphans as if manifests declared them. */
function attachmentsOf(orphans: Undone['orphans'], { named, input }: Prepared): readonly DeclaredEdge[] {
  if (orphans.size === 0) return [];
  return liveEdges(named.live, input.registry)
    .filter(({ rule, connection }) => orphans.has(rule) || orphans.has(connection))
    .map((ends) => ({ ...ends, declarations: [] }));
}

/** What is undone, by the names after the plan. */
type Undone = {
  readonly edited: ReadonlyMap<ResourceId, LiveResource>;
  /** The objects of the base that are not live. */
  readonly restored: ReadonlyMap<ResourceId, LiveResource>;
  /** Live connections that the base does not declare and the manifests do. */
  readonly imported: ReadonlySet<ResourceId>;
  readonly stated: ReadonlyMap<ResourceId, DesiredResource>;
  /** Manifests that say what objects are that stay live although no manifest declares them any more. */
  readonly orphans: ReadonlyMap<ResourceId, DesiredResource>;
};

function findUndone(prepared: Prepared, remaining: ReadonlySet<ResourceId>): Undone {
  const { input, base, named, own } = prepared;
  const { registry, released = [] } = input;
  const kinds = new Map([...registry].map(([name, kind]) => [name, kindFields(kind)]));
  const pastOf = lastAppliedLookup(base);
  const [edited, restored] = [new Map<ResourceId, LiveResource>(), new Map<ResourceId, LiveResource>()];
  const [stated, orphans] = [new Map<ResourceId, DesiredResource>(), new Map<ResourceId, DesiredResource>()];
  const [imported, matched] = [new Set<ResourceId>(), new Set<string>(released)];
  for (const resource of named.desired.resources) {
    const fields = kinds.get(kindOf(resource.id));
    const live = named.liveById.get(resource.key);
    if (fields === undefined || live === undefined) continue;
    // What an apply has created since differs from its predecessor, too.
    const past = pastOf(resource, !own.has(resource.key));
    if (past === undefined) {
      const isImported = !own.has(resource.key) && resource.replaces === undefined && closableFields(fields.kind).length > 0;
      if (isImported) imported.add(resource.key);
      continue;
    }
    matched.add(past.key);
    if (isUnchanged(fields, past, live)) continue;
    const undone = undoResource(fields.kind, { resource, past, live, state: named.live });
    if (undone.live !== live) edited.set(resource.key, undone.live);
    if (undone.resource !== resource) stated.set(resource.key, undone.resource);
  }
  const successors = new Map(
    named.desired.resources.flatMap((one) => (one.replaces === undefined ? [] : [[formerIdOf(one) ?? one.id, one] as const])),
  );
  const [declared, unselected] = [desiredByKey(named.desired.resources), new Set(named.desired.unselected.map(({ key }) => key))];
  for (const resource of base?.desired.resources ?? []) {
    const { key } = resource;
    const kind = registry.get(kindOf(key));
    if (kind === undefined || matched.has(key) || unselected.has(key)) continue;
    const live = named.liveById.get(key);
    const isRemoved = !declared.has(key);
    if (isRemoved && named.desired.partial === true) continue;
    if (live === undefined) restored.set(key, restoreResource(kind, resource, named.live));
    else if (isRemoved) {
      const undone = undoOrphan(kind, { resource, live, state: named.live });
      if (undone !== live) edited.set(key, undone);
      const successor = successors.get(key);
      // A successor tolerates no manifest of its predecessor. A rule that stays beside its successor is one more rule.
      const isBeside = successor !== undefined && closableFields(kind).length === 0;
      if (!remaining.has(resource.id) || (successor !== undefined && !isBeside)) continue;
      orphans.set(key, manifestOf(resource, live));
      if (isBeside) stated.set(successor.key, withoutReplaces(stated.get(successor.key) ?? successor));
    }
  }
  return { edited, restored, imported, stated, orphans };
}

/** A live resource, its manifest, and its last applied form. */
type UndoInput = {
  readonly resource: DesiredResource;
  readonly past: DesiredResource;
  readonly live: LiveResource;
  readonly state: LiveState;
};

/** Undoes drift, and states everything that the manifest stated in the base and leaves to the gateway now. */
function undoResource(kind: Kind, input: UndoInput): { readonly live: LiveResource; readonly resource: DesiredResource } {
  const { resource, past, live, state } = input;
  const fields = comparedFields(kind);
  const specOf = (manifest: DesiredResource): JsonObject =>
    resolveDefaults(kind, { ...manifest, spec: resolveReferences(kind, manifest, live, state).spec }, live);
  const found = unmerge(kind.fields, resource.spec, live.spec);
  const changed = compareSpecs(fields, specOf(past), found, [...past.ignore, ...live.unknown]);
  const edits = changed.map(({ path, after }) => ({ path, value: shownValue(after) }));
  const spec = edits.length === 0 ? live.spec : editSpec(kind.fields, live.spec, edits);
  const secrets = undoSecrets(input);
  if (equal(spec, live.spec) && secrets === live.secrets) return { live, resource };
  const { changedSecrets: _, untouched: _untouched, ...rest } = live;
  return { live: { ...rest, spec: withTools(spec, secrets, live.unknown), secrets }, resource: stateLeft(kind, specOf(resource), input) };
}

/**
 * Returns the manifest with the live value of everything that it stated in the base and leaves to the gateway now: what it ignores, keeps
 * or no longer states. So it accepts what the gateway has.
 */
function stateLeft(kind: Kind, wanted: JsonObject, { resource, past, live }: UndoInput): DesiredResource {
  const fields = comparedFields(kind);
  const kept = fields.flatMap(({ name, empty }) =>
    resource.spec[name] === undefined && past.spec[name] !== undefined ? [[name, live.spec[name] ?? empty] as const] : [],
  );
  const isIgnoredNow = (path: Pointer): boolean => isWithinAny(path, resource.ignore) && !isWithinAny(path, past.ignore);
  const edits = compareSpecs(fields, wanted, live.spec, live.unknown).flatMap(({ path, before }) =>
    isIgnoredNow(path) ? [{ path, value: shownValue(before) }] : [],
  );
  const spec = { ...(edits.length === 0 ? resource.spec : editSpec(kind.fields, resource.spec, edits)), ...Object.fromEntries(kept) };
  const secrets: Record<Pointer, DesiredSecret> = { ...resource.secrets };
  const removed: Pointer[] = [];
  const ignored = [...Object.keys(live.secrets), ...Object.keys(resource.secrets)].filter(isIgnoredNow);
  for (const path of new Set([...leftSecrets(resource, past), ...ignored])) {
    const found = live.secrets[path];
    if (found?.state === 'value') secrets[path] = found;
    else if (found !== undefined || isWithinAny(path, live.unknown)) secrets[path] = { state: 'keep', source: 'keep' };
    else {
      delete secrets[path];
      if (past.secrets[path] !== undefined) removed.push(path);
    }
  }
  return {
    ...resource,
    spec: withTools(spec, secrets),
    secrets,
    stated: new Set([...resource.stated, ...kept.map(([name]) => name)]),
    wholeSecrets: [...resource.wholeSecrets.filter((path) => !isIgnoredNow(path)), ...removed],
    ignore: resource.ignore.filter((path) => isWithinAny(path, past.ignore)),
  };
}

/** Returns an object that was removed from the manifests as they declared it. */
function undoOrphan(kind: Kind, { resource, live, state }: Omit<UndoInput, 'past'>): LiveResource {
  const resolved = { ...resource, spec: resolveReferences(kind, resource, live, state).spec };
  const applied = resolveDefaults(kind, resolved, live);
  const changed = compareSpecs(comparedFields(kind), applied, live.spec, [...resource.ignore, ...live.unknown]);
  if (changed.length === 0) return live;
  return {
    ...live,
    spec: editSpec(
      kind.fields,
      live.spec,
      changed.map(({ path, after }) => ({ path, value: shownValue(after) })),
    ),
  };
}

/** Returns a manifest that says what a live object is, except its secrets. */
function manifestOf({ selector: _selector, ...resource }: DesiredResource, { spec }: LiveResource): DesiredResource {
  return { ...resource, spec, stated: new Set(Object.keys(spec)), secrets: {}, wholeSecrets: [] };
}

function withoutReplaces({ replaces: _replaces, ...resource }: DesiredResource): DesiredResource {
  return resource;
}

/** Undoes secrets whose value in the base is known, or is certainly another one; a readable live value decides whether there is drift. */
function undoSecrets({ resource, past: base, live }: UndoInput): LiveResource['secrets'] {
  const changed: (readonly [Pointer, LiveSecret | undefined])[] = [];
  for (const path of new Set([...Object.keys(base.secrets), ...Object.keys(resource.secrets)])) {
    const [before, after, found] = [base.secrets[path], resource.secrets[path], live.secrets[path]];
    if (isWithinAny(path, base.ignore) || isWithinAny(path, live.unknown)) continue;
    const isIgnoredNow = isWithinAny(path, resource.ignore);
    if (before?.state !== 'value' && isIgnoredNow) continue;
    if (found?.state === 'hidden') continue;
    if (before?.state === 'value' && (isIgnoredNow || !(after?.state === 'value' && after.equals(before)))) {
      if (found === undefined || !found.equals(before)) changed.push([path, before]);
    } else if (before === undefined) {
      // A map that the base did not state as a whole was left to the gateway.
      if (after?.state === 'value' && found !== undefined && isWithinAny(path, base.wholeSecrets)) changed.push([path, undefined]);
    }
    // A kept value is that of the gateway, then and now, and so is one that the gateway is proven to have kept.
    else if (
      before.state !== 'keep' &&
      live.changedSecrets !== 'source' &&
      after?.state === 'value' &&
      !isSameSecretSource(after, before) &&
      found?.equals(after) === true
    )
      changed.push([path, { state: 'hidden', source: 'live' }]);
  }
  if (changed.length === 0) return live.secrets;
  const secrets = new Map([...Object.entries(live.secrets), ...changed]);
  return Object.fromEntries([...secrets].flatMap(([path, secret]) => (secret === undefined ? [] : [[path, secret] as const])));
}

/** Returns an object as an apply of its manifest would create it. */
function restoreResource(kind: Kind, manifest: DesiredResource, state: LiveState): LiveResource {
  const resolved = { ...manifest, spec: resolveReferences(kind, manifest, undefined, state).spec };
  const secrets = Object.entries(manifest.secrets).map(([path, secret]): readonly [Pointer, LiveSecret] => [
    path,
    secret.state === 'value' ? secret : { state: 'hidden', source: 'live' },
  ]);
  return {
    id: manifest.key,
    uid: `missing ${manifest.key}`,
    spec: resolveDefaults(kind, resolved, undefined),
    secrets: Object.fromEntries(secrets),
    edges: {},
    raw: undefined,
    unknown: [],
  };
}

/** The attachments that were removed and made outside Ostiary. */
type UndoneEdges = { readonly added: readonly EdgeEnds[]; readonly removed: readonly EdgeEnds[] };

/** Finds the attachments that the gateway does not have as in the base; those of unmanaged objects stay. */
function findUndoneEdges({ input, base, named }: Prepared, { restored, imported }: Undone): UndoneEdges {
  const { registry } = input;
  const live = { ...named.live, resources: [...named.live.resources, ...restored.values()] };
  const index = indexEdges({ desired: named.desired, live, registry, base: base?.desired });
  const [past, declared] = [index.past ?? new EdgeMap<EdgeEnds>(), new EdgeMap(declaredEnds(named.desired, index))];
  const applied = desiredByKey(base?.desired.resources ?? []);
  const isUndone = (ends: EdgeEnds): boolean => !isIgnored(ends, index);
  const isMade = (ends: EdgeEnds): boolean =>
    !imported.has(ends.connection) && (declared.has(ends) || (applied.has(ends.rule) && applied.has(ends.connection)));
  const added = past.without(index.edges).filter(isUndone);
  const removed = index.edges.without(past).filter((ends) => isMade(ends) && isUndone(ends));
  return { added, removed };
}

function isIgnored({ rule, connection }: EdgeEnds, { declared, kinds }: EdgeIndex): boolean {
  return [
    [rule, connection],
    [connection, rule],
  ].some(([id = rule, other = rule]) => {
    const field = edgeField(kinds.get(kindOf(id)), kindOf(other));
    return field !== undefined && (declared.get(id) ?? []).some((path) => isPointerWithin(pointer(field), path));
  });
}

type EdgeContext = { readonly prepared: Prepared; readonly idOf: (id: ResourceId) => ResourceId };

/** Attaches and detaches: each end lists the edges for which its kind has a field. */
function withEdges(
  resources: readonly LiveResource[],
  { added, removed }: UndoneEdges,
  { prepared, idOf }: EdgeContext,
): readonly LiveResource[] {
  const { registry } = prepared.input;
  const [gained, lost] = [new Map<ResourceId, ResourceId[]>(), new Map<ResourceId, ResourceId[]>()];
  const collect = (all: Map<ResourceId, ResourceId[]>, { rule, connection }: EdgeEnds): void => {
    addToGroup(all, idOf(rule), idOf(connection));
    addToGroup(all, idOf(connection), idOf(rule));
  };
  for (const ends of added) collect(gained, ends);
  for (const ends of removed) collect(lost, ends);
  // An imported connection is missing, and everything that is attached to it.
  const present = liveById(resources);
  const isLost = (id: ResourceId, other: ResourceId): boolean => lost.get(id)?.includes(other) === true;
  return resources.map((resource) => {
    const { id, edges } = resource;
    const more = (gained.get(id) ?? []).filter((other) => present.has(other));
    if (more.length === 0 && !lost.has(id)) return resource;
    const kind = registry.get(kindOf(id));
    const names = new Set([...Object.keys(edges), ...more.flatMap((other) => edgeField(kind, kindOf(other)) ?? [])]);
    const changed = [...names].map((name) => [
      name,
      [
        ...(edges[name] ?? []).filter((other) => !isLost(id, other)),
        ...more.filter((other) => edgeField(kind, kindOf(other)) === name && edges[name]?.includes(other) !== true),
      ],
    ]);
    return { ...resource, edges: Object.fromEntries(changed) };
  });
}
