import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Protection } from '../model/protection/protection.ts';
import { createCauseFinder, type CauseFinder } from './posture/causes.ts';
import { diffPostures, snapshotPlan, type PlannedWrites, type PlanSnapshots } from './posture/diff-postures.ts';
import { buildHeadlines } from './headline.ts';
import { computeImpacts } from './impact.ts';

/** Works out what a plan means for the connections it touches: who is less protected afterwards, who is more, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return noProtectionChange;
  return summarizeProtection(plan, snapshotPlan(plan, live, registry), createCauseFinder(plan, registry));
}

/** The protection that stays as it is. */
export const noProtectionChange: Protection = { headlines: [], connections: [], losing: [] };

/** What a plan means for connections, where both sides are known already. */
export function summarizeProtection(plan: PlannedWrites, views: PlanSnapshots, causes: CauseFinder): Protection {
  const touched = diffPostures(plan, views, causes);
  const reach = computeImpacts(touched);
  return {
    headlines: buildHeadlines(touched),
    connections: touched.map(({ change }) => change),
    losing: touched.flatMap(({ change, differences }) => (differences.some(({ lost }) => lost.length > 0) ? [change.connection] : [])),
    ...(reach.length === 0 ? {} : { reach }),
  };
}
