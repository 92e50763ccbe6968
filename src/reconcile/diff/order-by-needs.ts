import { addToGroup } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';
import { type EdgeChange, otherEnd } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';

/** Returns the needs of each change: the other end of each edge that it writes, if the same plan creates it. */
export function needsOf(edges: readonly EdgeChange[], created: ReadonlySet<ResourceId>): ReadonlyMap<ResourceId, readonly ResourceId[]> {
  const needs = new Map<ResourceId, ResourceId[]>();
  for (const edge of edges) {
    const { action, by } = edge;
    if (action !== 'attach' || by === undefined) continue;
    const other = otherEnd(edge, by);
    if (!created.has(other)) continue;
    addToGroup(needs, by, other);
  }
  return new Map([...needs].map(([id, list]) => [id, list.toSorted(compareText)]));
}

/** Orders changes so that each follows its needs; otherwise by id. */
export function orderByNeeds<T extends { readonly id: ResourceId; readonly needs: readonly ResourceId[] }>(
  changes: readonly T[],
): readonly T[] {
  const byId = new Map(changes.map((change) => [change.id, change]));
  const depths = new Map<ResourceId, number>();
  const depthOf = (id: ResourceId): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    depths.set(id, 0);
    const depth = (byId.get(id)?.needs ?? []).reduce((deepest, need) => Math.max(deepest, depthOf(need) + 1), 0);
    depths.set(id, depth);
    return depth;
  };
  return changes.toSorted((left, right) => depthOf(left.id) - depthOf(right.id) || compareText(left.id, right.id));
}
