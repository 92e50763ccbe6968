import type { DesiredState } from '../../model/desired.ts';
import type { PreflightResult } from '../../model/gateway.ts';
import type { Allowance, Diff, Plan } from '../../model/plan/plan.ts';
import type { RiskClass } from '../../model/plan/risk.ts';
import type { Schedule } from '../../model/plan/schedule.ts';
import { riskRefusals } from '../../protection/risk/risk-refusals.ts';
import type { Assessment } from '../assess/assess.ts';
import { referenceRefusals, sortReferences } from './outside-references.ts';
import { sortRefusals, windowRefusals, type SortedRefusals } from './refusals.ts';

/** The results of the stages before. */
export type GuardInput = {
  readonly desired: DesiredState;
  readonly diff: Diff;
  readonly schedule: Schedule;
  readonly assessment: Assessment;
  readonly limits: SortedRefusals;
};

/** What may refuse a plan besides its limits and policies. */
export type GuardOptions = {
  readonly preflight: Pick<PreflightResult, 'refusals' | 'references'>;
  readonly maxRisk: RiskClass | undefined;
  readonly allowed: readonly Allowance[];
};

/** Completes a plan with everything that `apply` would refuse it for, less what the user overrides. */
export function guard(parts: GuardInput, { preflight, maxRisk, allowed }: GuardOptions): Plan {
  const { desired, diff, schedule, assessment, limits } = parts;
  const references = sortReferences(preflight.references);
  const { refusals, used } = sortRefusals(
    [
      ...preflight.refusals,
      ...referenceRefusals(references, desired),
      ...assessment.refusals,
      ...riskRefusals(assessment, maxRisk),
      ...windowRefusals(diff, schedule.singleWrites),
    ],
    allowed,
  );
  return {
    ...diff,
    changes: assessment.changes,
    singleWrites: schedule.singleWrites,
    references,
    ...(assessment.policies === undefined ? {} : { policies: assessment.policies }),
    protection: assessment.protection,
    unwritten: assessment.unwritten,
    refusals: [...limits.refusals, ...refusals],
    allowed: [...limits.used, ...used],
  };
}
