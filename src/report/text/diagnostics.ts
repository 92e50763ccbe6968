import { type CodeFrame, type Diagnostic, type Severity, sortDiagnostics } from '../../model/diagnostic.ts';
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
import { type EqualFindings, mergeEqual, placesText } from '../rows/equal-findings.ts';
import { diagnosticCounts } from '../wording/diagnostics.ts';
import { plural } from '../wording/phrases.ts';

/** The kinds of diagnostics that are printed without `full`. */
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
  const sorted = sortDiagnostics(diagnostics);
  const { full = false } = terminal;
  const all = full ? sorted.map((first) => ({ first, messages: [first.message], all: [first] })) : mergeEqual(sorted);
  const shown = chooseBySeverity(all, full ? all.length : mostDiagnostics);
  const lines = shown.flatMap((findings) => findingLines(findings, terminal));
  const more = diagnostics.length - shown.reduce((sum, one) => sum + one.all.length, 0);
  return [...lines, ...(more > 0 ? [`and ${more} more; --full prints them`] : [])];
}

/** Returns all findings in their order; where there are more, the most severe ones. */
function chooseBySeverity(sorted: readonly EqualFindings<Diagnostic>[], most: number): readonly EqualFindings<Diagnostic>[] {
  if (sorted.length <= most) return sorted;
  const chosen = new Set(severities.flatMap((severity) => sorted.filter(({ first }) => first.severity === severity)).slice(0, most));
  return sorted.filter((one) => chosen.has(one));
}

/** Returns a finding with its lines, or several of one kind in one line, with one fix and their places. */
function findingLines(
  { first, messages: [message = '', ...others], all }: EqualFindings<Diagnostic>,
  terminal: Terminal,
): readonly string[] {
  if (all.length === 1) return diagnosticLines(first, terminal);
  const { at: _, resource: __, frame: ___, hint, ...rest } = first;
  const places = placesText(all, {});
  const more = [...others, ...(hint === undefined ? [] : [hint])].map((text) => words(escapeTerminal(text)));
  const where = places === '' ? [] : [words(`${places} (--full prints each)`, terminal.color.dim)];
  const below = [...more, ...where].flatMap((spans) => wrap([{ text: '  ' }, ...spans], terminal, 2));
  return [...diagnosticLines({ ...rest, message }, terminal, all.length), ...below];
}

function diagnosticLines(diagnostic: Diagnostic, terminal: Terminal, count = 1): readonly string[] {
  const { at, frame, hint, severity } = diagnostic;
  const paint = paintOf(severity, terminal.color);
  const place = at === undefined ? escapeTerminal(diagnostic.resource ?? '') : escapeTerminal(`${at.file}:${at.line}:${at.column}`);
  const head: Span[] = [
    ...(place === '' ? [] : [{ text: place, paint: terminal.color.bold }]),
    { text: count === 1 ? severity : plural(count, severity), paint },
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
