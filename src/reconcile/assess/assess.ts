import { addToGroup } from '../../model/collections.ts';
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
import type { ChangedCheck } from '../../model/plan/changed-check.ts';
import type { LeftMatch, PolicyFinding, PolicyReport } from '../../model/protection/policy.ts';
import { type Headline, type Protection, sortHeadlines } from '../../model/protection/protection.ts';
import { compareText } from '../../model/json.ts';
import type { DestinationGain } from '../../protection/compare/destinations.ts';
import type { OtherWay } from '../../protection/permission/check-access-tests.ts';
import { assessProtection } from '../../protection/protection.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { type AuditedChanges, assessAccepted } from '../accepted/assess-accepted.ts';
import type { AcceptedDiff } from '../accepted/diff-accepted.ts';
import type { AccessTest } from '../../model/protection/access-test.ts';
import { checkPlannedAccess } from './check-access-tests.ts';
import { checkRules } from './check-rules.ts';
import {
  checkPolicies,
  hasFinding,
  namingConnection,
  policyDiagnostic,
  type PolicyCheckInput,
} from '../../protection/policy/check-policies.ts';
import { leftMatchDiagnostic, type FormerConnection, type FormerConnections } from '../../protection/policy/match.ts';
import type { CompiledPolicy } from '../../protection/policy/compile-policies.ts';
import { plannedSnapshot, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { desiredByKey } from '../../model/desired.ts';
import { liveById, type InheritedKeys } from '../../model/live.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';

/** The effect of a plan on people: risks, protection before and after, policies, samples. */
export type Assessment = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly accepted: readonly AcceptedDrift[];
  readonly protection: Protection;
  readonly policies: PolicyReport | undefined;
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
  /** The policies and access tests that no longer cover a connection. */
  readonly uncovered: readonly ChangedCheck[];
  /** The diagnostics of the rules that the plan writes. */
  readonly ruleDiagnostics: readonly Diagnostic[];
};

/** The checks that need compiled expressions or patterns; without `rules`, rules are not checked. */
export type AssessmentChecks = { readonly policies: CompiledPolicies; readonly rules: RuleChecks | undefined };

/** What the gateway reported for the assessment. */
type GatewayReport = { readonly inherited: InheritedKeys | undefined };

/** The drift that the manifests accept, and who caused it. */
type AcceptedInput = { readonly drift: AcceptedDiff | undefined; readonly audit?: AuditedChanges | undefined };

/** Assesses the effect of the differences on connections. */
export function assess(
  prepared: Prepared,
  { diff, snapshots: take }: PlannedStates,
  { policies, rules, inherited, accepted: { drift, audit } }: AssessmentChecks & GatewayReport & { readonly accepted: AcceptedInput },
): Assessment {
  const { input, desired, live, applied } = prepared;
  const snapshots = take();
  const stated = assessProtection(diff, { desired, live, snapshots, base: applied, registry: input.registry, inherited });
  const { changes, unwritten } = stated;
  const { accepted, headlines, losing } = assessAccepted(drift, prepared, { stated, audit, inherited });
  const former = readFormerConnections(prepared);
  const policyResults = checkPlannedPolicies(prepared, { diff, after: snapshots.after }, policies, former);
  const tested = checkPlannedAccess(prepared, snapshots, {
    reviewed: policies.accessTests,
    rules,
    former,
    ways: otherWays(stated.destinations),
  });
  const protection = withAcceptedLosses(stated.protection, [...headlines, ...tested.headlines], losing);
  const { changedSamples, diagnostics: ruleDiagnostics } = checkRules(prepared, { diff, ...snapshots }, rules);
  return {
    changes,
    unwritten: [...withoutNamed(unwritten, accepted, diff), ...tested.unwritten],
    accepted,
    protection: changedSamples.length === 0 ? protection : { ...protection, changedSamples },
    policies: policyResults.report,
    refusals: [...policyResults.refusals, ...tested.refusals],
    diagnostics: [...policyResults.diagnostics, ...tested.diagnostics],
    uncovered: [...leftPolicies(policyResults.report), ...tested.uncovered],
    ruleDiagnostics,
  };
}

/** Returns the ways by which people reach where other connections led before. */
function otherWays(gains: readonly DestinationGain[]): readonly OtherWay[] {
  const ways = gains.flatMap(({ connection, guarded }) => guarded.map((one): OtherWay => ({ guarded: one, through: connection })));
  return [...new Map(ways.map((way) => [`${way.guarded} ${way.through}`, way])).values()];
}

/** Returns the policies that no longer apply to a connection. */
function leftPolicies(report: PolicyReport | undefined): readonly ChangedCheck[] {
  const byPolicy = new Map<string, LeftMatch[]>();
  for (const one of report?.left ?? []) addToGroup(byPolicy, one.policy, one);
  return [...byPolicy].map(([name, all]) => ({
    check: `policy ${name}`,
    action: 'uncovered',
    connections: all.map(({ connection }) => connection),
    ...(all[0] === undefined ? {} : { at: all[0].at }),
  }));
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
    losing: [...new Set([...protection.losing, ...losing])].toSorted(compareText),
  };
}

/** The compiled policies, and the day (`YYYY-MM-DD`) by which waivers expire. */
export type CompiledPolicies = {
  readonly rules: readonly CompiledPolicy[];
  readonly today: string;
  /** The access tests of the reviewed commit, if the proposal does not choose its own. */
  readonly accessTests?: readonly AccessTest[];
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
  former: FormerConnections,
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
    former,
  };
  const checked = checkPolicies(checking);
  const { findings, left } = checked.report;
  const remedyFor = heldRemedies(checking, prepared, diff);
  const found = [...findings.map((one) => policyDiagnostic(one, remedyFor(one))), ...left.map(leftMatchDiagnostic), ...checked.diagnostics];
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

/** Fields that a policy may match; a manifest without them keeps the live value. */
const matchFields = ['type', 'subtype', 'connection_tags'];

/**
 * Returns a lookup of what a connection was before the plan: as last applied, so that drift does not decide which policies apply;
 * without a base as it is live. A successor was its predecessor.
 */
function readFormerConnections({ live, applied }: Prepared): FormerConnections {
  const found = liveById(live.resources);
  const base = desiredByKey(applied?.resources ?? []);
  const stateOf = (id: ResourceId): FormerConnection | undefined => {
    const [declared, present] = [base.get(id), found.get(id)];
    if (declared === undefined) return present === undefined ? undefined : { id, resource: present };
    const values = matchFields.flatMap((name) => {
      const value = declared.spec[name] ?? present?.spec[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { id, resource: { spec: Object.fromEntries(values), unknown: [] } };
  };
  return ({ id, key, replaces }) => stateOf(key) ?? (replaces === undefined ? undefined : stateOf(resourceId(kindOf(id), replaces)));
}
