import { desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, equal } from '../../model/json.ts';
import { liveById } from '../../model/live.ts';
import type { UncoveredCheck } from '../../model/plan/changed-check.ts';
import { pointer } from '../../model/pointer.ts';
import { type AccessExpectation, accessTestKind } from '../../model/protection/access-test.ts';
import type { RoleNames } from '../../model/protection/access-objects.ts';
import { type Policy, policyKind } from '../../model/protection/policy.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { Spelling } from '../../model/spec/spelling.ts';
import { missingExpectations } from '../../protection/permission/access-test-findings.ts';
import { isAbout } from '../../protection/permission/check-access-tests.ts';
import { statedText } from '../../protection/permission/expectation-texts.ts';
import { policyMatches, withManifestNames } from '../../protection/policy/match.ts';
import { riskCode, riskOf } from '../../protection/risk/risk-codes.ts';
import { allConnections, type ProtectionSnapshot, type ResourceSnapshot, rolesIn } from '../../protection/posture/protection-snapshot.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** A connection on one side of a plan. */
type ConnectionSide = { readonly name: string; readonly resource: ResourceSnapshot };

/** A connection that a plan leaves: what it was, and what it will be. */
export type StayingConnection = {
  readonly id: ResourceId;
  readonly before: ConnectionSide;
  readonly after: ConnectionSide;
  /** Its manifest; undefined for one that only the gateway has. */
  readonly desired: DesiredResource | undefined;
};

/** What must be true of the connections that it covers: a policy, or an expectation of an access test. */
export type Check = {
  /** Its document. */
  readonly id: ResourceId;
  /** What it is: `policy has-a-reviewer`, `access test people (contractors on env=prod: denied)`. */
  readonly name: string;
  readonly at: Position;
  /** Returns whether it is about a connection; `unseen` when that cannot be read. */
  readonly covers: (side: ConnectionSide) => boolean | 'unseen';
};

/** The checks of one sort before and after a plan. */
type CheckSides<C extends Check> = {
  readonly before: readonly C[];
  readonly after: readonly C[];
  /** Returns the parts of a check that none of some other ones has. */
  readonly missingIn: (check: C, others: readonly C[]) => readonly C[];
};

/**
 * Finds what checks covered before a plan and no check covers after it, although the connections stay: the check is gone or covers less, or
 * the connection changed. What a check covers and asks decides, not its text: it may move to another document.
 */
export function findUncovered<C extends Check>(
  { before, after, missingIn }: CheckSides<C>,
  connections: readonly StayingConnection[],
): readonly UncoveredCheck[] {
  const kept = new Map(after.map((check) => [check.name, check]));
  const found = new Map<string, { readonly id: ResourceId; readonly at: Position | undefined; readonly connections: Set<ResourceId> }>();
  for (const connection of connections) {
    const now = after.filter((check) => check.covers(connection.after) !== false);
    for (const check of before.filter((one) => one.covers(connection.before) === true))
      for (const { id, name } of missingIn(check, now)) {
        const stays = kept.get(check.name);
        const isLeft = stays?.covers(connection.before) === true && stays.covers(connection.after) === false;
        // A part that a check no longer has is gone, although the check still covers the connection.
        const isGone = name !== check.name && !isLeft;
        const at = isGone ? undefined : isLeft ? changedPlace(connection) : stays?.at;
        const one = found.get(name) ?? { id, at, connections: new Set() };
        found.set(name, one);
        one.connections.add(connection.id);
      }
  }
  const code = riskCode(riskOf('check-uncovered').code);
  return [...found].map(([check, { id, at, connections: all }]) => {
    const place = at === undefined ? {} : { at };
    return { check, action: 'uncovered', id, code, class: 'weakens', connections: [...all], ...place };
  });
}

/** The fields by which checks cover a connection; a manifest without them keeps the live value. */
const coveringFields = ['connection_tags', 'type', 'subtype'];

/** Returns where a manifest states the field by which checks no longer cover it. */
function changedPlace({ desired, before, after }: StayingConnection): Position | undefined {
  const field = coveringFields.find((name) => !equal(before.resource.spec[name], after.resource.spec[name]));
  return desired?.locate(field !== undefined && desired.stated.has(field) ? pointer(field) : '');
}

/** The checks that manifests declare. */
type DeclaredChecks = Pick<DesiredState, 'policies' | 'accessTests'>;

type PlannedChecks = {
  /** The manifests that a proposal started from, whose checks it may change. */
  readonly reviewed: DeclaredChecks | undefined;
  /** The names of the gateway that policies may have. */
  readonly spelling: Spelling | undefined;
  readonly after: ProtectionSnapshot;
  /** The connections without a manifest that policies cover. */
  readonly unmanaged: readonly ResourceId[];
};

