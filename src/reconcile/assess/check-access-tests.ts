import { addToGroup } from '../../model/collections.ts';
import type { AccessTest } from '../../model/protection/access-test.ts';
import { type Diagnostic, formatPosition } from '../../model/diagnostic.ts';
import { type Diff, type Refusal, renamesOf, type UnwrittenRisks, withNames } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import type { Headline } from '../../model/protection/protection.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import {
  deciderTexts,
  failureTexts,
  foldResults,
  type RemovedExpectation,
  removedExpectations,
} from '../../protection/permission/access-test-findings.ts';
import { checkAccessTests, noConnection, statedText } from '../../protection/permission/check-access-tests.ts';
import { liveSnapshot, plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { generalRisk } from '../../protection/risk/risk-codes.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** What access tests say about a plan, and what the manifests no longer expect. */
export type AccessTestFindings = {
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly headlines: readonly Headline[];
};

/**
 * Checks the access as it is after the plan. A test that fails then is a refusal, unless it fails already; a test that only others
 * than the plan break is a warning, because the plan may be what repairs it. What the applied manifests or the reviewed ones expect, and these do not, is named.
 */
export function checkPlannedAccess(
  { input, desired, live, applied }: Prepared,
  diff: Diff,
  reviewed: readonly AccessTest[] = [],
): AccessTestFindings {
  const tests = desired.accessTests ?? [];
  const removed = removedExpectations(tests, [...(applied?.accessTests ?? []), ...reviewed]);
  const textOf = deciderTexts(desired);
  const after = tests.length === 0 ? [] : checkAccessTests(tests, plannedSnapshot(diff, live, input.registry), textOf);
  const broken = after.filter(({ outcome }) => outcome !== 'passed');
  // What fails because a connection is missing says nothing about the connection that the plan creates.
  const keyOf = ({ at, connection, found }: (typeof after)[number]): string =>
    [formatPosition(at), connection, found === noConnection ? 'missing' : ''].join('\n');
  const before =
    broken.length === 0
      ? new Map<string, string>()
      : new Map(
          checkAccessTests(tests, liveSnapshot(withNames(live, renamesOf(diff.changes)), input.registry, diff.target.dialect), textOf).map(
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
    unwritten: removedRisks(removed),
    headlines: removed.map(removedHeadline),
  };
}

function removedRisks(removed: readonly RemovedExpectation[]): readonly UnwrittenRisks[] {
  const byTest = new Map<ResourceId, RemovedExpectation[]>();
  for (const one of removed) addToGroup(byTest, one.id, one);
  const { code, class: own } = riskOfRemoval();
  return [...byTest].map(([id, all]) => ({
    id,
    risks: all.map(({ about, at }) => ({
      code,
      class: own,
      path: pointer(statedText(about)),
      ...(at === undefined ? {} : { place: formatPosition(at) }),
    })),
  }));
}

function riskOfRemoval(): { readonly code: `risk/${string}`; readonly class: 'weakens' } {
  return { code: `risk/${generalRisk('access-test-removed').name}`, class: 'weakens' };
}

function removedHeadline({ id, about, at }: RemovedExpectation): Headline {
  const text = `access test ${nameOf(id)} no longer expects ${statedText(about)}`;
  const causes = [{ by: id, ...(at === undefined ? {} : { place: formatPosition(at) }) }];
  return { direction: 'weakens', text, connections: [], tags: {}, causes };
}
