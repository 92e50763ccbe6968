import type { Plan } from '../../model/plan/plan.ts';
import type { ProtectionMatrix } from '../../model/protection/protection.ts';
import type { ReportBlock, ReportDocument } from '../document.ts';
import { groupPlan } from './groups.ts';
import { planObject } from './plan-json.ts';
import { sideLists } from './side-lists.ts';

/** Returns the document of plans. The matrix of the gateway's protection is shown on pages alone. */
export function planDocument(plans: readonly Plan[], matrix: ProtectionMatrix = []): ReportDocument {
  return {
    json: () => ({ version: 1, plans: plans.map(planObject) }),
    sections: () =>
      plans.map((plan) => ({
        heading: { title: 'Plan for', name: plan.target.name, url: plan.target.url },
        summary: { type: 'plan', plan },
        blocks: planBlocks(plan),
        pageBlocks: () => pageBlocks(plan, matrix),
      })),
    completeIn: 'The text and the JSON of the plan have everything.',
  };
}

/** Returns what every format reports of a plan. */
export function planBlocks(plan: Plan): readonly ReportBlock[] {
  const { protection, refusals, allowed } = plan;
  const orphans = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const { groups, others } = groupPlan(plan);
  return [
    { type: 'headlines', headlines: protection?.headlines ?? [], flips: protection?.flips ?? [], orphans },
    ...(protection?.reach === undefined ? [] : [{ type: 'impact', causes: protection.reach, orphans } as const]),
    ...groups.map((group) => ({ type: 'changes', group }) as const),
    ...sideLists(plan, others).map((list) => ({ type: 'list', list }) as const),
    { type: 'refusals', refusals },
    { type: 'allowances', allowed },
  ];
}

/** Returns what only pages show of a plan: its commits, the protection of all connections, and that of the changed ones before and after. */
export function pageBlocks(plan: Plan, matrix: ProtectionMatrix): readonly ReportBlock[] {
  return [
    { type: 'overview', plan },
    { type: 'matrix', matrix },
    { type: 'postures', connections: plan.protection?.connections ?? [] },
  ];
}
