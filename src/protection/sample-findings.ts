import type { Finding } from '../model/diagnostic.ts';
import type { RuleTrials } from '../model/trial.ts';
import { shortText } from './short-text.ts';

/** The samples that a rule fails, as findings in its manifest. */
export function sampleFindings({ trials }: RuleTrials, severity: Finding['severity']): readonly Finding[] {
  return trials.flatMap((trial, index) => {
    if (trial.outcome !== 'failed') return [];
    const { side, text, expected, why = '', hint } = trial;
    const wanted =
      side === 'text' ? `the sample ${shortText(text)} expects ${expected}` : `the ${side} ${shortText(text)} should be ${expected}`;
    return [
      {
        code: 'rule/sample-failed',
        severity,
        at: `/tests/${index}`,
        message: `${wanted}; ${why}`,
        hint: hint ?? 'correct the rule, or the sample if it asks for the wrong thing',
      },
    ];
  });
}
