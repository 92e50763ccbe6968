import { addToGroup, EdgeMap } from '../../model/collections.ts';
import { type BaseState, desiredByKey, type DesiredResource, formerIdOf } from '../../model/desired.ts';
import { equal } from '../../model/json.ts';
import { comparedFields, isClosable, type Kind } from '../../model/kind.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { type Change, type Diff, liveKeyOf, shownValue } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, kindOf } from '../../model/resource.ts';
import type { LiveSecret, Secret } from '../../model/secret.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import { editSpec } from '../../model/spec/edit.ts';
import { compareSpecs } from '../cells/compare-specs.ts';
import { resolveDefaults, resolveReferences } from '../cells/resolve-specs.ts';
import { declaredEnds, edgeField, indexEdges, isIgnoredEdge } from '../cells/edge-cells.ts';
import { isUnchanged, kindFields } from '../diff/draft-change.ts';
import { cellsOf } from '../cells/object-cells.ts';
import { lastAppliedLookup } from '../prepare/base-states.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { prove, type Side } from '../cells/cell.ts';
import { liveSecretSide, secretSide, setsSecret } from '../cells/secret-cells.ts';

/** The gateway without the changes that were made outside Ostiary since the base, under the names after the plan. */
export type GatewayAtBase = UndoneObjects & { readonly live: LiveState; readonly edges: UndoneEdges };

/** What was changed outside Ostiary, by the names after the plan. */
type UndoneObjects = {
  /** Live objects that differ from the base, as it left them. */
  readonly edited: ReadonlyMap<ResourceId, LiveResource>;
  /** The objects of the base that are not live. */
  readonly restored: ReadonlyMap<ResourceId, LiveResource>;
  /** Live connections that the base does not declare and the manifests do. */
  readonly imported: ReadonlySet<ResourceId>;
  /** The last manifests of objects that stay live although no manifest declares them any more. */
  readonly orphans: ReadonlyMap<ResourceId, DesiredResource>;
};

/** The attachments that were removed and made outside Ostiary. */
type UndoneEdges = { readonly removed: readonly EdgeEnds[]; readonly made: readonly EdgeEnds[] };

/**
 * Returns the gateway as the base left it; undefined if nothing was changed outside Ostiary since, or if the manifests are those of the base and
 * leave nothing to the gateway that was changed there. What an incomplete apply wrote stays: it is no drift.
 */
export function gatewayAtBase(prepared: Prepared, { changes }: Pick<Diff, 'changes'>, base: BaseState): GatewayAtBase | undefined {
  const { applied, desired, named } = prepared;
  if (applied === desired && !hasChangedLeft(prepared, base)) return undefined;
  const found = findUndone(prepared, base, new Map(changes.map((change) => [liveKeyOf(change), change])));
  const edges = findUndoneEdges(prepared, base, found);
  if (found.edited.size + found.imported.size + found.restored.size + edges.removed.length + edges.made.length === 0) return undefined;
  const kept = named.live.resources
    .filter(({ id }) => !found.imported.has(id))
    .map((resource) => found.edited.get(resource.id) ?? resource);
  const resources = withEdges([...kept, ...found.restored.values()], edges, prepared);
  return { ...found, edges, live: { ...named.live, resources } };
}

/** Returns whether the gateway changed a field that the manifests leave to it, and whose value the last apply recorded. */
function hasChangedLeft({ input, named }: Prepared, { left = new Map() }: BaseState): boolean {
  return [...left].some(([key, fields]) => {
    const [kind, live] = [input.registry.get(kindOf(key)), named.liveById.get(key)];
    return kind !== undefined && live !== undefined && compareSpecs(comparedFields(kind), fields, live.spec, live.unknown).length > 0;
  });
}

