import { appendAll, largestOf } from '../../model/collections.ts';
import { type Diagnostic, formatPosition } from '../../model/diagnostic.ts';
import type { Entry, FieldRow, ResultsBlock, RowPart, RowsBlock, Sign } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { foldEntries, foldSimilar, mostEntries, othersText, withoutDetails } from '../rows/fold-similar.ts';
import { distinctParts, plural, shortPosition } from '../wording/phrases.ts';
import {
  clip,
  gap,
  pad,
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
import { blockLines, effectPaint } from './lines.ts';

const indent = 6;
const widestLabel = 28;
const below = 10;

/** Returns rows as lines with their values in one column. A value that does not fit there goes below its label. */
function fieldLines(rows: readonly FieldRow[], terminal: Terminal): readonly string[] {
  const widths = rows.map(({ label }) => visibleWidth(label)).filter((width) => width <= widestLabel);
  const column = largestOf(widths, 0);
  return rows.flatMap((row) => lineOf(row, column, terminal));
}

function lineOf(row: FieldRow, column: number, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  const label = pad(row.label, column);
  const at = indent + visibleWidth(label) + 2;
  const note = row.note === '' ? [] : [...gap, ...withoutBreak(words(`(${row.note})`, terminal.color.dim))];
  const oneLine = [...valuePieces(row.parts, terminal), ...note];
  const head: Span[] = [{ text: ' '.repeat(indent) }, { text: label }];
  if (at + widthOf(oneLine) <= columns) return wrap([...head, ...gap, ...withoutBreak(oneLine)], terminal, at);
  const blocks = blocksOf(row.parts, oneLine, terminal, note);
  const widest = largestOf(
    blocks.flat().map((piece) => visibleWidth(piece.text)),
    0,
  );
  if (visibleWidth(row.label) <= column && at + 2 + widest <= columns) {
    return blocks.flatMap((block, index) => {
      const start = index === 0 ? [...head, ...gap] : [{ text: ' '.repeat(at) }];
      return wrap([...start, ...withoutBreak(block)], terminal, index === 0 ? at : at + 2);
    });
  }
  const lines = blocks.flatMap((block, index) => wrap([{ text: ' '.repeat(below) }, ...block], terminal, below + index * 2));
  return [...wrap([{ text: ' '.repeat(indent) }, { text: row.label }], terminal, below), ...lines];
}

/** Returns the old value above the new one if the two need more than a line. */
function blocksOf(
  parts: readonly RowPart[],
  oneLine: readonly Span[],
  terminal: Terminal,
  note: readonly Span[],
): readonly (readonly Span[])[] {
  const [only] = parts;
  if (parts.length !== 1 || only?.sign !== '~') return [oneLine];
  const [before, after] = distinctParts(only.before, only.after, longest(terminal));
  return [words(before), [arrow(terminal), ...words(after), ...note]];
}

function valuePieces(parts: readonly RowPart[], terminal: Terminal): readonly Span[] {
  const { color } = terminal;
  return parts.flatMap((part, index): readonly Span[] => {
    if (part.sign === '~') return [...words(part.before), arrow(terminal), ...words(part.after)];
    const text = clip(part.text, longest(terminal));
    if (part.sign === '') return words(index === parts.length - 1 ? text : `${text},`);
    const paint = part.sign === '+' ? color.green : color.red;
    const [first = '', ...rest] = text.split(' ');
    const signed = [`${part.sign} ${first}`, ...rest].map((word) => ({ text: word, paint }));
    return index === 0 ? signed : [...gap, ...withoutBreak(signed)];
  });
}

function arrow({ color }: Terminal): Span {
  return { text: '→', paint: color.dim };
}

/** Returns the most columns that one value takes at a terminal: a few lines. */
function longest(terminal: Terminal): number {
  return widthFor(terminal) * 4;
}

function widthOf(pieces: readonly Span[]): number {
  return pieces.reduce((sum, piece) => sum + visibleWidth(piece.text) + (piece.noBreak === true ? 0 : 1), 0) - 1;
}

/** The most lines of an entry that no empty line separates from the next one. */
const mostDense = 2;

/** Returns the lines of rows: a title, what they do together, then each entry with its details. */
export function rowsLines({ title, headlines, entries, isShort = false }: RowsBlock, terminal: Terminal): readonly string[] {
  const heading = title === '' ? [] : wrap(words(title, terminal.color.bold), terminal, 2);
  const together = headlines === undefined ? [] : blockLines(headlines, terminal);
  const lines = [heading, together].flatMap((part) => (part.length === 0 ? [] : isShort ? part : [...part, '']));
  let isLong = false;
  for (const { entry, others } of foldEntries(isShort ? entries.map(withoutDetails) : entries, terminal)) {
    const own = [...entryLines(entry, terminal), ...othersLines(others, terminal)];
    if (!isShort && (isLong || (own.length > mostDense && lines.length > 0 && lines.at(-1) !== ''))) lines.push('');
    appendAll(lines, own);
    isLong = own.length > mostDense;
  }
  return lines;
}

function signPaint(sign: Sign, { cyan, red, yellow, green }: Palette): Paint {
  return { '+': green, '~': yellow, '-': red, '!': cyan, '=': cyan }[sign];
}

/** Returns an entry with its details; its risk and remarks are beside its name where they fit, and below its details elsewhere. */
function entryLines(entry: Entry, terminal: Terminal): readonly string[] {
  const { sign, name, at, note, effect, risk, fields, lines, warnings } = entry;
  const { color, full = false } = terminal;
  const head: Span[] = [
    { text: '  ' },
    { text: `${sign} ${escapeTerminal(name)}`, paint: signPaint(sign, color) },
    ...(at === undefined ? [] : [...gap, { text: shortPosition(at), paint: color.dim, noBreak: true }]),
    ...(note === '' ? [] : [...gap, ...withoutBreak(words(note))]),
  ];
  const line = (text: string, paint?: Paint): readonly string[] => wrap([{ text: '      ' }, ...words(text, paint)], terminal, 8);
  const major = full ? fields : fields.filter(({ isMinor }) => isMinor !== true);
  const shown = fields.length - major.length > 1 ? major : fields;
  const counted = (count: number, what: string): readonly string[] =>
    count <= 0 ? [] : line(`and ${plural(count, `more ${what}`)}; --full prints them`, color.dim);
  const paints = { '-': color.red, '+': color.green, '!': color.yellow, ' ': color.dim };
  const [remarks, ends] = [lines.filter((one) => one.sign === ' '), lines.filter((one) => one.sign !== ' ')];
  const most = full ? ends.length : mostEntries;
  const misfits: string[] = [];
  for (const { text, paint } of [
    ...(risk === '' ? [] : [{ text: `risk: ${risk}`, paint: effectPaint(effect, color) }]),
    ...remarks.map((one) => ({ text: one.text, paint: color.dim })),
  ]) {
    const beside = [...gap, ...withoutBreak(words(text, paint))];
    if (wrap([...head, ...beside], terminal, 6).length === 1) appendAll(head, beside);
    else appendAll(misfits, line(text, paint));
  }
  return [
    ...wrap(head, terminal, 6),
    ...fieldLines(shown, terminal),
    ...counted(fields.length - shown.length, 'value'),
    ...ends.slice(0, most).flatMap((one) => line(`${one.sign} ${one.text}`, paints[one.sign])),
    ...counted(ends.length - most, 'line'),
    ...warningLines(warnings, terminal),
    ...misfits,
  ];
}

/** Returns the warnings about an entry. */
function warningLines(warnings: readonly Diagnostic[], terminal: Terminal): readonly string[] {
  const { bold, dim, yellow } = terminal.color;
  return warnings.flatMap(({ code, message, hint, at }) => {
    const place = at === undefined ? [] : [{ text: escapeTerminal(formatPosition(at)), paint: bold }];
    const head = [{ text: '      ' }, ...place, { text: 'warning', paint: yellow }, { text: escapeTerminal(code), paint: dim }, ...gap];
    return [
      ...wrap([...head, ...withoutBreak(words(escapeTerminal(message)))], terminal, 8),
      ...(hint === undefined ? [] : wrap([{ text: '        ' }, ...words(escapeTerminal(hint), dim)], terminal, 8)),
    ];
  });
}

/** Returns a line about the entries that are similar to the one above it. */
function othersLines(others: readonly { readonly name: string }[], terminal: Terminal): readonly string[] {
  if (others.length === 0) return [];
  return wrap([{ text: '  ' }, ...words(`${othersText(others)}; --full prints them`)], terminal, 6);
}

const wordColumn = 11;

/** Returns results, each with its reason; many similar ones only with `full`. */
export function resultLines({ results }: ResultsBlock, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const column = wordColumn + 4;
  return foldSimilar(results, (one) => JSON.stringify({ ...one, name: one.name.replace(/\/.*$/s, '') }), terminal).flatMap(
    ({ entry: { name, word, sign, code, message, hint }, others }) => {
      const paint = sign === undefined ? color.dim : signPaint(sign, color);
      const head = [{ text: '  ' }, { text: pad(word, wordColumn), paint }, ...gap, { text: escapeTerminal(name), noBreak: true }];
      const start = code === undefined ? [] : [{ text: escapeTerminal(code), paint: color.dim }, ...gap];
      const [first = [], ...rest] = [message, hint].flatMap((text) => (text === undefined ? [] : [words(escapeTerminal(text))]));
      const reason = [...start, ...(start.length === 0 ? first : withoutBreak(first))];
      return [
        ...wrap(head, terminal, column),
        ...[reason, ...rest].flatMap((spans) =>
          spans.length === 0 ? [] : wrap([{ text: ' '.repeat(column) }, ...spans], terminal, column),
        ),
        ...othersLines(others, terminal),
      ];
    },
  );
}
