import { onFirstUse } from '../../model/collections.ts';
import type { Diff } from '../../model/plan/plan.ts';
import { type PlanSnapshots, snapshotPlan } from '../../protection/posture/diff-postures.ts';
import type { Prepared } from './prepare.ts';

/** The states before and after a plan, as everything that speaks of its effects reads them; made when something first does. */
export type PlannedStates = { readonly diff: Diff; readonly snapshots: () => PlanSnapshots };

/** Takes the snapshots before and after a plan once, on first use. */
export function snapshotsOf({ desired, live, applied, input: { registry } }: Prepared, diff: Diff): PlannedStates['snapshots'] {
  return onFirstUse(() => snapshotPlan(diff, live, registry, { desired, base: applied }));
}
