import type { LiveState } from '../live.ts';
import type { Change } from './plan.ts';
import type { ResourceId } from '../resource.ts';

/** Names to come by the names that live objects have so far. */
export type Renames = ReadonlyMap<ResourceId, ResourceId>;

/** The renames that a plan carries out, by the names that the objects have so far. */
export function renamesOf(changes: readonly Change[]): Renames {
  return new Map(changes.flatMap(({ id, key, action }) => (action === 'rename' && key !== undefined ? [[key, id] as const] : [])));
}

/** The live state as it is once the names have changed, edges included; nothing else is another. */
export function withNames(live: LiveState, renames: Renames): LiveState {
  if (renames.size === 0) return live;
  const named = (id: ResourceId): ResourceId => renames.get(id) ?? id;
  return {
    ...live,
    resources: live.resources.map((resource) => ({
      ...resource,
      id: named(resource.id),
      edges: Object.fromEntries(Object.entries(resource.edges).map(([field, ends]) => [field, ends.map(named)])),
    })),
  };
}
