import type { RowPart, ChangeRow } from '../subjects/change-rows.ts';
import { wrap, gap, withoutBreak, words, type Span } from './wrap.ts';
import { widthFor, type Terminal } from './terminal.ts';
import { distinctParts } from '../wording/value.ts';
import { clip, pad, visibleWidth } from './width.ts';

const indent = 6;
const widestLabel = 28;
const below = 10;

/** Returns rows as lines with their values in one column. A value that does not fit there goes below its label. */
export function rowLines(rows: readonly ChangeRow[], terminal: Terminal): readonly string[] {
  const widths = rows.map(({ label }) => visibleWidth(label)).filter((width) => width <= widestLabel);
  const column = Math.max(0, ...widths);
  return rows.flatMap((row) => lineOf(row, column, terminal));
}

function lineOf(row: ChangeRow, column: number, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  const label = pad(row.label, column);
  const at = indent + visibleWidth(label) + 2;
  const note = row.note === '' ? [] : [...gap, ...withoutBreak(words(`(${row.note})`, terminal.color.dim))];
  const oneLine = [...valuePieces(row.parts, terminal), ...note];
  const head: Span[] = [{ text: ' '.repeat(indent) }, { text: label }];
  if (at + widthOf(oneLine) <= columns) return wrap([...head, ...gap, ...withoutBreak(oneLine)], { columns, indent: at });
  const blocks = blocksOf(row.parts, oneLine, terminal, note);
  const widest = Math.max(...blocks.flat().map((piece) => visibleWidth(piece.text)));
  if (visibleWidth(row.label) <= column && at + 2 + widest <= columns) {
    return blocks.flatMap((block, index) => {
      const start = index === 0 ? [...head, ...gap] : [{ text: ' '.repeat(at) }];
      return wrap([...start, ...withoutBreak(block)], { columns, indent: index === 0 ? at : at + 2 });
    });
  }
  const lines = blocks.flatMap((block, index) => wrap([{ text: ' '.repeat(below) }, ...block], { columns, indent: below + index * 2 }));
  return [...wrap([{ text: ' '.repeat(indent) }, { text: row.label }], { columns, indent: below }), ...lines];
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
