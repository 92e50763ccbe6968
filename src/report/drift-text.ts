import type { Drift } from '../model/result/drift.ts';
import { adoptionSummary, driftRows, driftSummary, unwatchedList, type DriftRow } from './drift-rows.ts';
import { placeText } from './change-rows.ts';
import { escapeTerminal } from './escape.ts';
import { flow, gap, glued, words, type Piece } from './flow.ts';
import { shortList } from './counts.ts';
import { headlineLines } from './protection.ts';
import { reachLines } from './reach.ts';
import { rowLines } from './row-text.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';

const listed = 5;

/** Drifts for people at a terminal: one section a target, what somebody did to each object, the summary last. */
export function driftText(drifts: readonly Drift[], terminal: Terminal): string {
  return drifts.map((drift) => `${sectionLines(drift, terminal).join('\n')}\n`).join('\n\n');
}

function sectionLines(drift: Drift, terminal: Terminal): readonly string[] {
  const { bold, dim } = terminal.colour;
  const columns = widthFor(terminal);
  const { target } = drift.plan;
  const title: Piece[] = [
    { text: escapeTerminal(target.name), paint: bold },
    ...gap,
    { text: escapeTerminal(target.url), paint: dim, glue: true },
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
          ...flow(words(unwatched.title), { columns, indent: 2 }),
          ...flow([{ text: '    ' }, ...words(shortList(unwatched.entries, listed).join(', '), dim)], { columns, indent: 4 }),
        ],
    flow(words(driftSummary(drift, rows), bold), { columns, indent: 0 }),
    adopted === undefined ? [] : flow(words(adopted, bold), { columns, indent: 0 }),
  ];
  return [...flow(title, { columns, indent: 2 }), ...blocks.flatMap((block) => (block.length === 0 ? [] : ['', ...block]))];
}

function objectLines({ change, sign, note, rows, edges, writers }: DriftRow, terminal: Terminal): readonly string[] {
  const { colour } = terminal;
  const columns = widthFor(terminal);
  const place = placeText(change);
  const head: Piece[] = [{ text: '  ' }, { text: `${sign} ${escapeTerminal(change.id)}`, paint: paintOf(sign, colour) }];
  if (place !== '') head.push(...gap, { text: place, paint: colour.dim, glue: true });
  if (note !== '') head.push(...gap, ...glued(words(note)));
  const ends = edges.map((edge): Piece => ({ text: `${edge.sign} ${edge.text}`, paint: edge.sign === '+' ? colour.green : colour.red }));
  return [
    ...flow(head, { columns, indent: 6 }),
    ...rowLines(rows, terminal),
    ...ends.flatMap((end) => flow([{ text: '      ' }, end], { columns, indent: 8 })),
    ...writers.flatMap((writer) => flow([{ text: '      ' }, ...words(writer, colour.dim)], { columns, indent: 8 })),
  ];
}

function paintOf(sign: DriftRow['sign'], { cyan, red, yellow, green }: Palette): Paint {
  return { '+': green, '~': yellow, '-': red, '!': cyan }[sign];
}
