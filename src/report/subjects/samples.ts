import type { RuleSampleResults, TargetSampleResults, SampleResult } from '../../model/protection/protection.ts';
import type { ReportDocument } from '../document.ts';
import { plural } from '../wording/summary.ts';
import { documentJson } from '../document-json.ts';

/** Returns the document of the results of samples. */
export function samplesDocument(targets: readonly TargetSampleResults[]): ReportDocument {
  return {
    json: () => ({
      version: 1,
      counts: { ...countSamples(allRules(targets)) },
      targets: targets.map(({ target, rules }) => ({
        target,
        rules: rules.map((rule) => documentJson({ ...rule, samples: rule.trials }, 'test#/$defs/rule')),
      })),
    }),
    sections: () => [{ verdict: { before: summaryText(allRules(targets)), name: '', after: '' }, blocks: [{ type: 'samples', targets }] }],
  };
}

type SampleCounts = {
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

/** Returns the rules without samples. */
export function untested(rules: readonly RuleSampleResults[]): readonly RuleSampleResults[] {
  return rules.filter(({ trials }) => trials.length === 0);
}

/** Returns the rules of all targets. */
export function allRules(targets: readonly TargetSampleResults[]): readonly RuleSampleResults[] {
  return targets.flatMap(({ rules }) => rules);
}

function summaryText(rules: readonly RuleSampleResults[]): string {
  const { passed, failed, notSimulated, rules: all, untested: without } = countSamples(rules);
  if (passed + failed + notSimulated === 0) return `No samples. ${plural(all, 'rule')}, none with a sample.`;
  const parts = [`${passed} passed`, `${failed} failed`, ...(notSimulated === 0 ? [] : [`${notSimulated} not simulated`])];
  const rest = without === 0 ? '' : ` ${without} of ${plural(all, 'rule')} without a sample.`;
  return `${plural(passed + failed + notSimulated, 'sample')}: ${parts.join(', ')}.${rest}`;
}
