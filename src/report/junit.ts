import { addToGroup } from '../model/collections.ts';
import type { Diagnostic, Position } from '../model/diagnostic.ts';
import type { Case, FindingsBlock, Suite } from './blocks.ts';
import { blocksOfType, fileOfFinding, findingBlocks, type ReportDocument } from './document.ts';
import { escapeXml } from './escape.ts';
import { clip } from './wrap.ts';

/**
 * Renders JUnit XML. Sample results have a suite for each rule and a case for each sample; samples that are not simulated, and rules
 * without a sample, are skipped. Findings have a suite for each file and a case for each finding; only errors are failures.
 */
export function renderJunit(document: ReportDocument): string {
  const runs = findingBlocks(document);
  return runs.length === 0 ? casesXml(document) : findingsXml(runs);
}

function casesXml(document: ReportDocument): string {
  const suites = document.sections().flatMap(({ blocks }) => blocksOfType(blocks, 'cases').flatMap((block) => block.suites));
  return suitesXml(totals(suites), suites.flatMap(suiteLines));
}

function suitesXml(counts: string, suites: readonly string[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="ostiary" ${counts}>`, ...suites, '</testsuites>'];
  return `${lines.join('\n')}\n`;
}

/** Returns the findings by file; without any, one case that passes, because an empty report looks like a broken one. */
function findingsXml(runs: readonly FindingsBlock[]): string {
  const suites = new Map<string, Diagnostic[]>();
  const all = runs.flatMap((run) => run.diagnostics.map((one) => ({ one, file: fileOfFinding(one, run) })));
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

function caseCounts(tests: number, failures: number, skipped = 0): string {
  return `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="0"`;
}

function errorsIn(found: readonly Diagnostic[]): number {
  return found.filter(({ severity }) => severity === 'error').length;
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

function totals(suites: readonly Suite[]): string {
  const all = suites.flatMap(({ cases }) => (cases.length === 0 ? (['skipped'] as const) : cases.map(({ result }) => result)));
  const count = (result: Case['result']): number => all.filter((one) => one === result).length;
  return caseCounts(all.length, count('failed'), count('skipped'));
}

function suiteLines(suite: Suite): readonly string[] {
  const { name, at, cases } = suite;
  const lines =
    cases.length === 0
      ? caseLines({ at, name: 'has samples' }, name, '<skipped message="the rule has no sample"/>')
      : cases.flatMap((one) => caseLines({ at: one.at, name: one.name }, name, resultXml(one)));
  return [`  <testsuite name="${escapeXml(name)}" ${totals([suite])}>`, ...lines, '  </testsuite>'];
}

function caseLines(
  { at, name }: { readonly at: Pick<Position, 'file' | 'line'>; readonly name: string },
  suite: string,
  body: string | undefined,
): readonly string[] {
  const place = `file="${escapeXml(at.file)}" line="${at.line}"`;
  const head = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" ${place} time="0"`;
  return body === undefined ? [`${head}/>`] : [`${head}>`, `      ${body}`, '    </testcase>'];
}

function resultXml({ result, code, why, body }: Case): string | undefined {
  if (result === 'passed') return undefined;
  if (result === 'skipped') return `<skipped message="${escapeXml(why)}"/>`;
  return `<failure type="${code}" message="${escapeXml(why)}">${escapeXml(body)}</failure>`;
}
