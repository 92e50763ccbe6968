import type { Plan } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { highestRisk, type Risk, type RiskClass } from './risk.ts';

/** A risk, and whose it is. */
export type ResourceRisk = { readonly id: ResourceId; readonly risk: Risk };

/** All risks of a plan, those of manifests that nothing is written for last. */
export function planRisks({ changes, unwritten }: Pick<Plan, 'changes' | 'unwritten'>): readonly ResourceRisk[] {
  return [...changes, ...unwritten].flatMap(({ id, risks }) => risks.map((risk) => ({ id, risk })));
}

/** The highest class of a plan's risks; undefined where it does nothing. */
export function highestPlanRisk(plan: Pick<Plan, 'changes' | 'unwritten'>): RiskClass | undefined {
  return highestRisk(planRisks(plan).map(({ risk }) => risk));
}
