import type { Diagnostic } from '../../model/diagnostic.ts';
import type { AssessedChange, Diff, Refusal } from '../../model/plan/plan.ts';
import type { UnwrittenRisks } from '../../model/plan/risk.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import type { Protection } from '../../model/protection/protection.ts';
import { assessProtection } from '../../protection/protection.ts';
import type { RuleChecks } from '../../protection/rule-checks.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { checkPlannedPolicies, type CompiledPolicies } from './check-policies.ts';
import { checkRules } from './check-rules.ts';

/** The effect of a plan on people: risks, protection before and after, policies, samples. */
export type Assessment = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly protection: Protection;
  readonly policies: PolicyReport | undefined;
  /** The failed policies. */
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
  /** What is wrong with the rules that the plan writes. */
  readonly ruleDiagnostics: readonly Diagnostic[];
};

/** The checks that need compiled expressions or patterns; without `rules`, rules are not checked. */
export type AssessmentChecks = { readonly policies: CompiledPolicies; readonly rules: RuleChecks | undefined };

/** Assesses the effect of the differences on connections. */
export function assess(prepared: Prepared, diff: Diff, { policies, rules }: AssessmentChecks): Assessment {
  const { input, desired, live, applied } = prepared;
  const { changes, unwritten, protection } = assessProtection(diff, { desired, live, base: applied, registry: input.registry });
  const policyResults = checkPlannedPolicies(prepared, diff, policies);
  const { flips, diagnostics: ruleDiagnostics } = checkRules(prepared, diff, rules);
  return {
    changes,
    unwritten,
    protection: flips.length === 0 ? protection : { ...protection, flips },
    policies: policyResults.report,
    refusals: policyResults.refusals,
    diagnostics: policyResults.diagnostics,
    ruleDiagnostics,
  };
}