function findUndone(prepared: Prepared, base: BaseState, changes: ReadonlyMap<ResourceId, Change>): UndoneObjects {
  const { input, named, own } = prepared;
  const { registry, released = [] } = input;
  const kinds = new Map([...registry].map(([name, kind]) => [name, kindFields(kind)]));
  const pastOf = lastAppliedLookup(base);
  const [edited, restored] = [new Map<ResourceId, LiveResource>(), new Map<ResourceId, LiveResource>()];
  const orphans = new Map<ResourceId, DesiredResource>();
  const [imported, matched] = [new Set<ResourceId>(), new Set<string>(released)];
  const edit = (key: ResourceId, live: LiveResource, undone: LiveResource): void => {
    if (undone !== live && live.managedBy === undefined) edited.set(key, undone);
  };
  for (const resource of named.desired.resources) {
    const fields = kinds.get(kindOf(resource.id));
    const live = named.liveById.get(resource.key);
    if (fields === undefined || live === undefined) continue;
    // What an apply has created since differs from its predecessor, too.
    const past = pastOf(resource, !own.has(resource.key));
    if (past === undefined) {
      const isImported = !own.has(resource.key) && resource.replaces === undefined && isClosable(fields.kind);
      if (isImported) imported.add(resource.key);
      continue;
    }
    matched.add(past.key);
    // What is as in the manifest is as in the base, if that is the same manifest.
    if (past === resource && !changes.has(live.id)) continue;
    if (!isUnchanged(fields, past, live)) edit(resource.key, live, undo(fields.kind, { resource, past, live, state: named.live }));
  }
  const successors = new Set(named.desired.resources.flatMap((one) => (one.replaces === undefined ? [] : (formerIdOf(one) ?? []))));
  const [declared, unselected] = [desiredByKey(named.desired.resources), new Set(named.desired.unselected.map(({ key }) => key))];
  for (const past of base.desired.resources) {
    const { key } = past;
    const kind = registry.get(kindOf(key));
    if (kind === undefined || matched.has(key) || unselected.has(key)) continue;
    const live = named.liveById.get(key);
    const isRemoved = !declared.has(key);
    if (isRemoved && named.desired.partial === true) continue;
    if (live === undefined) restored.set(key, asCreated(kind, past, named.live));
    else if (isRemoved) {
      edit(key, live, undo(kind, { past, live, state: named.live }));
      // A connection is closed when its successor is there. A rule that stays beside its successor is one more rule.
      if (changes.get(key)?.action !== 'delete' && !(successors.has(key) && isClosable(kind))) orphans.set(key, past);
    }
  }
  return { edited, restored, imported, orphans };
}

/** A live resource and its last applied form, with its manifest if it has one. */
type UndoInput = {
  readonly resource?: DesiredResource;
  readonly past: DesiredResource;
  readonly live: LiveResource;
  readonly state: LiveState;
};

/** Returns a live object without its drift; the same object if it has none. */
function undo(kind: Kind, input: UndoInput): LiveResource {
  const { resource, past, live, state } = input;
  const changed = cellsOf({ kind, base: past, head: resource, live, state }).undoing();
  const edits = changed.map(({ path, after }) => ({ path, value: shownValue(after) }));
  const spec = edits.length === 0 ? live.spec : editSpec(kind.fields, live.spec, edits);
  const secrets = resource === undefined ? live.secrets : undoSecrets(resource, input);
  if (equal(spec, live.spec) && secrets === live.secrets) return live;
  const { changedSecrets: _, untouched: _untouched, ...rest } = live;
  return { ...rest, spec: secrets === live.secrets ? spec : withTools(spec, secrets, live.unknown), secrets };
}

