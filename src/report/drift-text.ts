import type { Drift } from '../model/result/drift.ts';
import { adoptionSummary, driftRows, driftSummary, unwatchedList, type DriftRow } from './subjects/drift.ts';
import { changePosition } from './subjects/change-rows.ts';
import { escapeTerminal } from './escape.ts';
import { wrap, gap, withoutBreak, words, type Span } from './text/wrap.ts';
import { shortList } from './wording/counts.ts';
import { headlineLines } from './text/protection.ts';
import { reachLines } from './reach.ts';
import { rowLines } from './text/rows.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './text/terminal.ts';

const listed = 5;

/** Drifts for people at a terminal: one section a target, what somebody did to each object, the summary last. */
export function driftText(drifts: readonly Drift[], terminal: Terminal): string {
  return drifts.map((drift) => `${sectionLines(drift, terminal).join('\n')}\n`).join('\n\n');
}

function sectionLines(drift: Drift, terminal: Terminal): readonly string[] {
  const { bold, dim } = terminal.color;
  const columns = widthFor(terminal);
  const { target } = drift.plan;
  const title: Span[] = [
    { text: escapeTerminal(target.name), paint: bold },
    ...gap,
    { text: escapeTerminal(target.url), paint: dim, noBreak: true },
  ];
  const rows = driftRows(drift);
  const means = { protection: drift.protection, orphans: [] };
  const told = headlineLines(means, terminal);
  const unwatched = unwatchedList(drift);
  const adopted = adoptionSummary(drift);
  const blocks = [
    told,
    reachLines(means, terminal),
    ...rows.map((row) => objectLines(row, terminal)),
    unwatched === undefined
      ? []
      : [
          ...wrap(words(unwatched.title), { columns, indent: 2 }),
          ...wrap([{ text: '    ' }, ...words(shortList(unwatched.entries, listed).join(', '), dim)], { columns, indent: 4 }),
        ],
    wrap(words(driftSummary(drift, rows), bold), { columns, indent: 0 }),
    adopted === undefined ? [] : wrap(words(adopted, bold), { columns, indent: 0 }),
  ];
  return [...wrap(title, { columns, indent: 2 }), ...blocks.flatMap((block) => (block.length === 0 ? [] : ['', ...block]))];
}

function objectLines({ change, sign, note, rows, edges, writers }: DriftRow, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const columns = widthFor(terminal);
  const place = changePosition(change);
  const head: Span[] = [{ text: '  ' }, { text: `${sign} ${escapeTerminal(change.id)}`, paint: paintOf(sign, color) }];
  if (place !== '') head.push(...gap, { text: place, paint: color.dim, noBreak: true });
  if (note !== '') head.push(...gap, ...withoutBreak(words(note)));
  const ends = edges.map((edge): Span => ({ text: `${edge.sign} ${edge.text}`, paint: edge.sign === '+' ? color.green : color.red }));
  return [
    ...wrap(head, { columns, indent: 6 }),
    ...rowLines(rows, terminal),
    ...ends.flatMap((end) => wrap([{ text: '      ' }, end], { columns, indent: 8 })),
    ...writers.flatMap((writer) => wrap([{ text: '      ' }, ...words(writer, color.dim)], { columns, indent: 8 })),
  ];
}

function paintOf(sign: DriftRow['sign'], { cyan, red, yellow, green }: Palette): Paint {
  return { '+': green, '~': yellow, '-': red, '!': cyan }[sign];
}
