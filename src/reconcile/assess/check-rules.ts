import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, type DocumentDiagnostic, hasErrors, sortDiagnostics } from '../../model/diagnostic.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, type Diff } from '../../model/plan/plan.ts';
import type { SampleChange } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import { needsPatterns } from '../../protection/permission/check-access-tests.ts';
import type { RuleChecks } from '../../protection/rule-inspector.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** The samples whose result a plan changes, and the diagnostics of the rules that it writes. */
type RuleResults = { readonly changedSamples: readonly SampleChange[]; readonly diagnostics: readonly Diagnostic[] };

/** Returns whether a plan writes rules, removes samples, or has access tests that only the pattern compiler can check. */
export function needsRuleChecks({ input, base }: Prepared, diff: Diff): boolean {
  if (needsPatterns(input.desired.accessTests ?? [])) return true;
  const ids = writtenIds(diff);
  if (ids.size === 0) return false;
  const writesRule = input.desired.resources.some(({ id, written }) => written !== undefined && ids.has(id));
  return writesRule || base?.desired.resources.some(({ id, samples = [] }) => samples.length > 0 && ids.has(id)) === true;
}

type CheckedPlan = { readonly diff: Diff } & Pick<PlanSnapshots, 'before' | 'after'>;

/** Checks the rules that a plan writes, and tries their samples before and after; an error is a warning when the live rule has it already. */
export function checkRules({ input, base, live }: Prepared, { diff, ...states }: CheckedPlan, checks: RuleChecks | undefined): RuleResults {
  if (checks === undefined) return { changedSamples: [], diagnostics: [] };
  const ids = writtenIds(diff);
  const { desired } = input;
  const { diagnose } = desired;
  const rules = desired.resources.filter(({ id, written }) => written !== undefined && ids.has(id));
  const found =
    diagnose === undefined
      ? []
      : rules.flatMap((rule) =>
          checks
            .inspect(rule)
            .flatMap((finding) => diagnose(rule.id, isLive(rule, finding, live) ? { ...finding, severity: 'warning' } : finding) ?? []),
        );
  if (hasErrors(found)) return { changedSamples: [], diagnostics: sortDiagnostics(found) };
  return { changedSamples: checks.findSampleChanges(diff, { desired, base }, states), diagnostics: found };
}

function writtenIds({ changes }: Diff): ReadonlySet<ResourceId> {
  return new Set(changes.filter(isWritten).flatMap(({ id, key }) => (key === undefined ? [id] : [id, key])));
}

/** Returns whether the live rule contains the pattern already, so that writing the rest makes nothing worse. */
function isLive({ key }: DesiredResource, { within }: DocumentDiagnostic, { resources }: LiveState): boolean {
  const rule = within === undefined ? undefined : resources.find(({ id }) => id === key);
  return rule !== undefined && JSON.stringify(rule.spec).includes(JSON.stringify(within?.text));
}
