import type { Position } from '../model/diagnostic.ts';
import type { Explanation, ExplanationRow } from '../model/explanation.ts';
import type { Value } from '../model/plan.ts';
import { escapeTerminal } from './escape.ts';
import { flow, gap, glued, words, type Piece } from './flow.ts';
import { tableLines } from './table.ts';
import { widthFor, type Terminal } from './terminal.ts';
import { pathText, valueText } from './value.ts';

/** A resource field by field: desired, live and (where there is one) base in columns, the reason below each. */
export function explainText({ id, at, summary, rows }: Explanation, terminal: Terminal): string {
  const columns = widthFor(terminal);
  const { bold, dim } = terminal.colour;
  const place: Piece[] = at === undefined ? [] : [...gap, { text: placeText(at), paint: dim, glue: true }];
  const title = flow([{ text: escapeTerminal(id), paint: bold }, ...place], { columns, indent: 2 });
  const said = flow(words(escapeTerminal(summary)), { columns, indent: 2 });
  if (rows.length === 0) return `${[...title, ...said].join('\n')}\n`;
  const withBase = rows.some((row) => row.base !== undefined);
  const headers = ['field', 'desired', 'live', ...(withBase ? ['base'] : []), 'status'];
  const cells = rows.map((row) => [
    pathText(row.path),
    side(row.desired),
    side(row.live),
    ...(withBase ? [side(row.base)] : []),
    row.status,
  ]);
  const [header = '', ...lines] = tableLines(headers, cells, terminal.columns === undefined ? undefined : columns);
  const body = rows.flatMap((row, index) => [statusLine(lines[index] ?? '', row, terminal), ...reasonLines(row, terminal)]);
  return `${[...title, ...said, '', dim(header), ...body].join('\n')}\n`;
}

function side(value: Value | undefined): string {
  return value === undefined ? '–' : valueText(value);
}

function statusLine(line: string, { status }: ExplanationRow, { colour }: Terminal): string {
  if (status === 'differs') return colour.yellow(line);
  return status === 'same' ? line : colour.cyan(line);
}

function reasonLines({ at, why }: ExplanationRow, terminal: Terminal): readonly string[] {
  const place = at === undefined ? [] : [{ text: placeText(at), paint: terminal.colour.dim }];
  const reason = why === '' ? [] : words(escapeTerminal(why), terminal.colour.dim);
  if (place.length + reason.length === 0) return [];
  const pieces = place.length === 0 ? reason : [...place, ...gap, ...glued(reason)];
  return flow([{ text: '    ' }, ...pieces], { columns: widthFor(terminal), indent: 4 });
}

function placeText({ file, line }: Position): string {
  return `${escapeTerminal(file)}:${line}`;
}
