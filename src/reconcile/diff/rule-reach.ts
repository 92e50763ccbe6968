import type { LiveResource } from '../../model/live.ts';
import { type Change, type EdgeChange, liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import { mayIncludeEvery } from '../../protection/access/deciding-kinds.ts';

/** Adds that a rule will include every connection because it names none, or only those that it names from now on. */
export function withReach(change: Change, edges: readonly EdgeChange[], live: ReadonlyMap<ResourceId, LiveResource>): Change {
  if (!mayIncludeEvery(change.id) || change.action === 'delete') return change;
  const key = liveKeyOf(change);
  const found = live.get(key);
  const before = Object.values(found?.edges ?? {}).flat();
  const names = new Set(before);
  for (const { rule, connection, action, by } of edges) {
    if (rule !== key) continue;
    if (action === 'attach') names.add(connection);
    // A connection that is deleted leaves its name.
    if (action === 'detach' && by !== connection) names.delete(connection);
  }
  const [wasEvery, isEvery] = [found !== undefined && before.length === 0, names.size === 0];
  return wasEvery === isEvery ? change : { ...change, reach: isEvery ? 'every' : 'named' };
}
