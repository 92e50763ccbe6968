import type { PlannedObject } from '../../apply/fingerprint.ts';
import type { BaseState, DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Gateway, GatewayIdentity } from '../../model/gateway.ts';
import type { LiveState } from '../../model/live.ts';
import type { Diff, Plan } from '../../model/plan/plan.ts';
import type { Step } from '../../model/plan/schedule.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { PlanBase } from '../../project/plan-base.ts';
import type { OpenProject } from '../../project/project.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { DriftResult } from '../../reconcile/drift/filter-drift.ts';
import type { CompiledPolicies } from '../../reconcile/assess/assess.ts';

/** A plan with everything that it follows from; the caller closes the gateway. */
export type PlannedRun = CreatedRun | ResumedRun;

/** A run that made its plan. */
export type CreatedRun = RunParts & {
  readonly is: 'created';
  readonly base: BaseState | undefined;
  readonly policies: CompiledPolicies;
  /** Why the record of applies is not proven, or is missing although the target was applied. */
  readonly unproven?: string | undefined;
};

/** A run whose plan is the drift alone, with everything that differs. */
export type DriftRun = CreatedRun & Pick<DriftResult, 'pending' | 'unfinished'> & { readonly whole: Diff };

/** A run that read its plan from a file. */
export type ResumedRun = RunParts & {
  readonly is: 'resumed';
  /** The changed objects as they were when the plan was made. */
  readonly seen: ReadonlyMap<ResourceId, PlannedObject>;
  /** The plan covers all manifests. */
  readonly whole: boolean;
  /** What the plan reports as changed outside Ostiary is what is live now. */
  readonly reportsOutside: boolean;
};

type RunParts = {
  readonly project: OpenProject;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The base as it was read, and what else the record of applies contains. */
  readonly planBase: Pick<PlanBase, 'base' | 'read' | 'remembered' | 'unmerged' | 'unmergedHead' | 'proof'>;
  readonly identity: GatewayIdentity;
  readonly gateway: Gateway;
  readonly plan: Plan;
  readonly steps: readonly Step[];
  /** The gateway before and after the plan. */
  readonly snapshots: () => PlanSnapshots;
  readonly warnings: readonly Diagnostic[];
};
