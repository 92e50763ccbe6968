import { EdgeMap } from './collections.ts';
import { type DeclaredEdge, type DesiredResource, edgesByEnds } from './desired.ts';
import type { Registry } from './kind.ts';
import { liveById, liveEdges, type LiveState } from './live.ts';
import { type EdgeEnds, type ResourceId, isUuid, kindOf, nameOf, resourceId } from './resource.ts';

/** The name of a declared resource, and its identity on the gateway. */
type Names = Pick<DesiredResource, 'id' | 'key'>;

/** Everything that the end of an edge can name. */
export type EndNames = {
  readonly desired: { readonly resources: readonly Names[]; readonly unselected: readonly Names[] };
  readonly live: LiveState;
  readonly registry: Registry;
  /** Current names by former ones: manifests that were applied name objects as they were called then. */
  readonly renames?: ReadonlyMap<ResourceId, ResourceId>;
};

/**
 * Returns edges by the identities of the objects that their ends name, each edge once. An end is a name, or the ID that the gateway
 * has for an object, in small or capital letters; the ID wins, because a name may have the form of the ID of another object. An end
 * that names nothing stays as it is.
 */
export function resolveEdges(edges: readonly DeclaredEdge[], names: EndNames): readonly DeclaredEdge[] {
  const resolveEnds = createEndResolver(names);
  if (edgesByEnds(edges).size === edges.length && edges.every((edge) => resolveEnds(edge) === edge)) return edges;
  const resolved = new EdgeMap<DeclaredEdge>();
  for (const edge of edges) {
    const ends = resolveEnds(edge);
    const known = resolved.get(ends);
    const declarations = known === undefined ? edge.declarations : [...known.declarations, ...edge.declarations];
    resolved.set(ends === edge && known === undefined ? edge : { ...ends, declarations });
  }
  return resolved.values();
}

/** Returns the identity that an object would have if its ID were its name: lists may hide the object itself. */
export function idFromUid(end: ResourceId): ResourceId {
  return resourceId(kindOf(end), nameOf(end).toLowerCase());
}

function createEndResolver({ desired, live, registry, renames }: EndNames): (ends: EdgeEnds) => EdgeEnds {
  const { keys, declared } = namesOf(desired, renames);
  const present = liveById(live.resources);
  const hidden = new Set(live.hidden);
  // Few ends are IDs, and few name nothing, so both indexes are built for the first one.
  let uids: ReadonlyMap<ResourceId, ResourceId> | undefined;
  let attached: EdgeMap<EdgeEnds> | undefined;
  const byUid = (uid: ResourceId): ResourceId | undefined => (uids ??= uidsOf(live)).get(uid);
  const resolveEnd = (end: ResourceId): ResourceId | undefined => {
    const found = isUuid(nameOf(end)) ? byUid(idFromUid(end)) : undefined;
    if (found !== undefined) return found;
    const id = keys.get(end) ?? end;
    if (declared.has(id) || present.has(id)) return id;
    const uid = idFromUid(end);
    return byUid(uid) ?? (hidden.has(uid) ? uid : undefined);
  };
  return (ends) => {
    const [rule, connection] = [resolveEnd(ends.rule), resolveEnd(ends.connection)];
    if (rule === ends.rule && connection === ends.connection) return ends;
    if (rule !== undefined && connection !== undefined) return { rule, connection };
    // An ID that a live edge has counts too, even if no list shows its object.
    const shown = { rule: rule ?? idFromUid(ends.rule), connection: connection ?? idFromUid(ends.connection) };
    attached ??= new EdgeMap(liveEdges(live, registry));
    return attached.has(shown) ? shown : { rule: rule ?? ends.rule, connection: connection ?? ends.connection };
  };
}

function namesOf(
  { resources, unselected }: EndNames['desired'],
  renames: EndNames['renames'],
): {
  readonly keys: ReadonlyMap<ResourceId, ResourceId>;
  readonly declared: ReadonlySet<ResourceId>;
} {
  const keys = new Map(resources.flatMap(({ id, key }) => (id === key ? [] : [[id, key] as const])));
  for (const [former, key] of renames ?? []) keys.set(former, key);
  return { keys, declared: new Set([...resources, ...unselected].map(({ key }) => key)) };
}

function uidsOf({ resources }: LiveState): ReadonlyMap<ResourceId, ResourceId> {
  return new Map(resources.map(({ id, uid }) => [resourceId(kindOf(id), uid.toLowerCase()), id]));
}
