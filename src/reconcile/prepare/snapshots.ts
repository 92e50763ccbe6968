import { onFirstUse } from '../../model/collections.ts';
import type { Diff } from '../../model/plan/plan.ts';
import { differencesOfPlan, type PlanDifferences } from '../../protection/compare/plan-differences.ts';
import { type PlanSnapshots, snapshotPlan } from '../../protection/posture/diff-postures.ts';
import type { Prepared } from './prepare.ts';

/** The states before and after a plan, and what differs between them, as everything that speaks of its effects reads them; made when something first does. */
export type PlannedStates = {
  readonly diff: Diff;
  readonly snapshots: () => PlanSnapshots;
  readonly differences: () => PlanDifferences;
};

/** Takes the snapshots before and after a plan, and compares them, once, on first use. */
export function statesOf({ desired, live, applied, input: { registry } }: Prepared, diff: Diff): PlannedStates {
  const snapshots = onFirstUse(() => snapshotPlan(diff, live, registry, { desired, base: applied }));
  return { diff, snapshots, differences: onFirstUse(() => differencesOfPlan(diff, snapshots())) };
}
