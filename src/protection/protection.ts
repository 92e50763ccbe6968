import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Protection } from '../model/protection/protection.ts';
import { createCauseFinder, type CauseFinder } from './posture/causes.ts';
import { diffPostures, snapshotPlan, type PlannedWrites, type PlanSnapshots } from './posture/diff-postures.ts';
import { buildHeadlines } from './headline.ts';
import { computeImpacts } from './impact.ts';

/** Returns how a plan changes the protection of connections: which lose or gain protection, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return noProtectionChange;
  return summarizeProtection(plan, snapshotPlan(plan, live, registry), createCauseFinder(plan, registry));
}

/** The result for a plan that changes no protection. */
export const noProtectionChange: Protection = { headlines: [], connections: [], losing: [] };

/** Summarizes the change of protection between two snapshots. */
export function summarizeProtection(plan: PlannedWrites, views: PlanSnapshots, causes: CauseFinder): Protection {
  const affected = diffPostures(plan, views, causes);
  const impacts = computeImpacts(affected);
  return {
    headlines: buildHeadlines(affected),
    connections: affected.map(({ change }) => change),
    losing: affected.flatMap(({ change, differences }) => (differences.some(({ lost }) => lost.length > 0) ? [change.connection] : [])),
    ...(impacts.length === 0 ? {} : { reach: impacts }),
  };
}
