import { addToGroup } from '../model/collections.ts';
import type { RuleSampleResults, SampleResult } from '../model/protection/protection.ts';
import { sortDiagnostics, type Diagnostic } from '../model/diagnostic.ts';
import { blocksOfType, findingRuns, type ReportDocument, type RunFindings } from './document.ts';
import { escapeXml } from './escape.ts';
import { findingDiagnostics } from './subjects/findings.ts';
import { allRules, countSamples } from './subjects/samples.ts';
import { clip } from './wrap.ts';

/**
 * Renders JUnit XML. Sample results have a suite for each rule and a case for each sample; samples that are not simulated, and rules
 * without a sample, are skipped. Findings have a suite for each file and a case for each finding; only errors are failures.
 */
export function renderJunit(document: ReportDocument): string {
  const runs = findingRuns(document);
  return runs.length === 0 ? samplesXml(document) : findingsXml(runs);
}

function samplesXml(document: ReportDocument): string {
  const targets = document.sections().flatMap(({ blocks }) => blocksOfType(blocks, 'samples').flatMap((block) => block.targets));
  const rules = allRules(targets);
  const suites = targets.flatMap((target) =>
    target.rules.flatMap((rule) => suiteLines(rule, targets.length > 1 ? target.target : undefined)),
  );
  return suitesXml(totals(rules), suites);
}

function suitesXml(counts: string, suites: readonly string[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="ostiary" ${counts}>`, ...suites, '</testsuites>'];
  return `${lines.join('\n')}\n`;
}

/** Returns the findings by file; without any, one case that passes, because an empty report looks like a broken one. */
function findingsXml(runs: readonly RunFindings[]): string {
  const suites = new Map<string, Diagnostic[]>();
  const all = runs.flatMap((run) => sortDiagnostics(findingDiagnostics(run)).map((one) => ({ one, file: fileOf(one, run) })));
  for (const { one, file } of all) addToGroup(suites, file, one);
  if (all.length === 0) {
    const [{ fallback } = { fallback: 'ostiary.yaml' }] = runs;
    const valid = caseLines({ at: { file: fallback, line: 1 }, name: 'the manifests are valid' }, fallback, undefined);
    return suitesXml(caseCounts(1, 0), [`  <testsuite name="${escapeXml(fallback)}" ${caseCounts(1, 0)}>`, ...valid, '  </testsuite>']);
  }
  const lines = [...suites].flatMap(([file, found]) => [
    `  <testsuite name="${escapeXml(file)}" ${caseCounts(found.length, errorsIn(found))}>`,
    ...found.flatMap((one) => findingLines(one, file)),
    '  </testsuite>',
  ]);
  return suitesXml(caseCounts(all.length, errorsIn(all.map(({ one }) => one))), lines);
}

function caseCounts(tests: number, failures: number): string {
  return `tests="${tests}" failures="${failures}" errors="0" skipped="0" time="0"`;
}

function errorsIn(found: readonly Diagnostic[]): number {
  return found.filter(({ severity }) => severity === 'error').length;
}

function fileOf({ at }: Diagnostic, { pathOf, fallback }: RunFindings): string {
  return (at === undefined ? undefined : pathOf(at.file)) ?? fallback;
}

function findingLines({ at, code, severity, message, hint, resource }: Diagnostic, file: string): readonly string[] {
  const place = { file, line: at?.line ?? 1 };
  const about = resource === undefined || at !== undefined ? '' : `${resource}: `;
  const text = escapeXml(clip(`${about}${message}${hint === undefined ? '' : `; ${hint}`}`, 2000));
  const body =
    severity === 'error'
      ? `<failure type="${escapeXml(code)}" message="${text}">${escapeXml(`${file}:${place.line}`)} ${text}</failure>`
      : `<system-out>${severity}: ${text}</system-out>`;
  return caseLines({ at: place, name: `${code} at line ${place.line}` }, file, body);
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
  { at, name }: { readonly at: Pick<SampleResult['at'], 'file' | 'line'>; readonly name: string },
  suite: string,
  body: string | undefined,
): readonly string[] {
  const place = `file="${escapeXml(at.file)}" line="${at.line}"`;
  const head = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" ${place} time="0"`;
  return body === undefined ? [`${head}/>`] : [`${head}>`, `      ${body}`, '    </testcase>'];
}

function outcomeOf({ at, outcome, side, why = '', text, expected, found }: SampleResult): string | undefined {
  if (outcome === 'passed') return undefined;
  if (outcome === 'not-simulated') return `<skipped message="${escapeXml(`not simulated: ${why}`)}"/>`;
  const tried = side === 'access' ? '' : `: ${clip(text, 2000)}`;
  const body = `${at.file}:${at.line}:${at.column} expected ${expected}, found ${found}${tried}`;
  const type = side === 'access' ? 'manifest/access-test' : 'rule/sample-failed';
  return `<failure type="${type}" message="${escapeXml(why)}">${escapeXml(body)}</failure>`;
}
