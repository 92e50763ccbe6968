import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Protection } from '../model/protection/protection.ts';
import { causesOf, type Causes } from './causes.ts';
import { postureDiff, viewsOf, type PlannedWrites, type Views } from './diff.ts';
import { headlinesOf } from './headline.ts';
import { reachOf } from './reach.ts';

/** Works out what a plan means for the connections it touches: who is less protected afterwards, who is more, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return unchanged;
  return protectionFrom(plan, viewsOf(plan, live, registry), causesOf(plan, registry));
}

/** The protection that stays as it is. */
export const unchanged: Protection = { headlines: [], connections: [], losing: [] };

/** What a plan means for connections, where both sides are known already. */
export function protectionFrom(plan: PlannedWrites, views: Views, causes: Causes): Protection {
  const touched = postureDiff(plan, views, causes);
  const reach = reachOf(touched);
  return {
    headlines: headlinesOf(touched),
    connections: touched.map(({ change }) => change),
    losing: touched.flatMap(({ change, differences }) => (differences.some(({ lost }) => lost.length > 0) ? [change.connection] : [])),
    ...(reach.length === 0 ? {} : { reach }),
  };
}
