import type { Diagnostic } from '../../model/diagnostic.ts';
import {
  type AcceptedDrift,
  type AssessedChange,
  type Diff,
  hasHeld,
  type Refusal,
  revertHeld,
  type UnwrittenRisks,
} from '../../model/plan/plan.ts';
import type { ChangedCheck, ProposedChecks } from '../../model/plan/changed-check.ts';
import type { PolicyFinding, PolicyReport } from '../../model/protection/policy.ts';
import { type Headline, type Protection, sortHeadlines } from '../../model/protection/protection.ts';
import { distinctSorted } from '../../model/json.ts';
import type { DestinationGain } from '../../protection/compare/destinations.ts';
import type { OtherWay } from '../../protection/permission/check-access-tests.ts';
import { assessProtection } from '../../protection/protection.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { type AuditedChanges, assessAccepted } from '../accepted/assess-accepted.ts';
import type { AcceptedDiff } from '../accepted/accepted-drift.ts';
import type { Spelling } from '../../model/spec/spelling.ts';
import { changedChecks } from './changed-checks.ts';
import { checkPlannedAccess } from './check-access-tests.ts';
import { checkRules } from './check-rules.ts';
import { uncoveredChecks } from './uncovered-checks.ts';
import {
  checkPolicies,
  hasFinding,
  namingConnection,
  policyDiagnostic,
  type PolicyCheckInput,
} from '../../protection/policy/check-policies.ts';
import type { CompiledPolicy } from '../../protection/policy/compile-policies.ts';
import { plannedSnapshot, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { InheritedKeys } from '../../model/live.ts';
import type { ResourceId } from '../../model/resource.ts';

/** The effect of a plan on people: risks, protection before and after, policies, samples. */
export type Assessment = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly accepted: readonly AcceptedDrift[];
  readonly protection: Protection;
  readonly policies: PolicyReport | undefined;
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the plan changes of its own checks, those that check less first. */
  readonly checks: readonly ChangedCheck[];
  /** The diagnostics of the rules that the plan writes. */
  readonly ruleDiagnostics: readonly Diagnostic[];
};

/** The checks of a plan; without `rules`, rules are not checked. */
export type AssessmentChecks = {
  readonly policies: CompiledPolicies;
  readonly rules: RuleChecks | undefined;
  /** What a proposal may change of its own checks. */
  readonly proposed?: ProposedChecks | undefined;
};

/** What the gateway reported for the assessment. */
type GatewayReport = { readonly inherited: InheritedKeys | undefined };

/** The drift that the manifests accept, and who caused it. */
type AcceptedInput = { readonly drift: AcceptedDiff | undefined; readonly audit?: AuditedChanges | undefined };

/** Assesses the effect of the differences on connections. */
export function assess(
  prepared: Prepared,
  planned: PlannedStates,
  {
    policies,
    rules,
    proposed,
    inherited,
    accepted: { drift, audit },
  }: AssessmentChecks & GatewayReport & { readonly accepted: AcceptedInput },
): Assessment {
  const { input, desired, live, applied } = prepared;
  const { diff } = planned;
  const [snapshots, differences] = [planned.snapshots(), planned.differences()];
  const stated = assessProtection(diff, { desired, live, snapshots, differences, base: applied, registry: input.registry, inherited });
  const { changes, unwritten } = stated;
  const { accepted, headlines, losing } = assessAccepted(drift, prepared, {
    stated: { ...stated, snapshots, differences },
    audit,
    inherited,
  });
  const policyResults = checkPlannedPolicies(prepared, { diff, after: snapshots.after }, policies);
  const tested = checkPlannedAccess(prepared, snapshots, { rules, ways: otherWays(stated.destinations) });
  const uncovered = uncoveredChecks(prepared, {
    reviewed: proposed?.reviewed,
    spelling: policies.spelling,
    after: snapshots.after,
    unmanaged: (diff.unmanagedAccess ?? []).map(({ id }) => id),
  });
  const protection = withAcceptedLosses(stated.protection, headlines, losing);
  const { changedSamples, diagnostics: ruleDiagnostics } = checkRules(prepared, { diff, ...snapshots }, rules);
  return {
    changes,
    unwritten: withoutNamed(unwritten, accepted, diff),
    accepted,
    protection: changedSamples.length === 0 ? protection : { ...protection, changedSamples },
    policies: policyResults.report,
    refusals: [...policyResults.refusals, ...tested.refusals],
    diagnostics: [...policyResults.diagnostics, ...tested.diagnostics],
    checks: changedChecks(uncovered, { proposed, applied }, desired),
    ruleDiagnostics,
  };
}

