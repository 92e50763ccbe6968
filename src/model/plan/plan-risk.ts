import type { Plan } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { highestRisk, type Risk, type RiskClass } from './risk.ts';

/** A risk and its resource. */
export type ResourceRisk = { readonly id: ResourceId; readonly risk: Risk };

/** Lists all risks of a plan; those of manifests without a write come last. */
export function planRisks({ changes, unwritten }: Pick<Plan, 'changes' | 'unwritten'>): readonly ResourceRisk[] {
  return [...changes, ...unwritten].flatMap(({ id, risks }) => risks.map((risk) => ({ id, risk })));
}

/** Returns the highest risk class of a plan; undefined when it has no risk. */
export function highestPlanRisk(plan: Pick<Plan, 'changes' | 'unwritten'>): RiskClass | undefined {
  return highestRisk(planRisks(plan).map(({ risk }) => risk));
}
