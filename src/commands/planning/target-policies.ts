import { spellingOf } from '../../gateway/dialects/choose-dialect.ts';
import { registry } from '../../kinds/index.ts';
import type { Target } from '../../model/config.ts';
import { firstOf } from '../../model/collections.ts';
import { assumedDialect } from '../../model/gateway.ts';
import type { DesiredState } from '../../model/desired.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { InputError } from '../../model/errors.ts';
import type { LiveState } from '../../model/live.ts';
import { type Diff, type Plan, revertHeld } from '../../model/plan/plan.ts';
import type { PolicyFinding, PolicyResult } from '../../model/protection/policy.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { OpenProject } from '../../project/project.ts';
import { readReviewedPolicies } from '../../project/reviewed-config.ts';
import type { CompiledPolicies } from '../../reconcile/assess/assess.ts';
import type { ReviewedPlan } from '../../reconcile/reconcile.ts';
import type { CliContext } from '../context/cli-context.ts';
import { plural } from '../../report/wording/phrases.ts';

/**
 * Compiles the policies that apply to a target: with `--config-ref` the policies and waivers of that commit, otherwise the
 * proposed ones. Throws InputError for invalid expressions. Loads no expression engine without policies.
 */
export async function compileTargetPolicies(project: OpenProject, desired: DesiredState, today: string): Promise<CompiledPolicies> {
  const proposed = desired.policies ?? [];
  const reviewed = await readReviewedPolicies(project);
  const policies = reviewed ?? proposed;
  const spelling = spellingOf([project.target]);
  const found = { today, spelling };
  if (policies.length + proposed.length === 0) return { rules: [], ...found };
  const { compilePolicies } = await import('../../protection/policy/compile-policies.ts');
  const { rules, diagnostics } = compilePolicies(policies, registry, spelling);
  const later = reviewed === undefined ? [] : compilePolicies(proposed, registry, spelling).diagnostics;
  if (hasErrors([...diagnostics, ...later])) throw new InputError([...diagnostics, ...later]);
  return { rules, ...found };
}

/** Returns the time at which ends of waivers and of access are checked (ISO 8601), or the day of `--today`. */
export function timeOf({ today }: { readonly today?: string }, { now }: Pick<CliContext, 'now'>): string {
  return today ?? now().toISOString();
}

/** Returns the day of `timeOf`, as `YYYY-MM-DD`. */
export function todayOf(flags: { readonly today?: string }, context: Pick<CliContext, 'now'>): string {
  return timeOf(flags, context).slice(0, 10);
}

/** The policies of a plan, and the states that it compares. */
type PlannedPolicies = { readonly policies: CompiledPolicies; readonly desired: DesiredState; readonly live: LiveState };

/** Returns the results of all policies for one connection, as the plan would leave it. */
export async function policyResultsOf(
  id: ResourceId,
  { policies: { rules, today }, desired, live, snapshots }: PlannedPolicies & Pick<ReviewedPlan, 'snapshots'>,
): Promise<readonly PolicyResult[]> {
  if (rules.length === 0) return [];
  const { policiesOn } = await import('../../protection/policy/check-policies.ts');
  return policiesOn(id, { rules, snapshot: snapshots().after, resources: desired.resources, live: live.resources, registry, today });
}

type LivePolicyCheck = {
  readonly diagnostics: readonly Diagnostic[];
  /** A connection violates a policy, or a policy could not be evaluated. */
  readonly fails: boolean;
};

/**
 * Checks the live state against the policies: no plan checked a change that was made outside Ostiary. `whole` also has the pending
 * changes, which the drift leaves out.
 */
export async function checkLivePolicies(
  { plan, whole }: { readonly plan: Plan; readonly whole: Pick<Diff, 'target' | 'changes' | 'edges'> },
  { policies: { rules, today }, desired, live }: PlannedPolicies,
): Promise<LivePolicyCheck> {
  if (rules.length === 0) return { diagnostics: [], fails: false };
  const { checkPolicies, hasFinding, namingConnection, policyDiagnostic } = await import('../../protection/policy/check-policies.ts');
  const { liveSnapshot, plannedSnapshot } = await import('../../protection/posture/protection-snapshot.ts');
  const snapshot = liveSnapshot(live, registry, plan.target.dialect);
  const unmanaged = plan.unmanagedAccess?.map(({ id }) => id);
  const { resources, unselected } = desired;
  const checking = { rules, resources, unselected, live: live.resources, registry, today, unmanaged };
  const checked = checkPolicies({ ...checking, snapshot });
  const { findings } = checked.report;
  const fixedBy = (changes: Parameters<typeof plannedSnapshot>[0]): ((finding: PolicyFinding) => boolean) => {
    if (findings.length === 0) return () => false;
    const { report } = checkPolicies({ ...checking, snapshot: plannedSnapshot(changes, live, registry) });
    return (finding) => !hasFinding(report, finding);
  };
  const [isReverted, isApplied, isBoth] = [fixedBy(revertHeld(plan)), fixedBy(whole), fixedBy(revertHeld(whole))];
  const remedyFor = (finding: PolicyFinding): string | undefined => {
    if (isReverted(finding))
      return `only the live state violates the policy; ostiary drift --revert${isApplied(finding) ? ', or the next apply,' : ''} undoes the drift`;
    if (isApplied(finding)) return 'only the live state violates the policy; ostiary apply makes the pending changes, which fix it';
    if (isBoth(finding))
      return `only the live state violates the policy; ostiary apply --revert ${finding.connection} makes the pending changes, and undoes the drift`;
    return undefined;
  };
  const found = [...findings.map((one) => namingConnection(policyDiagnostic(one, remedyFor(one)))), ...checked.diagnostics];
  return { diagnostics: found, fails: hasErrors(found) };
}

/** Checks manifests against their policies without a gateway; a notice lists the policies that need one. */
export async function checkManifestPolicies(desired: DesiredState, target: Target, today: string): Promise<readonly Diagnostic[]> {
  const policies = desired.policies ?? [];
  if (policies.length === 0) return [];
  const { compilePolicies } = await import('../../protection/policy/compile-policies.ts');
  const { rules, diagnostics } = compilePolicies(policies, registry, spellingOf([target]));
  const { checkPolicies, namingConnection, policyDiagnostic } = await import('../../protection/policy/check-policies.ts');
  const { desiredSnapshot } = await import('../../protection/posture/protection-snapshot.ts');
  const snapshot = desiredSnapshot(desired, registry, assumedDialect(target.dialect));
  const { resources, unselected } = desired;
  const checked = checkPolicies({ rules, snapshot, resources, unselected, registry, today });
  const { findings } = checked.report;
  const unevaluated = findings.filter(({ result, error }) => result === 'unknown' && error === undefined);
  const failed = findings.filter((finding) => !unevaluated.includes(finding));
  return [
    ...diagnostics,
    ...failed.map((one) => namingConnection(policyDiagnostic(one))),
    ...checked.diagnostics,
    ...(unevaluated.length === 0 ? [] : [deferredNotice(unevaluated)]),
  ];
}

function deferredNotice(unevaluated: readonly PolicyFinding[]): Diagnostic {
  const connections = new Set(unevaluated.map(({ connection }) => connection)).size;
  const policies = [...new Set(unevaluated.map(({ policy }) => policy))];
  const message = `policies over ${plural(connections, 'connection')} need values that only the gateway has: ${firstOf(policies, 3)}`;
  return { code: 'policy/deferred', severity: 'notice', message, hint: 'ostiary plan evaluates them' };
}