/** Returns the ways by which people reach where other connections led before. */
function otherWays(gains: readonly DestinationGain[]): readonly OtherWay[] {
  const ways = gains.flatMap(({ connection, guarded }) => guarded.map((one): OtherWay => ({ guarded: one, through: connection })));
  return [...new Map(ways.map((way) => [`${way.guarded} ${way.through}`, way])).values()];
}

/** Drops the manifests without risks whose changes the plan names already: as accepted drift, or as secrets without a write. */
function withoutNamed(
  unwritten: readonly UnwrittenRisks[],
  accepted: readonly AcceptedDrift[],
  { unwrittenSecrets }: Diff,
): readonly UnwrittenRisks[] {
  const named = new Set([...accepted, ...unwrittenSecrets].map(({ id }) => id));
  return unwritten.filter(({ id, risks }) => risks.length > 0 || !named.has(id));
}

/** Adds what connections lost by accepted drift, the worst headlines first. */
function withAcceptedLosses(protection: Protection, headlines: readonly Headline[], losing: readonly ResourceId[]): Protection {
  if (headlines.length + losing.length === 0) return protection;
  const all = [...protection.headlines, ...headlines];
  return {
    ...protection,
    headlines: sortHeadlines(all),
    losing: distinctSorted([...protection.losing, ...losing]),
  };
}

/** The compiled policies, and the day (`YYYY-MM-DD`) by which waivers expire. */
export type CompiledPolicies = {
  readonly rules: readonly CompiledPolicy[];
  readonly today: string;
  /** The names of the gateway that policies may have; absent if there are none. */
  readonly spelling?: Spelling | undefined;
};

/** The results of policies; failures are refusals, the rest are warnings. */
type PolicyResults = {
  readonly report: PolicyReport | undefined;
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Checks the connections as they are after the plan against policies. */
function checkPlannedPolicies(
  prepared: Prepared,
  { diff, after: snapshot }: { readonly diff: Diff; readonly after: ProtectionSnapshot },
  { rules, today }: CompiledPolicies,
): PolicyResults {
  const { input, desired, live } = prepared;
  if (rules.length === 0) return { report: undefined, refusals: [], diagnostics: [] };
  const checking: PolicyCheckInput = {
    rules,
    snapshot,
    resources: desired.resources,
    unselected: desired.unselected,
    live: live.resources,
    registry: input.registry,
    today,
    unmanaged: diff.unmanagedAccess?.map(({ id }) => id),
  };
  const checked = checkPolicies(checking);
  const { findings } = checked.report;
  const remedyFor = heldRemedies(checking, prepared, diff);
  const found = [...findings.map((one) => policyDiagnostic(one, remedyFor(one))), ...checked.diagnostics];
  return {
    report: checked.report,
    refusals: found.filter(({ severity }) => severity === 'error').map(refusalOf),
    diagnostics: found.filter(({ severity }) => severity !== 'error').map(namingConnection),
  };
}

/** Returns a lookup of the hint for a finding that only held drift causes. */
function heldRemedies(checking: PolicyCheckInput, { input, live }: Prepared, diff: Diff): (finding: PolicyFinding) => string | undefined {
  if (!hasHeld(diff)) return () => undefined;
  let reverted: PolicyReport | undefined;
  return (finding) => {
    reverted ??= checkPolicies({ ...checking, snapshot: plannedSnapshot(revertHeld(diff), live, input.registry) }).report;
    if (hasFinding(reverted, finding)) return undefined;
    return `the manifests satisfy the policy, but the plan holds the live value; pass --revert ${finding.connection} to revert it`;
  };
}

function refusalOf({ code, message, hint, at, resource }: Diagnostic): Refusal {
  return { code, message, allowable: true, hint, at, resource };
}
