import { groupBy, onFirstUse } from '../../model/collections.ts';
import type { LiveResource } from '../../model/live.ts';
import { type Change, type EdgeChange, liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import { mayIncludeEvery } from '../../protection/access/deciding-kinds.ts';

/** Returns what adds to the change of a rule that it will include every connection because it names none, or only those that it names from now on. */
export function reachOf(edges: readonly EdgeChange[], live: ReadonlyMap<ResourceId, LiveResource>): (change: Change) => Change {
  const byRule = onFirstUse(() => groupBy(edges, ({ rule }) => rule));
  return (change) => (mayIncludeEvery(change.id) && change.action !== 'delete' ? withReach(change, byRule(), live) : change);
}

type EdgesByRule = ReadonlyMap<ResourceId, readonly EdgeChange[]>;

function withReach(change: Change, byRule: EdgesByRule, live: ReadonlyMap<ResourceId, LiveResource>): Change {
  const key = liveKeyOf(change);
  const found = live.get(key);
  const before = Object.values(found?.edges ?? {}).flat();
  const names = new Set(before);
  for (const { connection, action, by } of byRule.get(key) ?? []) {
    if (action === 'attach') names.add(connection);
    // A connection that is deleted leaves its name.
    if (action === 'detach' && by !== connection) names.delete(connection);
  }
  const [wasEvery, isEvery] = [found !== undefined && before.length === 0, names.size === 0];
  return wasEvery === isEvery ? change : { ...change, reach: isEvery ? 'every' : 'named' };
}
