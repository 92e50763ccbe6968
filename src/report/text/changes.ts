import { isWritten, type AssessedChange } from '../../model/plan/plan.ts';
import type { SampleChange } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import { actionSymbols, changePosition, changeRows, edgeChangeRows, edgeText, risksText } from '../subjects/change-rows.ts';
import type { DriftedObject } from '../document.ts';
import type { ChangeGroup, GroupedChange } from '../subjects/groups.ts';
import { shortList } from '../wording/counts.ts';
import { sampleChangeLine, sampleSign } from '../wording/sample-changes.ts';
import { pathText } from '../wording/value.ts';
import { riskPaint } from './protection.ts';
import { rowLines } from './rows.ts';
import { widthFor, type Paint, type Palette, type Terminal } from './terminal.ts';
import { gap, withoutBreak, words, wrap, type Span } from './wrap.ts';

/** Returns the lines of a group: its title, each change with its details, and the attachments that no change writes. */
export function groupLines(group: ChangeGroup, terminal: Terminal): readonly string[] {
  const { title, changes, edges } = group;
  const { bold, cyan } = terminal.color;
  const columns = widthFor(terminal);
  const lines = title === '' ? [] : [...wrap(words(title, bold), { columns, indent: 2 }), ''];
  if (group.name === 'elsewhere') return [...lines.slice(0, -1), ...changes.flatMap((grouped) => shortLines(grouped, terminal))];
  let detailed = false;
  for (const grouped of changes) {
    const details = detailLines(grouped, group, terminal);
    if (detailed || (details.length > 0 && lines.length > 0 && lines.at(-1) !== '')) lines.push('');
    lines.push(...headline(grouped, group, terminal), ...details);
    detailed = details.length > 0;
  }
  if (detailed && edges.length > 0) lines.push('');
  const note = title === '' ? ', attached by hand, left so' : '';
  for (const edge of edges) {
    const pieces = [{ text: '  ' }, { text: '=', paint: cyan }, { text: edgeText(edge), paint: cyan }, ...words(note)];
    lines.push(...wrap(pieces, { columns, indent: 6 }));
  }
  return lines;
}

/** Returns a change in one line: the names of its differences, without values. */
function shortLines(grouped: GroupedChange, terminal: Terminal): readonly string[] {
  const { change } = grouped;
  const { color } = terminal;
  const difference = differenceText(grouped);
  const named = { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint: actionPaint(change, color) };
  const pieces = [{ text: '  ' }, named, ...(difference === '' ? [] : [...gap, ...withoutBreak(words(difference, color.dim))])];
  return wrap(pieces, { columns: widthFor(terminal), indent: 6 });
}

/** Returns the differences in one line without values, escaped. */
function differenceText({ change, edges, note }: GroupedChange): string {
  const isWhole = change.action === 'create' || change.action === 'delete';
  const labels = isWhole ? [] : [...new Set(changeRows(change).map(({ label }) => label))];
  const ends = edgeChangeRows(change, edges, true).map(({ sign, text }) => `${sign} ${text}`);
  const risks = escapeTerminal(risksText(change.risks));
  const difference = [...(note === '' ? [] : [note]), ...shortList(labels, 4), ...shortList(ends, 2)].join(', ');
  return [difference, risks].filter((text) => text !== '').join('; ');
}

function headline({ change, note: said }: GroupedChange, { name, title }: ChangeGroup, terminal: Terminal): readonly string[] {
  const paint = actionPaint(change, terminal.color);
  const note = name === 'held' && title !== '' ? '' : said;
  const place = changePosition(change);
  const pieces: Span[] = [{ text: '  ' }, { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint }];
  if (place !== '') pieces.push(...gap, { text: place, paint: terminal.color.dim, noBreak: true });
  if (note !== '') pieces.push(...gap, ...withoutBreak(words(note)));
  return wrap(pieces, { columns: widthFor(terminal), indent: 6 });
}

function actionPaint(change: AssessedChange, color: Palette): Paint {
  const { cyan, green, red, yellow } = color;
  const paints = { create: green, update: yellow, rename: yellow, delete: red, blocked: cyan, held: cyan } as const;
  return paints[change.action];
}

function detailLines({ change, edges, flips }: GroupedChange, { name, title }: ChangeGroup, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const isTitleEnough = name === 'undone' && title !== '';
  const columns = widthFor(terminal);
  const ends: Span[] = edgeChangeRows(change, edges, isTitleEnough).map(({ sign, text }) => ({
    text: `${sign} ${text}`,
    paint: sign === '+' ? color.green : color.red,
  }));
  return [
    ...rowLines(changeRows(change, isTitleEnough), terminal),
    ...ends.flatMap((end) => wrap([{ text: '      ' }, end], { columns, indent: 8 })),
    ...flips.flatMap((flip) => flipLines(flip, terminal)),
    ...carriedLines(change, terminal),
    ...riskLines(change, terminal),
  ];
}

/** Returns the risks of a change that are not neutral. */
function riskLines({ risks }: AssessedChange, terminal: Terminal): readonly string[] {
  const text = risksText(risks);
  if (text === '') return [];
  const pieces = words(`risk: ${escapeTerminal(text)}`, riskPaint(risks, terminal.color));
  return wrap([{ text: '      ' }, ...pieces], { columns: widthFor(terminal), indent: 8 });
}

/** Returns a changed sample; less protection is red. */
function flipLines(flip: SampleChange, terminal: Terminal): readonly string[] {
  const { green, red, yellow } = terminal.color;
  const paint = { '-': red, '+': green, '!': yellow }[sampleSign(flip)];
  return wrap([{ text: '      ' }, ...words(sampleChangeLine(flip), paint)], { columns: widthFor(terminal), indent: 8 });
}

/** Returns the live values that a write carries although the manifest does not state them. A change that is not written carries nothing. */
function carriedLines(change: AssessedChange, { color, ...terminal }: Terminal): readonly string[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  const names = shortList(change.carried.map(pathText), 6).join(', ');
  return wrap([{ text: '      ' }, ...words(`carries ${names}`, color.dim)], { columns: widthFor({ color, ...terminal }), indent: 8 });
}

/** Returns the lines of drifted objects, with a blank line between them. */
export function driftedLines(rows: readonly DriftedObject[], terminal: Terminal): readonly string[] {
  return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...driftRowLines(row, terminal)]);
}

function driftRowLines({ change, sign, note, rows, edges, writers }: DriftedObject, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const columns = widthFor(terminal);
  const place = changePosition(change);
  const head: Span[] = [{ text: '  ' }, { text: `${sign} ${escapeTerminal(change.id)}`, paint: signPaint(sign, color) }];
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

function signPaint(sign: DriftedObject['sign'], { cyan, red, yellow, green }: Palette): Paint {
  return { '+': green, '~': yellow, '-': red, '!': cyan }[sign];
}