/** Undoes secrets whose value in the base is known, or is certainly another one; a readable live value decides whether there is drift. */
function undoSecrets(resource: DesiredResource, { past, live }: UndoInput): LiveResource['secrets'] {
  const changed: (readonly [Pointer, LiveSecret | undefined])[] = [];
  for (const path of new Set([past, resource, live].flatMap(({ secrets }) => Object.keys(secrets)))) {
    const [base, head, found] = [secretSide(past, path), secretSide(resource, path), liveSecretSide(live, path)];
    const [applied, present] = [base, found].map(valueIn);
    if (base.is === 'left' || (found.is !== 'absent' && present === undefined)) continue;
    if (applied !== undefined) {
      if (prove(base, found) === 'different') changed.push([path, applied]);
    } else if (base.is === 'absent') {
      if (present !== undefined) changed.push([path, undefined]);
    }
    // A kept value is that of the gateway, then and now, and so is one that the gateway is proven to have kept.
    else if (
      setsSecret(past, path) &&
      live.changedSecrets !== 'source' &&
      prove(base, head) === 'different' &&
      prove(head, found) === 'equal'
    )
      changed.push([path, { state: 'hidden', source: 'live' }]);
  }
  if (changed.length === 0) return live.secrets;
  const secrets = new Map([...Object.entries(live.secrets), ...changed]);
  return Object.fromEntries([...secrets].flatMap(([path, secret]) => (secret === undefined ? [] : [[path, secret] as const])));
}

function valueIn(side: Side): Secret | undefined {
  return side.is === 'secret' && side.proof.state === 'value' ? side.proof : undefined;
}

/** Returns an object as an apply of its manifest would create it. */
export function asCreated(kind: Kind, manifest: DesiredResource, state: LiveState): LiveResource {
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

/** Finds the attachments that the gateway does not have as in the base; those of unmanaged objects stay. */
function findUndoneEdges({ input, named }: Prepared, base: BaseState, { restored, imported }: UndoneObjects): UndoneEdges {
  const { registry } = input;
  const live = { ...named.live, resources: [...named.live.resources, ...restored.values()] };
  const index = indexEdges({ desired: named.desired, live, registry, base: base.desired });
  const [past, declared] = [index.past ?? new EdgeMap<EdgeEnds>(), new EdgeMap(declaredEnds(named.desired, index))];
  const applied = desiredByKey(base.desired.resources);
  // What is managed stays as it is: no plan writes it.
  const isManaged = (id: ResourceId): boolean => named.liveById.get(id)?.managedBy !== undefined;
  const isUndone = (ends: EdgeEnds): boolean => !isIgnoredEdge(ends, index) && !isManaged(ends.rule) && !isManaged(ends.connection);
  const isOurs = (ends: EdgeEnds): boolean =>
    !imported.has(ends.connection) && (declared.has(ends) || (applied.has(ends.rule) && applied.has(ends.connection)));
  const removed = past.without(index.edges).filter(isUndone);
  const made = index.edges.without(past).filter((ends) => isOurs(ends) && isUndone(ends));
  return { removed, made };
}

/** Attaches and detaches: each end lists the edges for which its kind has a field. */
function withEdges(resources: readonly LiveResource[], { removed, made }: UndoneEdges, { input }: Prepared): readonly LiveResource[] {
  const [gained, lost] = [new Map<ResourceId, ResourceId[]>(), new Map<ResourceId, ResourceId[]>()];
  for (const [all, edges] of [
    [gained, removed],
    [lost, made],
  ] as const)
    for (const { rule, connection } of edges) {
      addToGroup(all, rule, connection);
      addToGroup(all, connection, rule);
    }
  // An imported connection is missing, and everything that is attached to it.
  const present = liveById(resources);
  const isLost = (id: ResourceId, other: ResourceId): boolean => lost.get(id)?.includes(other) === true;
  return resources.map((resource) => {
    const { id, edges } = resource;
    const more = (gained.get(id) ?? []).filter((other) => present.has(other));
    if (more.length === 0 && !lost.has(id)) return resource;
    const fieldOf = (other: ResourceId): string | undefined => edgeField(id, other, input.registry);
    const names = new Set([...Object.keys(edges), ...more.flatMap((other) => fieldOf(other) ?? [])]);
    const changed = [...names].map((name) => [
      name,
      [
        ...(edges[name] ?? []).filter((other) => !isLost(id, other)),
        ...more.filter((other) => fieldOf(other) === name && edges[name]?.includes(other) !== true),
      ],
    ]);
    return { ...resource, edges: Object.fromEntries(changed) };
  });
}
