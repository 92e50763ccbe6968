import { type CodeFrame, type Diagnostic, formatPosition, type Severity, sortDiagnostics } from '../../model/diagnostic.ts';
import { addToGroup } from '../../model/collections.ts';
import { escapeTerminal } from '../escape.ts';
import {
  clip,
  gap,
  type Paint,
  type Palette,
  type Span,
  type Terminal,
  visibleWidth,
  widthFor,
  withoutBreak,
  words,
  wrap,
} from '../wrap.ts';
import { type EqualFindings, mergeEqual, mostConnections } from '../rows/equal-findings.ts';
import { diagnosticCounts } from '../wording/diagnostics.ts';
import { plural } from '../wording/phrases.ts';

/** The diagnostics that are printed without `full`. */
const mostDiagnostics = 100;
const severities = ['error', 'warning', 'notice'] as const;

/** Returns diagnostics for people: `file:line:column severity code  message`, the lines around it, a caret and the hint; the counts last. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], terminal: Terminal): string {
  return diagnosticsLines(diagnostics, terminal)
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns the lines of `diagnosticsText`. */
export function diagnosticsLines(diagnostics: readonly Diagnostic[], terminal: Terminal): readonly string[] {
  return diagnostics.length === 0 ? [] : [...uncountedLines(diagnostics, terminal), diagnosticCounts(diagnostics)];
}

/** Returns the lines of `diagnosticsText` without the counts. */
export function uncountedLines(diagnostics: readonly Diagnostic[], terminal: Terminal): readonly string[] {
  const all = foldWarnings(mergeEqual(sortDiagnostics(diagnostics)), terminal);
  const shown = chooseBySeverity(all, terminal.full === true ? all.length : mostDiagnostics);
  const lines = shown.flatMap((findings) => (findings.similar === 0 ? findingLines(findings, terminal) : foldedLines(findings, terminal)));
  const more = diagnostics.length - shown.reduce((sum, one) => sum + one.all.length + one.similar, 0);
  return [...lines, ...(more > 0 ? [`and ${more} more; --full prints them`] : [])];
}

/** Findings, and how many more of their code are not shown. */
type FoldedFindings = EqualFindings<Diagnostic> & { readonly similar: number };

/** The most warnings of one code that are all shown, and how many of more are. */
export const mostOfCode = 3;
const shownOfCode = 1;

/** Folds warnings and notices of a code with many of them; errors are all shown. */
function foldWarnings(findings: readonly EqualFindings<Diagnostic>[], { full = false }: Terminal): readonly FoldedFindings[] {
  const byCode = new Map<string, EqualFindings<Diagnostic>[]>();
  const indexes = findings.map((one) => {
    addToGroup(byCode, one.first.code, one);
    return (byCode.get(one.first.code)?.length ?? 0) - 1;
  });
  return findings.flatMap((one, at): readonly FoldedFindings[] => {
    const same = byCode.get(one.first.code) ?? [];
    const index = indexes[at] ?? 0;
    if (full || one.first.severity === 'error' || same.length <= mostOfCode) return [{ ...one, similar: 0 }];
    if (index >= shownOfCode) return [];
    const rest = index === shownOfCode - 1 ? same.slice(shownOfCode) : [];
    return [{ ...one, similar: rest.reduce((sum, { all }) => sum + all.length, 0) }];
  });
}

/** Returns all findings in their order; where there are more, the most severe ones. */
function chooseBySeverity(sorted: readonly FoldedFindings[], most: number): readonly FoldedFindings[] {
  if (sorted.length <= most) return sorted;
  const chosen = new Set(severities.flatMap((severity) => sorted.filter(({ first }) => first.severity === severity)).slice(0, most));
  return sorted.filter((one) => chosen.has(one));
}

/** Returns the first finding of a code without the lines around it, and the count of the others. */
function foldedLines({ first, message, similar }: FoldedFindings, terminal: Terminal): readonly string[] {
  const { frame: _, hint: __, ...rest } = first;
  const count = `(and ${plural(similar, `more ${first.severity}`)} of this code; --full prints them)`;
  return diagnosticLines({ ...rest, message: `${message} ${count}` }, terminal);
}

function findingLines({ first, message, all }: EqualFindings<Diagnostic>, terminal: Terminal): readonly string[] {
  if (all.length === 1) return diagnosticLines(first, terminal);
  const { at: _, resource: __, ...rest } = first;
  return [...diagnosticLines({ ...rest, message }, terminal), ...equalPlaceLines(all, terminal, 2)];
}

