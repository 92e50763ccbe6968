import type { RuleSampleResults, TargetSampleResults, SampleResult } from '../../model/result/sample-result.ts';

/** How many samples came out how, and how many rules have none. */
export type SampleCounts = {
  readonly passed: number;
  readonly failed: number;
  readonly notSimulated: number;
  readonly rules: number;
  readonly untested: number;
};

/** Counts samples and rules. */
export function countSamples(rules: readonly RuleSampleResults[]): SampleCounts {
  const trials = rules.flatMap((rule) => rule.trials);
  const count = (outcome: SampleResult['outcome']): number => trials.filter((trial) => trial.outcome === outcome).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    notSimulated: count('not-simulated'),
    rules: rules.length,
    untested: untested(rules).length,
  };
}

/** Rules that no sample tries. */
export function untested(rules: readonly RuleSampleResults[]): readonly RuleSampleResults[] {
  return rules.filter(({ trials }) => trials.length === 0);
}

/** The rules of all targets. */
export function allRules(targets: readonly TargetSampleResults[]): readonly RuleSampleResults[] {
  return targets.flatMap(({ rules }) => rules);
}
