import type { Case, CasesBlock, Suite } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { gap, type Span, type Terminal, withoutBreak, words, wrap } from '../wrap.ts';

/** Returns the lines of cases: check by check, then what no case tries. */
export function casesLines({ heading, suites, lists }: CasesBlock, terminal: Terminal): readonly string[] {
  const lines = [
    ...(heading === undefined ? [] : [terminal.color.bold(escapeTerminal(heading)), '']),
    ...suites.flatMap((suite) => suiteLines(suite, terminal)),
    ...lists.flatMap(({ title, entries }) => [`${title}:`, ...entries.flatMap((entry) => indented(entry, terminal, 2)), '']),
  ];
  return lines.slice(0, -1);
}

function suiteLines({ title, at, cases }: Suite, terminal: Terminal): readonly string[] {
  if (cases.length === 0) return [];
  const { bold, dim } = terminal.color;
  const place = escapeTerminal(`${at.file}:${at.line}:${at.column}`);
  const head: Span[] = [{ text: escapeTerminal(title), paint: bold }, ...gap, { text: place, paint: dim, noBreak: true }];
  return [...wrap(head, terminal, 2), ...cases.flatMap((one) => caseLines(one, terminal)), ''];
}

const marks = { passed: 'pass', failed: 'FAIL', skipped: 'not simulated' } as const;

function caseLines({ title, result, beside, below }: Case, terminal: Terminal): readonly string[] {
  const { green, red, yellow, dim } = terminal.color;
  const paint = { passed: green, failed: red, skipped: yellow }[result];
  const head: Span[] = [
    { text: '  ' },
    { text: marks[result], paint },
    ...gap,
    ...withoutBreak(words(escapeTerminal(title))),
    ...gap,
    ...withoutBreak(words(escapeTerminal(beside), dim)),
  ];
  return [...wrap(head, terminal, 6), ...below.flatMap((line) => indented(line, terminal, 6))];
}

function indented(text: string, terminal: Terminal, indent: number): readonly string[] {
  return wrap([{ text: ' '.repeat(indent) }, ...words(escapeTerminal(text))], terminal, indent + 2);
}
