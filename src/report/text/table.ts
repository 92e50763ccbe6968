import { largestOf } from '../../model/collections.ts';
import type { TableListing } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { clip, pad, plainPalette, visibleWidth, words, wrap } from '../wrap.ts';

const between = '  ';

/** Returns rows in aligned columns under upper-case headers, clipped or wrapped to `columns`; undefined clips nothing. */
export function tableText({ headers, rows, details = [], wraps = false }: TableListing, columns: number | undefined): string {
  const room = columns ?? Number.POSITIVE_INFINITY;
  const [header = '', ...lines] = wraps ? wrappedLines(headers, rows, room) : tableLines(headers, rows, columns);
  const detailsOf = (index: number): readonly string[] => (details[index] ?? []).map((line) => clip(`  ${escapeTerminal(line)}`, room));
  return [header, ...lines.flatMap((line, index) => [line, ...detailsOf(index)])].map((line) => `${line}\n`).join('');
}

/** Returns the lines of a table: the header, then one for each row. */
export function tableLines(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): readonly string[] {
  const room = columns ?? Number.POSITIVE_INFINITY;
  const { cells, widths } = fitCells(headers, rows, room);
  return cells.map((row) => {
    const line = widths.map((width, index) => pad(clip(row[index] ?? '', width), width)).join(between);
    return clip(line.trimEnd(), room);
  });
}

/** Returns the lines of a table whose cells continue below each other where a line has no room. */
function wrappedLines(headers: readonly string[], rows: readonly (readonly string[])[], room: number): readonly string[] {
  const { cells, widths } = fitCells(headers, rows, room);
  const lineOf = (parts: readonly (readonly string[])[], line: number): string =>
    parts.map((part, index) => pad(part[line] ?? '', widths[index] ?? 0)).join(between);
  return cells.flatMap((row) => {
    const parts = row.map((text, index) => wrap(words(text), { color: plainPalette, columns: widths[index] ?? 0, isExact: true }, 0));
    const height = largestOf(
      parts.map(({ length }) => length),
      1,
    );
    return Array.from({ length: height }, (_, line) => lineOf(parts, line).trimEnd());
  });
}

type FittedCells = { readonly cells: readonly (readonly string[])[]; readonly widths: readonly number[] };

/** Returns the cells of a table, escaped, and the widths of its columns. */
function fitCells(headers: readonly string[], rows: readonly (readonly string[])[], room: number): FittedCells {
  const cells = [headers.map((header) => header.toUpperCase()), ...rows].map((row) => row.map(escapeTerminal));
  const natural = headers.map((_, index) => cells.reduce((most, row) => Math.max(most, visibleWidth(row[index] ?? '')), 0));
  return { cells, widths: fitWidths(natural, room - between.length * (headers.length - 1)) };
}

/** Fits widths into the room: the first column, with the names, keeps up to half; the widest other columns get one width. */
function fitWidths(natural: readonly number[], room: number): readonly number[] {
  const [name = 0, ...others] = natural;
  if (natural.reduce((sum, width) => sum + width, 0) <= room) return natural;
  const first = Math.min(name, Math.max(1, Math.floor(room / 2)));
  return [first, ...cutToFit(others, room - first)];
}

function cutToFit(natural: readonly number[], room: number): readonly number[] {
  const total = (most: number): number => natural.reduce((sum, width) => sum + Math.min(width, most), 0);
  let least = 1;
  let most = largestOf(natural, 1);
  if (total(most) <= room) return natural;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (total(middle) <= room) least = middle;
    else most = middle - 1;
  }
  return natural.map((width) => Math.min(width, least));
}
