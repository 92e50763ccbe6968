import type { LiveState } from '../live.ts';
import type { Change } from './plan.ts';
import type { ResourceId } from '../resource.ts';

/** New ids by the current ids of live objects. */
export type Renames = ReadonlyMap<ResourceId, ResourceId>;

/** Returns the renames of a plan by the current ids of the objects. */
export function renamesOf(changes: readonly Change[]): Renames {
  return new Map(changes.flatMap(({ id, key, action }) => (action === 'rename' && key !== undefined ? [[key, id] as const] : [])));
}

/** Returns the live state after the renames, including edge ends; everything else is unchanged. */
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
