import type { RuleSampleResults, TargetSampleResults, SampleResult } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import { wrap, gap, withoutBreak, words, type Span, clip, type Paint, type Terminal } from '../wrap.ts';
import { untested } from '../subjects/samples.ts';

const longestSample = 60;

/** Returns the lines of sample results: rule by rule, then the rules and parts that no sample tries. */
export function sampleLines(targets: readonly TargetSampleResults[], terminal: Terminal): readonly string[] {
  const lines = targets.flatMap((target) => [
    ...(targets.length > 1 && target.rules.length > 0 ? [terminal.color.bold(escapeTerminal(target.target)), ''] : []),
    ...target.rules.flatMap((rule) => ruleLines(rule, terminal)),
    ...listLines(
      'No sample',
      untested(target.rules).map(({ rule }) => rule),
      terminal,
    ),
    ...listLines('Not covered by a sample', target.rules.flatMap(untriedIn), terminal),
    ...listLines('Not simulated; only the gateway detects it', target.rules.flatMap(unsimulatedIn), terminal),
  ]);
  return lines.slice(0, -1);
}

function untriedIn({ rule, trials, untried }: RuleSampleResults): readonly string[] {
  return trials.length === 0 || untried.length === 0 ? [] : [`${rule} ${untried.join(', ')}`];
}

function unsimulatedIn({ rule, notSimulated }: RuleSampleResults): readonly string[] {
  return notSimulated.length === 0 ? [] : [`${rule} ${notSimulated.join(', ')}`];
}

function ruleLines({ rule, at, trials }: RuleSampleResults, terminal: Terminal): readonly string[] {
  if (trials.length === 0) return [];
  const { bold, dim } = terminal.color;
  const place = escapeTerminal(`${at.file}:${at.line}:${at.column}`);
  const title: Span[] = [{ text: escapeTerminal(rule), paint: bold }, ...gap, { text: place, paint: dim, noBreak: true }];
  return [...wrap(title, terminal, 2), ...trials.flatMap((trial) => trialLines(trial, terminal)), ''];
}

const marks = { passed: 'pass', failed: 'FAIL', 'not-simulated': 'not simulated' } as const;

function trialLines({ at, name, side, text, outcome, expected, found, why, hint }: SampleResult, terminal: Terminal): readonly string[] {
  const { green, red, yellow, dim } = terminal.color;
  const paints: Readonly<Record<SampleResult['outcome'], Paint>> = { passed: green, failed: red, 'not-simulated': yellow };
  const shown = name === undefined ? `${side} "${clip(text, longestSample)}"` : clip(name, longestSample);
  const head: Span[] = [
    { text: '  ' },
    { text: marks[outcome], paint: paints[outcome] },
    ...gap,
    ...withoutBreak(words(escapeTerminal(shown))),
    ...gap,
    ...withoutBreak(words(escapeTerminal(outcome === 'failed' ? '' : found), dim)),
  ];
  if (outcome === 'passed') return wrap(head, terminal, 6);
  const more = [
    ...(outcome === 'failed' ? [`${at.file}:${at.line}:${at.column}`, `expected ${expected}, found ${found}`] : [`expected ${expected}`]),
    ...(why === undefined ? [] : [why]),
    ...(hint === undefined ? [] : [hint]),
  ];
  return [...wrap(head, terminal, 6), ...more.flatMap((line) => wrap([{ text: '      ' }, ...words(escapeTerminal(line))], terminal, 8))];
}

function listLines(title: string, entries: readonly string[], terminal: Terminal): readonly string[] {
  if (entries.length === 0) return [];
  return [`${title}:`, ...entries.flatMap((entry) => wrap([{ text: '  ' }, ...words(escapeTerminal(entry))], terminal, 4)), ''];
}
