import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Diff, Refusal } from '../../model/plan/plan.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import { checkPolicies, policyDiagnostic } from '../../protection/policy/check-policies.ts';
import type { CompiledPolicy } from '../../protection/policy/compile-policies.ts';
import { plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** The compiled policies, and the day (`YYYY-MM-DD`) by which waivers expire. */
export type CompiledPolicies = { readonly rules: readonly CompiledPolicy[]; readonly today: string };

/** The results of policies; failures are refusals, the rest are warnings. */
export type PolicyResults = {
  readonly report: PolicyReport | undefined;
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Checks the connections as they are after the plan against policies. */
export function checkPlannedPolicies({ input, desired, live }: Prepared, diff: Diff, { rules, today }: CompiledPolicies): PolicyResults {
  if (rules.length === 0) return { report: undefined, refusals: [], diagnostics: [] };
  const snapshot = plannedSnapshot(diff, live, input.registry);
  const checked = checkPolicies({ rules, snapshot, resources: desired.resources, live: live.resources, registry: input.registry, today });
  const found = [...checked.report.findings.map(policyDiagnostic), ...checked.diagnostics];
  return {
    report: checked.report,
    refusals: found.filter(({ severity }) => severity === 'error').map(refusalOf),
    diagnostics: found.filter(({ severity }) => severity !== 'error'),
  };
}

function refusalOf({ code, message, hint, at, resource }: Diagnostic): Refusal {
  return {
    code,
    message,
    allowable: true,
    ...(hint === undefined ? {} : { hint }),
    ...(at === undefined ? {} : { at }),
    ...(resource === undefined ? {} : { resource }),
  };
}
