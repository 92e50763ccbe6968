import { type DeclaredEdge, type DesiredState, desiredByKey } from '../../model/desired.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { edgeKey, liveEdges, type EdgeEnds, type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import type { Pointer } from '../../model/pointer.ts';
import { isUuid, kindOf, resourceId, type ResourceId } from '../../model/resource.ts';

/** The input of the edge rules: both sides of a plan, and what was applied before. */
export type EdgeInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly registry: Registry;
  readonly base?: DesiredState | undefined;
  /** Edges that incomplete applies attached. */
  readonly attached?: readonly EdgeEnds[] | undefined;
  readonly orphans?: ReadonlySet<ResourceId>;
  readonly toDelete?: ReadonlySet<ResourceId>;
  /** Objects whose edges stay as they are. */
  readonly frozen?: ReadonlySet<ResourceId>;
  /** Resources whose drift is undone even if that weakens protection. */
  readonly reverts?: ReadonlySet<string>;
  /** Attachments made outside Ostiary that are removed, by edge key. */
  readonly reverted?: ReadonlySet<string>;
};

/** The lookups of the edge rules. */
export type EdgeIndex = {
  readonly selected: ReadonlyMap<ResourceId, DesiredState['resources'][number]>;
  /** All declared resources, selected or not, with the paths that each ignores. */
  readonly declared: ReadonlyMap<ResourceId, readonly Pointer[]>;
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  /** Returns the id of the object with this `Kind/uid`. */
  readonly byUid: (text: string) => ResourceId | undefined;
  /** All live edges by their key. */
  readonly edges: ReadonlyMap<string, EdgeEnds>;
  /** Objects that no list shows and the gateway confirmed. */
  readonly hidden: ReadonlySet<ResourceId>;
  readonly kinds: Registry;
  /** The live keys of resources whose key is not their id. */
  readonly keys: ReadonlyMap<ResourceId, ResourceId>;
  /** The edges that the base declared, by edge key; undefined without a base. */
  readonly past: ReadonlyMap<string, EdgeEnds> | undefined;
  /** The edges that incomplete applies attached, by edge key. */
  readonly attached: ReadonlySet<string>;
  /** Orphans: their edges stay as long as they do. */
  readonly orphans: ReadonlySet<ResourceId>;
  /** Orphans that this plan deletes together with their edges. */
  readonly toDelete: ReadonlySet<ResourceId>;
  /** Objects whose edges stay as they are. */
  readonly frozen: ReadonlySet<ResourceId>;
  readonly reverts: ReadonlySet<string>;
  readonly reverted: ReadonlySet<string>;
};

/** Builds the lookups of both sides of a plan. */
export function indexEdges({
  desired,
  live,
  registry,
  base,
  attached = [],
  orphans = noIds,
  toDelete = noIds,
  frozen = noIds,
  reverts = noIds,
  reverted = noIds,
}: EdgeInput): EdgeIndex {
  // Few texts are uids, so their index is built for the first one.
  let uids: ReadonlyMap<string, ResourceId> | undefined;
  const index: EdgeIndex = {
    selected: desiredByKey(desired.resources),
    declared: ignoresOf(desired),
    live: liveById(live.resources),
    byUid: (text) => (uids ??= uidsOf(live)).get(text),
    edges: edgesByKey(liveEdges(live, registry)),
    hidden: new Set(live.hidden),
    kinds: registry,
    keys: new Map(desired.resources.flatMap(({ id, key }) => (id === key ? [] : [[id, key] as const]))),
    past: undefined,
    attached: new Set(attached.map(edgeKey)),
    orphans,
    toDelete,
    frozen,
    reverts,
    reverted,
  };
  return base === undefined ? index : { ...index, past: edgesByKey(declaredEnds(base, { ...index, keys: formerKeys(desired, index) })) };
}

/** Indexes edges by their key. */
export function edgesByKey(edges: readonly EdgeEnds[]): ReadonlyMap<string, EdgeEnds> {
  return new Map(edges.map((ends) => [edgeKey(ends), ends]));
}

const noIds: ReadonlySet<never> = new Set();

/** Maps former names, which the base declares, to the current keys. */
function formerKeys({ resources }: DesiredState, { keys }: EdgeIndex): EdgeIndex['keys'] {
  const former = resources.flatMap(({ id, key, renamedFrom }) =>
    renamedFrom === undefined ? [] : [[resourceId(kindOf(id), renamedFrom), key] as const],
  );
  return new Map([...keys, ...former]);
}

function ignoresOf({ resources, unselected }: DesiredState): EdgeIndex['declared'] {
  const ignores = new Map<ResourceId, readonly Pointer[]>();
  for (const { key, ignore } of resources) ignores.set(key, ignore);
  for (const { key, ignore } of unselected) ignores.set(key, ignore);
  return ignores;
}

/** Returns the edges that manifests declare and whose ends exist. */
export function declaredEnds({ edges }: DesiredState, index: EdgeIndex): readonly EdgeEnds[] {
  return edges.flatMap((edge) => {
    const { rule, connection } = resolveEnds(edge, index);
    return rule === undefined || connection === undefined ? [] : [{ rule, connection }];
  });
}

function uidsOf({ resources }: LiveState): ReadonlyMap<string, ResourceId> {
  return new Map(resources.map((resource) => [resourceId(kindOf(resource.id), resource.uid), resource.id]));
}

/** Resolves both ends to names. An id that the live edge has counts too, even if no list shows its object. */
export function resolveEnds(edge: DeclaredEdge, index: EdgeIndex): Partial<EdgeEnds> {
  const rule = resolveEnd(edge.rule, index);
  const connection = resolveEnd(edge.connection, index);
  const live = index.edges.get(edgeKey({ rule: rule ?? idFromUid(edge.rule), connection: connection ?? idFromUid(edge.connection) }));
  return live ?? { ...(rule === undefined ? {} : { rule }), ...(connection === undefined ? {} : { connection }) };
}

/** Returns the resource that the text of an end names. */
function resolveEnd(end: DeclaredEdge['rule'], index: EdgeIndex): ResourceId | undefined {
  const uid = idFromUid(end);
  // The id wins: a name may have the form of an id of another object.
  const found = isUuid(end.text) ? index.byUid(uid) : undefined;
  if (found !== undefined) return found;
  const named = resourceId(end.kind, end.text);
  const id = index.keys.get(named) ?? named;
  if (index.declared.has(id) || index.live.has(id)) return id;
  return index.byUid(uid) ?? (index.hidden.has(uid) ? uid : undefined);
}

/** Returns the id of an end whose text is a uid of the gateway. */
export function idFromUid({ kind, text }: DeclaredEdge['rule']): ResourceId {
  return resourceId(kind, text.toLowerCase());
}

/** Returns the field in which a kind lists its edges to another kind. */
export function edgeField(kind: Kind | undefined, other: string): string | undefined {
  return kind?.fields.find((field) => field.edge !== undefined && field.refers === other)?.name;
}
