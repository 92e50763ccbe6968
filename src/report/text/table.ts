import { escapeTerminal } from '../escape.ts';
import { clip, pad, visibleWidth } from './width.ts';

const between = '  ';

/** Returns rows in aligned columns under upper-case headers, clipped to `columns`; undefined clips nothing. */
export function tableText(headers: readonly string[], rows: readonly (readonly string[])[], columns: number | undefined): string {
  return tableLines(headers, rows, columns)
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns the lines of a table: the header, then one for each row. */
export function tableLines(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): readonly string[] {
  const cells = [headers.map((header) => header.toUpperCase()), ...rows].map((row) => row.map(escapeTerminal));
  const natural = headers.map((_, index) => cells.reduce((most, row) => Math.max(most, visibleWidth(row[index] ?? '')), 0));
  const room = columns ?? Number.POSITIVE_INFINITY;
  const widths = fitWidths(natural, room - between.length * (headers.length - 1));
  return cells.map((row) => {
    const line = widths.map((width, index) => pad(clip(row[index] ?? '', width), width)).join(between);
    return clip(line.trimEnd(), room);
  });
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
  let most = Math.max(1, ...natural);
  if (total(most) <= room) return natural;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (total(middle) <= room) least = middle;
    else most = middle - 1;
  }
  return natural.map((width) => Math.min(width, least));
}