/** Finds the policies, and the expectations of access tests, that no longer cover a connection: of the applied manifests, and of the reviewed ones. */
export function uncoveredChecks(
  prepared: Prepared,
  { reviewed = {}, spelling, after, unmanaged }: PlannedChecks,
): readonly UncoveredCheck[] {
  const { desired, applied = desired } = prepared;
  const policies = (of: DeclaredChecks): readonly PolicyCheck[] =>
    (of.policies ?? []).map((one) => policyCheck(withManifestNames(one, spelling)));
  const policiesThen = [...policies(applied), ...policies(reviewed)];
  const testsThen = [...expectations(applied), ...expectations(reviewed)];
  if (policiesThen.length === 0 && testsThen.length === 0) return [];
  const connections = stayingConnections(prepared, after);
  const underPolicies = new Set([...desired.resources.map(({ id }) => id), ...unmanaged]);
  return [
    ...findUncovered(
      { before: policiesThen, after: policies(desired), missingIn: missingPolicies },
      connections.filter(({ id }) => underPolicies.has(id)),
    ),
    ...findUncovered({ before: testsThen, after: expectations(desired), missingIn: missingInTests(rolesIn(after)) }, connections),
  ];
}

type PolicyCheck = Check & { readonly policy: Policy };

function policyCheck(policy: Policy): PolicyCheck {
  const { name, at } = policy;
  const id = resourceId(policyKind, name);
  return { id, name: `policy ${name}`, at, policy, covers: (side) => policyMatches(policy, side.name, side.resource) };
}

/**
 * Returns what a policy required and no policy requires that refuses what it refused: the policy, or those of its requirements that one with its name
 * has no more. What another expression asks cannot be compared: it counts as less.
 */
function missingPolicies(check: PolicyCheck, others: readonly PolicyCheck[]): readonly PolicyCheck[] {
  const { policy } = check;
  const strict = others.filter((one) => one.policy.severity === 'error' || policy.severity === 'warning');
  const asked = new Set(strict.flatMap((one) => one.policy.require.map(({ expression }) => expression)));
  const missing = policy.require.filter(({ expression }) => !asked.has(expression));
  if (missing.length === 0) return [];
  if (strict.every((one) => one.policy.name !== policy.name)) return [check];
  return missing.map(({ expression }) => ({ ...policyCheck(policy), name: `${check.name} (${expression})` }));
}

type ExpectationCheck = Check & { readonly about: AccessExpectation };

function expectations({ accessTests = [] }: DeclaredChecks): readonly ExpectationCheck[] {
  return accessTests.flatMap(({ name, at, expectations: all }) =>
    all.map((about) => expectationCheck(resourceId(accessTestKind, name), at, about)),
  );
}

function expectationCheck(id: ResourceId, at: Position, about: AccessExpectation): ExpectationCheck {
  const name = `access test ${nameOf(id)} (${statedText(about)})`;
  return { id, name, at, about, covers: (side) => isAbout(about.on, side.name, side.resource.spec) };
}

/** Returns what finds the parts of an expectation that no other one has. */
function missingInTests(roles: RoleNames): CheckSides<ExpectationCheck>['missingIn'] {
  return ({ id, at, about }, others) => {
    const asked = others.map((one) => one.about);
    return missingExpectations(about, asked, roles).map((part) => expectationCheck(id, at, part));
  };
}

/**
 * Lists the connections that a plan leaves. Before the plan, a connection was as last applied, so that drift does not decide which checks cover it;
 * without a base as it is live. A successor was its predecessor.
 */
function stayingConnections({ desired, live, applied }: Prepared, after: ProtectionSnapshot): readonly StayingConnection[] {
  const found = liveById(live.resources);
  const base = desiredByKey(applied?.resources ?? []);
  const declared = desiredByKey(desired.resources);
  const formerOf = (id: ResourceId): ConnectionSide | undefined => {
    const [stated, present] = [base.get(id), found.get(id)];
    const name = nameOf(id);
    if (stated === undefined) return present === undefined ? undefined : { name, resource: present };
    const values = coveringFields.flatMap((field) => {
      const value = stated.spec[field] ?? present?.spec[field];
      return value === undefined ? [] : [[field, value] as const];
    });
    return { name, resource: { spec: Object.fromEntries(values), unknown: [] } };
  };
  const replaced = new Set(desired.resources.map(({ id, replaces }) => replaces && resourceId(kindOf(id), replaces)));
  const staying = allConnections(after).filter((key) => !replaced.has(key));
  return staying.toSorted(compareText).flatMap((key): readonly StayingConnection[] => {
    const [resource, manifest] = [after.resources.get(key), declared.get(key)];
    const { id, replaces } = manifest ?? { id: key };
    const before = formerOf(key) ?? (replaces === undefined ? undefined : formerOf(resourceId(kindOf(id), replaces)));
    if (resource === undefined || before === undefined) return [];
    return [{ id, before, after: { name: nameOf(id), resource }, desired: manifest }];
  });
}
