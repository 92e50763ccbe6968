import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import { deciderTexts, failureTexts, foldResults } from '../../protection/permission/access-test-findings.ts';
import { checkAccessTests, checkOtherWays, type OtherWay } from '../../protection/permission/check-access-tests.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { unknownGroups } from './unknown-groups.ts';

/** What access tests say about a plan. */
export type AccessTestFindings = {
  readonly refusals: readonly Refusal[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Checks the access as it is after the plan. A test that fails then is a refusal, unless it fails already; a test that only others
 * than the plan break is a warning, because the plan may be what repairs it.
 */
export function checkPlannedAccess(
  prepared: Prepared,
  { before, after: planned }: Pick<PlanSnapshots, 'before' | 'after'>,
  { rules, ways }: { readonly rules: RuleChecks | undefined; readonly ways: readonly OtherWay[] },
): AccessTestFindings {
  const { desired } = prepared;
  const tests = desired.accessTests ?? [];
  if (tests.length === 0) return { refusals: [], diagnostics: [] };
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
  };
}
