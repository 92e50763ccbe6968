import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Protection } from '../model/protection.ts';
import { postureDiff, type PlannedWrites } from './diff.ts';
import { headlinesOf } from './headline.ts';

/** Works out what a plan means for the connections it touches: who is less protected afterwards, who is more, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return { headlines: [], connections: [], losing: [] };
  const touched = postureDiff(plan, live, registry);
  return {
    headlines: headlinesOf(touched),
    connections: touched.map(({ change }) => change),
    losing: touched.flatMap(({ change, differences }) => (differences.some(({ lost }) => lost.length > 0) ? [change.connection] : [])),
  };
}
