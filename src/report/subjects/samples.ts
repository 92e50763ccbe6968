import type { RuleSampleResults, TargetSampleResults, SampleResult } from '../../model/protection/protection.ts';
import type { ReportDocument } from '../document.ts';
import type { Case, CasesBlock, Suite } from '../blocks.ts';
import { plural } from '../wording/phrases.ts';
import { clip } from '../wrap.ts';
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
    sections: () => [{ verdict: { before: summaryText(allRules(targets)), name: '', after: '' }, blocks: casesBlocks(targets) }],
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
function countSamples(rules: readonly RuleSampleResults[]): SampleCounts {
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
function untested(rules: readonly RuleSampleResults[]): readonly RuleSampleResults[] {
  return rules.filter(({ trials }) => trials.length === 0);
}

/** Returns the rules of all targets. */
function allRules(targets: readonly TargetSampleResults[]): readonly RuleSampleResults[] {
  return targets.flatMap(({ rules }) => rules);
}

function summaryText(rules: readonly RuleSampleResults[]): string {
  const { passed, failed, notSimulated, rules: all, untested: without } = countSamples(rules);
  if (passed + failed + notSimulated === 0) return `No samples. ${plural(all, 'rule')}, none with a sample.`;
  const parts = [`${passed} passed`, `${failed} failed`, ...(notSimulated === 0 ? [] : [`${notSimulated} not simulated`])];
  const rest = without === 0 ? '' : ` ${without} of ${plural(all, 'rule')} without a sample.`;
  return `${plural(passed + failed + notSimulated, 'sample')}: ${parts.join(', ')}.${rest}`;
}

function casesBlocks(targets: readonly TargetSampleResults[]): readonly CasesBlock[] {
  return targets.map(({ target, rules }) => ({
    type: 'cases',
    ...(targets.length > 1 && rules.length > 0 ? { heading: target } : {}),
    suites: rules.map((rule) => suiteOf(rule, targets.length > 1 ? target : undefined)),
    lists: [
      { title: 'No sample', entries: untested(rules).map(({ rule }) => rule) },
      {
        title: 'Not simulated; only the gateway detects it',
        entries: rules.flatMap(({ rule, notSimulated }) => (notSimulated.length === 0 ? [] : [`${rule} ${notSimulated.join(', ')}`])),
      },
    ].filter(({ entries }) => entries.length > 0),
  }));
}

function suiteOf({ rule, at, trials }: RuleSampleResults, target: string | undefined): Suite {
  return { name: target === undefined ? rule : `${target}: ${rule}`, title: rule, at, cases: trials.map(caseOf) };
}

const results = { passed: 'passed', failed: 'failed', 'not-simulated': 'skipped' } as const;

function caseOf({ at, name, side, text, outcome, expected, found, why, hint }: SampleResult): Case {
  const place = `${at.file}:${at.line}:${at.column}`;
  const below = outcome === 'failed' ? [place, `expected ${expected}, found ${found}`] : [`expected ${expected}`];
  const tried = side === 'access' ? '' : `: ${clip(text, longestText)}`;
  return {
    at,
    name: name ?? `${side}: ${clip(text, longestName)}`,
    title: name === undefined ? `${side} "${clip(text, longestTitle)}"` : clip(name, longestTitle),
    result: results[outcome],
    beside: outcome === 'failed' ? '' : found,
    below: outcome === 'passed' ? [] : [...below, ...(why === undefined ? [] : [why]), ...(hint === undefined ? [] : [hint])],
    code: side === 'access' ? 'manifest/access-test' : 'rule/sample-failed',
    why: outcome === 'failed' ? (why ?? '') : `not simulated: ${why ?? ''}`,
    body: `${place} expected ${expected}, found ${found}${tried}`,
  };
}

const longestTitle = 60;
const longestName = 200;
const longestText = 2000;
