import type { DesiredResource } from '../model/desired.ts';
import type { Diagnostic, DocumentDiagnostic } from '../model/diagnostic.ts';
import type { RuleSampleResults } from '../model/protection/protection.ts';
import { lintRule } from './lint/lint-guardrail.ts';
import { patternCache } from './pattern/compile.ts';
import { findSampleChanges, trySamples } from './samples/try-samples.ts';
import { shortText } from './samples/simulate.ts';

/**
 * Returns an inspector of rules. It reports problems of words and patterns, and failing samples with severity `failing`; each
 * pattern is compiled once. `onSamples` receives the results of all samples.
 */
export function ruleInspector(
  failing: DocumentDiagnostic['severity'],
  onSamples?: (tried: RuleSampleResults) => void,
): (resource: DesiredResource) => readonly DocumentDiagnostic[] {
  const patterns = patternCache();
  return (resource) => {
    const tried = trySamples(resource, patterns);
    if (tried === undefined) return [];
    onSamples?.(tried);
    return [...lintRule(resource, patterns), ...sampleFindings(tried, failing)];
  };
}

/** Converts failed samples to findings in the manifest of the rule. */
function sampleFindings({ trials }: RuleSampleResults, severity: DocumentDiagnostic['severity']): readonly DocumentDiagnostic[] {
  return trials.flatMap((trial, index) => {
    if (trial.outcome !== 'failed') return [];
    const { side, text, expected, why = '', hint } = trial;
    const wanted =
      side === 'text' ? `the sample ${shortText(text)} expects ${expected}` : `the ${side} ${shortText(text)} should be ${expected}`;
    return [
      {
        code: 'rule/sample-failed',
        severity,
        pointer: `/tests/${index}`,
        message: `${wanted}; ${why}`,
        hint: hint ?? 'correct the rule or the sample',
      },
    ];
  });
}

/** Returns one notice about samples that were not simulated; equal positions count once. */
export function notSimulatedNotice(all: readonly RuleSampleResults[]): readonly Diagnostic[] {
  const open = all.flatMap(({ rule, trials }) =>
    trials.filter(({ outcome }) => outcome === 'not-simulated').map((trial) => ({ rule, trial })),
  );
  const samples = new Set(open.map(({ trial: { at } }) => `${at.file}:${at.line}:${at.column}`)).size;
  const [first] = open;
  if (first === undefined) return [];
  const rules = new Set(open.map(({ rule }) => rule)).size;
  const whose = rules === 1 ? first.rule : `${rules} rules`;
  return [
    {
      code: 'rule/not-simulated',
      severity: 'notice',
      message: `${samples === 1 ? '1 sample' : `${samples} samples`} of ${whose} ${samples === 1 ? 'is' : 'are'} not simulated: ${first.trial.why ?? 'unknown'}`,
      hint: 'run ostiary test for the full list',
    },
  ];
}

/** The checks of rules that compile patterns; a value, because most plans can do without loading the pattern compiler. */
export type RuleChecks = {
  readonly inspect: (rule: DesiredResource) => readonly DocumentDiagnostic[];
  readonly findSampleChanges: typeof findSampleChanges;
  readonly newPatterns: typeof patternCache;
};

/** Prepares the checks of rules; each pattern is compiled once. */
export function ruleChecks(): RuleChecks {
  return { inspect: ruleInspector('warning'), findSampleChanges, newPatterns: patternCache };
}