/** Returns a line for each connection of equal findings: `Connection/db  access/db.yaml:3:1`. */
export function equalPlaceLines(
  all: readonly Pick<Diagnostic, 'resource' | 'at'>[],
  terminal: Terminal,
  indent: number,
): readonly string[] {
  const shown = terminal.full === true ? all : all.slice(0, mostConnections);
  const start = ' '.repeat(indent);
  const lines = shown.flatMap(({ resource = '', at }) => {
    const place = at === undefined ? [] : [...gap, { text: escapeTerminal(formatPosition(at)), paint: terminal.color.dim, noBreak: true }];
    return wrap([{ text: start }, { text: escapeTerminal(resource) }, ...place], terminal, indent + 2);
  });
  return shown.length === all.length ? lines : [...lines, `${start}and ${all.length - shown.length} more; --full prints them`];
}

function diagnosticLines(diagnostic: Diagnostic, terminal: Terminal): readonly string[] {
  const { at, frame, hint, severity } = diagnostic;
  const paint = paintOf(severity, terminal.color);
  const place = at === undefined ? escapeTerminal(diagnostic.resource ?? '') : escapeTerminal(`${at.file}:${at.line}:${at.column}`);
  const head: Span[] = [
    ...(place === '' ? [] : [{ text: place, paint: terminal.color.bold }]),
    { text: severity, paint },
    { text: escapeTerminal(diagnostic.code), paint: terminal.color.dim },
    ...gap,
    ...withoutBreak(words(escapeTerminal(diagnostic.message))),
  ];
  const lines = wrap(head, terminal, 2);
  if (frame !== undefined && frame.lines.length > 0) return [...lines, ...frameLines(frame, hint, { terminal, paint })];
  return hint === undefined ? lines : [...lines, ...wrap([{ text: '  ' }, ...words(escapeTerminal(hint))], terminal, 2)];
}

function paintOf(severity: Severity, color: Palette): Paint {
  const paints = { error: color.red, warning: color.yellow, notice: color.cyan } as const;
  return paints[severity];
}

/** Returns the lines around an error with their numbers, a caret below it, and the hint beside or below the caret. */
function frameLines(
  frame: CodeFrame,
  hint: string | undefined,
  { terminal, paint }: { readonly terminal: Terminal; readonly paint: Paint },
): readonly string[] {
  const columns = widthFor(terminal);
  const { dim } = terminal.color;
  const digits = Math.max(2, String(frame.line + frame.lines.length - 1).length);
  const gutter = digits + 5;
  const { cut, start, length } = markOf(frame, columns - gutter);
  const code = frame.lines.map((line, index) => {
    const number = String(frame.line + index).padStart(digits);
    return `${dim(`  ${number} |`)} ${clip(dropColumns(escapeTerminal(line), cut), columns - gutter)}`.trimEnd();
  });
  const margin = dim(`  ${' '.repeat(digits)} |`);
  const caret = `${margin} ${' '.repeat(start)}${paint('^'.repeat(length))}`;
  if (hint === undefined) return [...code, caret];
  const text = escapeTerminal(hint);
  if (gutter + start + length + 2 + visibleWidth(text) <= columns) return [...code, `${caret}  ${text}`.trimEnd()];
  return [...code, caret, ...wrap([{ text: ' '.repeat(gutter) }, ...words(text)], terminal, gutter)];
}

type Mark = { readonly cut: number; readonly start: number; readonly length: number };

/** Returns the position of the caret, and the number of columns cut before it so that it is visible. */
function markOf(frame: CodeFrame, room: number): Mark {
  const marked = frame.lines.at(-1) ?? '';
  const from = Math.max(0, frame.caret.column - 1);
  const start = visibleWidth(escapeTerminal(marked.slice(0, from)));
  const end = visibleWidth(escapeTerminal(marked.slice(0, from + frame.caret.length)));
  const length = Math.max(1, end - start);
  const cut = start + Math.min(length, 20) <= room ? 0 : start - Math.floor(room / 3);
  return { cut, start: start - cut, length: Math.min(length, room - start + cut) };
}

function dropColumns(text: string, columns: number): string {
  if (columns === 0 || text === '') return text;
  let width = 0;
  let end = 0;
  for (const character of text) {
    if (width > columns) break;
    width += visibleWidth(character);
    end += character.length;
  }
  return `…${text.slice(end)}`;
}
