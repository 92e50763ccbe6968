import type { DesiredState } from '../../model/desired.ts';
import type { ChangedCheck } from '../../model/plan/changed-check.ts';
import { type AccessExpectation, type AccessTest, accessTestKind } from '../../model/protection/access-test.ts';
import type { Diagnostic, Position } from '../../model/diagnostic.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import { nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import {
  deciderTexts,
  failureTexts,
  foldResults,
  type RemovedExpectation,
  removedExpectations,
} from '../../protection/permission/access-test-findings.ts';
import { checkAccessTests, checkOtherWays, isAbout, type OtherWay } from '../../protection/permission/check-access-tests.ts';
import { statedText } from '../../protection/permission/expectation-texts.ts';
import type { FormerConnections } from '../../protection/policy/match.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { unknownGroups } from './unknown-groups.ts';
import { type WeakenedFindings, weakenedFindings, type WeakenedStatement } from './weakened-checks.ts';

/** What access tests say about a plan, and what the manifests no longer expect. */
export type AccessTestFindings = WeakenedFindings & {
  /** The expectations that no longer cover a connection. */
  readonly uncovered: readonly ChangedCheck[];
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Checks the access as it is after the plan. A test that fails then is a refusal, unless it fails already; a test that only others
 * than the plan break is a warning, because the plan may be what repairs it. What the applied manifests or the reviewed ones expect, and these do not, is named.
 */
export function checkPlannedAccess(
  prepared: Prepared,
  { before, after: planned }: Pick<PlanSnapshots, 'before' | 'after'>,
  {
    reviewed = [],
    rules,
    former,
    ways,
  }: {
    readonly reviewed?: readonly AccessTest[] | undefined;
    readonly rules: RuleChecks | undefined;
    readonly former: FormerConnections;
    readonly ways: readonly OtherWay[];
  },
): AccessTestFindings {
  const { desired, applied } = prepared;
  const tests = desired.accessTests ?? [];
  const removed = removedExpectations(tests, [...(applied?.accessTests ?? []), ...reviewed]);
  const gone = weakenedFindings('access-test-removed', removed.map(removedStatement));
  if (tests.length === 0) return { refusals: [], diagnostics: [], uncovered: [], ...gone };
  const left = leftExpectations(tests, { desired, planned, former });
  const leaving = weakenedFindings('access-test-uncovered', left.map(leftStatement));
  const weakened = {
    unwritten: [...gone.unwritten, ...leaving.unwritten],
    headlines: [...gone.headlines, ...leaving.headlines],
    uncovered: left.map(({ test, about, connections, at }): ChangedCheck => {
      return { check: `access test ${test} (${statedText(about)})`, action: 'uncovered', connections, at };
    }),
  };
  const tools = { textOf: deciderTexts(desired, planned), newPatterns: rules?.newPatterns };
  const after = checkAccessTests(tests, planned, tools, before);
  const broken = [...after.filter(({ outcome }) => outcome !== 'passed'), ...checkOtherWays(tests, ways, planned, tools)];
  const isOld = ({ before: had, outcome }: (typeof after)[number]): boolean => had === outcome;
  return {
    refusals: foldResults(broken.filter((one) => !isOld(one))).map((one) => ({
      code: 'plan/access-test',
      allowable: true,
      at: one.at,
      ...failureTexts(one),
    })),
    diagnostics: [
      ...foldResults(broken.filter(isOld)).map((one): Diagnostic => ({
        code: 'plan/access-test-failing',
        severity: 'warning',
        at: one.at,
        ...failureTexts(one),
      })),
      ...unknownGroups(prepared, { before, after: planned }),
    ],
    ...weakened,
  };
}

function removedStatement({ id, about, at }: RemovedExpectation): WeakenedStatement {
  const stated = statedText(about);
  return { id, path: pointer(stated), text: `access test ${nameOf(id)} no longer expects ${stated}`, connections: [], at };
}

/** An expectation that covered connections before the plan and does not cover them after it. */
type LeftExpectation = {
  readonly test: string;
  readonly about: AccessExpectation;
  readonly connections: readonly ResourceId[];
  /** The manifest of the first one. */
  readonly at: Position;
};

type PlannedConnections = {
  readonly desired: Pick<DesiredState, 'resources'>;
  readonly planned: ProtectionSnapshot;
  readonly former: FormerConnections;
};

/** Returns the expectations that no longer cover a connection, because its tags or its name change; the connection itself stays. */
function leftExpectations(tests: readonly AccessTest[], { desired, planned, former }: PlannedConnections): readonly LeftExpectation[] {
  const sides = desired.resources.flatMap((resource) => {
    const [before, after] = [former(resource), planned.resources.get(resource.key)];
    return before === undefined || after === undefined ? [] : [{ resource, before, after }];
  });
  return tests.flatMap(({ name, expectations }) =>
    expectations.flatMap((about): readonly LeftExpectation[] => {
      const left = sides.filter(
        ({ resource: { id }, before, after }) =>
          isAbout(about.on, nameOf(before.id), before.resource.spec) && !isAbout(about.on, nameOf(id), after.spec),
      );
      const [first] = left;
      if (first === undefined) return [];
      const at = first.resource.locate(first.resource.stated.has('connection_tags') ? pointer('connection_tags') : '');
      return [{ test: name, about, connections: left.map(({ resource }) => resource.id), at }];
    }),
  );
}

function leftStatement({ test, about, connections, at }: LeftExpectation): WeakenedStatement {
  const stated = statedText(about);
  const id = resourceId(accessTestKind, test);
  return { id, path: pointer(stated), text: `no longer covered by access test ${test} (${stated})`, connections, at };
}
