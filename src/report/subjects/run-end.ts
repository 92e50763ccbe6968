import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import { type Verdict, verdictText } from '../wording/phrases.ts';
import type { Replay } from '../../model/result/replay.ts';
import { planVerdict } from './verdict.ts';
import type { ReportDocument } from '../document.ts';
import { appliedText, applyDocument } from './apply.ts';
import { driftDocument } from './drift.ts';
import { planDocument } from './plan.ts';

/** What a run found and did; an apply has a plan and a result. */
type RunEnd = {
  readonly plan?: Plan | undefined;
  readonly result?: ApplyResult | undefined;
  readonly drift?: Drift | undefined;
  readonly replay?: Replay | undefined;
};

/** What a comment or a summary reports of a run: its result, drift or plan, and the diagnostics that this does not state. */
export type RunBody = {
  readonly body: ReportDocument | undefined;
  readonly errors: readonly Diagnostic[];
  readonly others: readonly Diagnostic[];
  readonly hasErrors: boolean;
};

/** Returns the result of a run where there is one, otherwise its drift or its plan, and its other diagnostics. */
export function runBody({ plan, result, drift, diagnostics, replay }: RunEnd & { readonly diagnostics: readonly Diagnostic[] }): RunBody {
  const isApplied = plan !== undefined && result !== undefined;
  const refused = new Set(isApplied ? [] : plan?.refusals.map(findingKey));
  const statesPolicies = plan !== undefined && result === undefined && drift === undefined;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return {
    body: isApplied
      ? applyDocument([{ plan, result }])
      : drift !== undefined
        ? driftDocument([drift])
        : plan && planDocument([plan], { replay }),
    errors: errors.filter((one) => !refused.has(findingKey(one))),
    others: diagnostics.filter((one) => one.severity !== 'error' && !(statesPolicies && isOfPolicy(one))),
    hasErrors: errors.length > 0,
  };
}

function findingKey({ code, message }: Pick<Diagnostic, 'code' | 'message'>): string {
  return JSON.stringify([code, message]);
}

/** Returns whether the report of a plan lists the diagnostic with the warnings of policies. */
function isOfPolicy({ code, resource }: Diagnostic): boolean {
  return resource !== undefined && (code === 'policy/violated' || code === 'policy/unknown' || code === 'policy/expression');
}

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
