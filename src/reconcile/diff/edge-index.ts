import { type DeclaredEdge, type DesiredState, desiredByKey } from '../../model/desired.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { edgeKey, liveEdges, type EdgeEnds } from '../../model/edges.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import type { Pointer } from '../../model/pointer.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';

/** Everything the edge rules ask about the two sides of a plan, and about what was applied before. */
export type EdgeInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly registry: Registry;
  readonly base?: DesiredState | undefined;
  readonly orphans?: ReadonlySet<ResourceId>;
  readonly toDelete?: ReadonlySet<ResourceId>;
  /** Resources whose drift is undone, whatever it protects. */
  readonly reverts?: ReadonlySet<string>;
};

/** What the edge rules look up. */
export type EdgeIndex = {
  readonly selected: ReadonlyMap<ResourceId, DesiredState['resources'][number]>;
  /** All that manifests declare, selected or not, with what each ignores. */
  readonly declared: ReadonlyMap<ResourceId, readonly Pointer[]>;
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  /** The id behind `Kind/uid`. */
  readonly byUid: (text: string) => ResourceId | undefined;
  /** All live edges by their key. */
  readonly edges: ReadonlyMap<string, EdgeEnds>;
  /** What no list shows and the gateway answers for. */
  readonly hidden: ReadonlySet<ResourceId>;
  readonly kinds: Registry;
  /** What the gateway knows a manifest's resource by, where that is not its id. */
  readonly keys: ReadonlyMap<ResourceId, ResourceId>;
  /** What the base declared, by edge key; undefined where no base is known. */
  readonly past: ReadonlySet<string> | undefined;
  /** Live objects of ours that no manifest declares any more; their edges stay while they do. */
  readonly orphans: ReadonlySet<ResourceId>;
  /** Orphans that this plan deletes, and with them their edges. */
  readonly toDelete: ReadonlySet<ResourceId>;
  readonly reverts: ReadonlySet<string>;
};

/** Prepares looking up the two sides of a plan. */
export function indexEdges({ desired, live, registry, base, orphans = nobody, toDelete = nobody, reverts = nobody }: EdgeInput): EdgeIndex {
  // Few texts are uids, so their index is made when the first one comes.
  let uids: ReadonlyMap<string, ResourceId> | undefined;
  const index: EdgeIndex = {
    selected: desiredByKey(desired.resources),
    declared: ignoresOf(desired),
    live: liveById(live.resources),
    byUid: (text) => (uids ??= uidsOf(live)).get(text),
    edges: new Map(liveEdges(live, registry).map((ends) => [edgeKey(ends), ends])),
    hidden: new Set(live.hidden),
    kinds: registry,
    keys: new Map(desired.resources.flatMap(({ id, key }) => (id === key ? [] : [[id, key] as const]))),
    past: undefined,
    orphans,
    toDelete,
    reverts,
  };
  return base === undefined
    ? index
    : { ...index, past: new Set(declaredEnds(base, { ...index, keys: formerKeys(desired, index) }).map(edgeKey)) };
}

const nobody: ReadonlySet<never> = new Set();

/** What the base knows under a former name is known by the one that it has now. */
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

/** The edges that manifests declare, as far as their ends are there. */
export function declaredEnds({ edges }: DesiredState, index: EdgeIndex): readonly EdgeEnds[] {
  return edges.flatMap((edge) => {
    const { rule, connection } = resolveEnds(edge, index);
    return rule === undefined || connection === undefined ? [] : [{ rule, connection }];
  });
}

function uidsOf({ resources }: LiveState): ReadonlyMap<string, ResourceId> {
  return new Map(resources.map((resource) => [resourceId(kindOf(resource.id), resource.uid), resource.id]));
}

/** The two ends by their names; an id that is live's on this very edge counts, though no list shows what has it. */
export function resolveEnds(edge: DeclaredEdge, index: EdgeIndex): Partial<EdgeEnds> {
  const rule = resolveEnd(edge.rule, index);
  const connection = resolveEnd(edge.connection, index);
  const live = index.edges.get(edgeKey({ rule: rule ?? idFromUid(edge.rule), connection: connection ?? idFromUid(edge.connection) }));
  return live ?? { ...(rule === undefined ? {} : { rule }), ...(connection === undefined ? {} : { connection }) };
}

/** The resource that an end's text names, if there is one. */
function resolveEnd(end: DeclaredEdge['rule'], index: EdgeIndex): ResourceId | undefined {
  const named = resourceId(end.kind, end.text);
  const id = index.keys.get(named) ?? named;
  if (index.declared.has(id) || index.live.has(id)) return id;
  return index.byUid(idFromUid(end)) ?? (index.hidden.has(idFromUid(end)) ? idFromUid(end) : undefined);
}

/** An end taken as the gateway's own id. */
export function idFromUid({ kind, text }: DeclaredEdge['rule']): ResourceId {
  return resourceId(kind, text.toLowerCase());
}

/** The field in which a kind lists its edges to another kind. */
export function edgeField(kind: Kind | undefined, other: string): string | undefined {
  return kind?.fields.find((field) => field.edge !== undefined && field.refers === other)?.name;
}
