import { onFirstUse } from '../../model/collections.ts';
import type { Diff } from '../../model/plan/plan.ts';
import { differencesOfPlan, type PlanDifferences } from '../../protection/compare/plan-differences.ts';
import { type PlanSnapshots, snapshotPlan, snapshotsSince } from '../../protection/posture/diff-postures.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
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

/** Takes the snapshots of an earlier state of the gateway and after a plan, and compares them by what differs between both, once, on first use. */
export function statesSince(
  earlier: LiveState,
  planned: PlannedStates,
  {
    diff,
    desired,
    registry,
    gone,
  }: { readonly diff: Diff; readonly desired: DesiredState; readonly registry: Registry; readonly gone: readonly ResourceId[] },
): PlannedStates {
  const snapshots = onFirstUse(() => snapshotsSince(earlier, planned.snapshots(), { registry, target: diff.target, desired, gone }));
  return { diff, snapshots, differences: onFirstUse(() => differencesOfPlan(diff, snapshots())) };
}
