import type { AccessTest } from '../../model/protection/access-test.ts';
import { type Diagnostic, formatPosition } from '../../model/diagnostic.ts';
import { type Diff, type Refusal, renamesOf, withNames } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import { nameOf } from '../../model/resource.ts';
import {
  deciderTexts,
  failureTexts,
  foldResults,
  type RemovedExpectation,
  removedExpectations,
} from '../../protection/permission/access-test-findings.ts';
import { checkAccessTests, noConnection, statedText } from '../../protection/permission/check-access-tests.ts';
import { readDeclaredAttachments } from '../../protection/posture/declared-attachments.ts';
import { liveSnapshot, plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type WeakenedFindings, weakenedFindings, type WeakenedStatement } from './weakened-checks.ts';

/** What access tests say about a plan, and what the manifests no longer expect. */
export type AccessTestFindings = WeakenedFindings & {
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Checks the access as it is after the plan. A test that fails then is a refusal, unless it fails already; a test that only others
 * than the plan break is a warning, because the plan may be what repairs it. What the applied manifests or the reviewed ones expect, and these do not, is named.
 */
export function checkPlannedAccess(
  { input, desired, live, applied }: Prepared,
  diff: Diff,
  { reviewed = [], rules }: { readonly reviewed?: readonly AccessTest[] | undefined; readonly rules: RuleChecks | undefined },
): AccessTestFindings {
  const tests = desired.accessTests ?? [];
  const removed = removedExpectations(tests, [...(applied?.accessTests ?? []), ...reviewed]);
  const weakened = weakenedFindings('access-test-removed', removed.map(removedStatement));
  if (tests.length === 0) return { refusals: [], diagnostics: [], ...weakened };
  const planned = { ...plannedSnapshot(diff, live, input.registry), declaredAttachments: readDeclaredAttachments(desired) };
  const tools = { textOf: deciderTexts(desired, planned), newPatterns: rules?.newPatterns };
  const after = checkAccessTests(tests, planned, tools);
  const broken = after.filter(({ outcome }) => outcome !== 'passed');
  // What fails because a connection is missing says nothing about the connection that the plan creates.
  const keyOf = ({ at, connection, found }: (typeof after)[number]): string =>
    [formatPosition(at), connection, found === noConnection ? 'missing' : ''].join('\n');
  const before =
    broken.length === 0
      ? new Map<string, string>()
      : new Map(
          checkAccessTests(tests, liveSnapshot(withNames(live, renamesOf(diff.changes)), input.registry, diff.target.dialect), tools).map(
            (one) => [keyOf(one), one.outcome],
          ),
        );
  const isOld = (one: (typeof after)[number]): boolean => before.get(keyOf(one)) === one.outcome;
  return {
    refusals: foldResults(broken.filter((one) => !isOld(one))).map((one) => ({
      code: 'plan/access-test',
      allowable: true,
      at: one.at,
      ...failureTexts(one),
    })),
    diagnostics: foldResults(broken.filter(isOld)).map((one) => ({
      code: 'plan/access-test-failing',
      severity: 'warning',
      at: one.at,
      ...failureTexts(one),
    })),
    ...weakened,
  };
}

function removedStatement({ id, about, at }: RemovedExpectation): WeakenedStatement {
  const stated = statedText(about);
  return { id, path: pointer(stated), text: `access test ${nameOf(id)} no longer expects ${stated}`, connections: [], at };
}
