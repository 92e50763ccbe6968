import type { Plan } from '../../model/plan/plan.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import { type Verdict, verdictText } from '../wording/summary.ts';
import { planVerdict } from '../wording/verdict.ts';
import { appliedText } from './apply.ts';
import { driftDocument } from './drift.ts';

/** What a run found and did; an apply has a plan and a result. */
type RunEnd = { readonly plan?: Plan | undefined; readonly result?: ApplyResult | undefined; readonly drift?: Drift | undefined };

/** Returns what a run found or did: `Plan for production: 2 to create.`; undefined for a run without a plan. */
export function runEndText(end: RunEnd): string | undefined {
  const verdict = verdictOf(end);
  return end.result === undefined ? verdict && verdictText(verdict) : appliedText(end.result, end.plan);
}

/** Returns the same for a line that begins with the name of the target: `2 to create`. */
export function runEndBesideTarget(end: RunEnd): string | undefined {
  const { before, after } = verdictOf(end) ?? {};
  const text = after?.startsWith(': ') === true ? after.slice(2) : before && `${before.replace(/ on $/, '')}${after ?? ''}`;
  return (end.result === undefined ? text : runEndText(end))?.replace(/\.$/, '');
}

function verdictOf({ plan, drift }: RunEnd): Verdict | undefined {
  return drift === undefined ? plan && planVerdict(plan) : driftDocument([drift]).sections()[0]?.verdict;
}
