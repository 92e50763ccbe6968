import type { Plan } from './plan.ts';
import type { ResourceId } from '../resource.ts';
import { highestRisk, type Risk, type RiskClass } from './risk.ts';

/** A risk, and whose it is. */
export type BorneRisk = { readonly id: ResourceId; readonly risk: Risk };

/** All risks of a plan, those of manifests that nothing is written for last. */
export function risksIn({ changes, unwritten = [] }: Pick<Plan, 'changes' | 'unwritten'>): readonly BorneRisk[] {
  return [...changes, ...unwritten].flatMap(({ id, risks = [] }) => risks.map((risk) => ({ id, risk })));
}

/** The highest class of a plan's risks; undefined where it does nothing. */
export function highestRiskOf(plan: Pick<Plan, 'changes' | 'unwritten'>): RiskClass | undefined {
  return highestRisk(risksIn(plan).map(({ risk }) => risk));
}
