import type { RuleSampleResults, SampleResult } from '../model/protection/protection.ts';
import { blocksOfType, type ReportDocument } from './document.ts';
import { escapeXml } from './escape.ts';
import { allRules, countSamples } from './subjects/samples.ts';
import { clip } from './text/wrap.ts';

/** Renders sample results as JUnit XML: a suite for each rule, a case for each sample. Samples that are not simulated, and rules without a sample, are skipped. */
export function renderJunit(document: ReportDocument): string {
  const targets = document.sections().flatMap(({ blocks }) => blocksOfType(blocks, 'samples').flatMap((block) => block.targets));
  const rules = allRules(targets);
  const suites = targets.flatMap((target) =>
    target.rules.flatMap((rule) => suiteLines(rule, targets.length > 1 ? target.target : undefined)),
  );
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="ostiary" ${totals(rules)}>`, ...suites, '</testsuites>'];
  return `${lines.join('\n')}\n`;
}

function totals(rules: readonly RuleSampleResults[]): string {
  const { passed, failed, notSimulated, untested } = countSamples(rules);
  const skipped = notSimulated + untested;
  return `tests="${passed + failed + skipped}" failures="${failed}" errors="0" skipped="${skipped}" time="0"`;
}

function suiteLines(rule: RuleSampleResults, target: string | undefined): readonly string[] {
  const name = target === undefined ? rule.rule : `${target}: ${rule.rule}`;
  const cases =
    rule.trials.length === 0
      ? caseLines({ at: rule.at, name: 'has samples' }, name, '<skipped message="the rule has no sample"/>')
      : rule.trials.flatMap((trial) => caseLines({ at: trial.at, name: titleOf(trial) }, name, outcomeOf(trial)));
  return [`  <testsuite name="${escapeXml(name)}" ${totals([rule])}>`, ...cases, '  </testsuite>'];
}

function titleOf({ name, side, text }: SampleResult): string {
  return name ?? `${side}: ${clip(text, 200)}`;
}

function caseLines(
  { at, name }: Pick<SampleResult, 'at'> & { readonly name: string },
  suite: string,
  body: string | undefined,
): readonly string[] {
  const place = `file="${escapeXml(at.file)}" line="${at.line}"`;
  const head = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" ${place} time="0"`;
  return body === undefined ? [`${head}/>`] : [`${head}>`, `      ${body}`, '    </testcase>'];
}

function outcomeOf({ at, outcome, why = '', text, expected, found }: SampleResult): string | undefined {
  if (outcome === 'passed') return undefined;
  if (outcome === 'not-simulated') return `<skipped message="${escapeXml(`not simulated: ${why}`)}"/>`;
  const body = `${at.file}:${at.line}:${at.column} expected ${expected}, found ${found}: ${clip(text, 2000)}`;
  return `<failure type="rule/sample-failed" message="${escapeXml(why)}">${escapeXml(body)}</failure>`;
}
