import { appendAll, largestOf } from '../../model/collections.ts';
import { type AssessedChange, type Change, highestRisk, isWritten, type Orphans, type RiskClass } from '../../model/plan/plan.ts';
import type { Headline, HeadlineVerdict, ProtectionVerdict, SampleChange } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import {
  actionSymbols,
  changePosition,
  type ChangeRow,
  changeRows,
  type DriftedObject,
  edgeChangeRows,
  edgeText,
  type RowPart,
} from '../rows/change-rows.ts';
import { foldAlike, foldSimilar, likenessOfChange, likenessOfDrift, mostEntries, othersText } from '../rows/fold-similar.ts';
import { type Diagnostic, formatPosition } from '../../model/diagnostic.ts';
import type { ChangeWarnings } from '../document.ts';
import type { ChangeGroup, GroupedChange } from '../rows/groups.ts';
import type { OutsideSection } from '../rows/outside-rows.ts';
import { plural, risksText, shortList } from '../wording/summary.ts';
import { distinctParts, pathText, sampleChangeLine, sampleSign, shortPosition } from '../wording/value.ts';
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
import { causesText, headlineConnections } from '../wording/causes.ts';

const indent = 6;
const widestLabel = 28;
const below = 10;

/** Returns rows as lines with their values in one column. A value that does not fit there goes below its label. */
function rowLines(rows: readonly ChangeRow[], terminal: Terminal): readonly string[] {
  const widths = rows.map(({ label }) => visibleWidth(label)).filter((width) => width <= widestLabel);
  const column = largestOf(widths, 0);
  return rows.flatMap((row) => lineOf(row, column, terminal));
}

function lineOf(row: ChangeRow, column: number, terminal: Terminal): readonly string[] {
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

/** Returns the lines of a group: its title, each change with its details, and the attachments that no change writes. */
export function groupLines(group: ChangeGroup, terminal: Terminal, warnings: ChangeWarnings = new Map()): readonly string[] {
  const { title, changes, edges } = group;
  const { bold, cyan } = terminal.color;
  const lines = title === '' ? [] : [...wrap(words(title, bold), terminal, 2), ''];
  if (group.name === 'elsewhere') return [...lines.slice(0, -1), ...elsewhereLines(changes, terminal)];
  let detailed = false;
  const alike = foldAlike(changes, ({ change }) => warnings.get(change.id), terminal);
  const folded = foldSimilar(alike, ({ entry }) => likenessOfChange(entry), terminal);
  for (const { entry, others: similar } of folded) {
    const grouped = entry.entry;
    const others = [entry, ...similar].flatMap((one) => [one.entry, ...one.others]).slice(1);
    const details = [...detailLines(grouped, group, terminal), ...warningLines(warnings.get(grouped.change.id) ?? [], terminal)];
    const own = [...changeLines(grouped, group, details, terminal), ...othersLines(others, terminal)];
    if (detailed || (own.length > 1 && lines.length > 0 && lines.at(-1) !== '')) lines.push('');
    appendAll(lines, own);
    detailed = own.length > 1;
  }
  if (detailed && edges.length > 0) lines.push('');
  const note = title === '' ? ' held: attached outside Ostiary' : '';
  for (const edge of edges) {
    const pieces = [{ text: '  ' }, { text: '=', paint: cyan }, { text: edgeText(edge), paint: cyan }, ...words(note)];
    appendAll(lines, wrap(pieces, terminal, 6));
  }
  return lines;
}

/** Returns unrelated changes, a line each; many only with `full`. */
function elsewhereLines(changes: readonly GroupedChange[], terminal: Terminal): readonly string[] {
  const folded = foldSimilar(changes, likenessOfChange, terminal);
  return folded.flatMap(({ entry, others }) => [...shortLines(entry, terminal), ...othersLines(others, terminal)]);
}

/** Returns a change in one line: the names of its differences, without values. */
function shortLines(grouped: GroupedChange, terminal: Terminal): readonly string[] {
  const { change } = grouped;
  const { color } = terminal;
  const difference = differenceText(grouped);
  const named = { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint: actionPaint(change, color) };
  const pieces = [{ text: '  ' }, named, ...(difference === '' ? [] : [...gap, ...withoutBreak(words(difference, color.dim))])];
  return wrap(pieces, terminal, 6);
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

function changeHeadline({ change, note: said }: GroupedChange, { name, title }: ChangeGroup, terminal: Terminal): readonly Span[] {
  const paint = actionPaint(change, terminal.color);
  const note = name === 'held' && title !== '' ? '' : said;
  const place = changePosition(change);
  const pieces: Span[] = [{ text: '  ' }, { text: `${actionSymbols[change.action]} ${escapeTerminal(change.id)}`, paint }];
  if (place !== '') appendAll(pieces, [...gap, { text: place, paint: terminal.color.dim, noBreak: true }]);
  if (note !== '') appendAll(pieces, [...gap, ...withoutBreak(words(note))]);
  return pieces;
}

/** Returns a change with its details; its risks are beside its name where they fit, and below its details elsewhere. */
function changeLines(grouped: GroupedChange, group: ChangeGroup, details: readonly string[], terminal: Terminal): readonly string[] {
  const { risks } = grouped.change;
  const head = changeHeadline(grouped, group, terminal);
  const text = risksText(risks);
  const risk = text === '' ? [] : words(`risk: ${escapeTerminal(text)}`, riskClassPaint(highestRisk(risks), terminal.color));
  const whole = risk.length === 0 ? [] : wrap([...head, ...gap, ...withoutBreak(risk)], terminal, 6);
  if (whole.length === 1) return [...whole, ...details];
  return [...wrap(head, terminal, 6), ...details, ...(risk.length === 0 ? [] : wrap([{ text: '      ' }, ...risk], terminal, 8))];
}

function actionPaint(change: AssessedChange, color: Palette): Paint {
  const { cyan, green, red, yellow } = color;
  const paints = { create: green, update: yellow, rename: yellow, delete: red, blocked: cyan, held: cyan } as const;
  return paints[change.action];
}

function detailLines(
  { change, edges, changedSamples }: GroupedChange,
  { name, title }: ChangeGroup,
  terminal: Terminal,
): readonly string[] {
  const { color } = terminal;
  const isTitleEnough = name === 'undone' && title !== '';
  const ends: Span[] = edgeChangeRows(change, edges, isTitleEnough).map(({ sign, text }) => ({
    text: `${sign} ${text}`,
    paint: sign === '+' ? color.green : color.red,
  }));
  return [
    ...rowLines(changeRows(change, isTitleEnough), terminal),
    ...endLines(ends, terminal),
    ...changedSamples.flatMap((changedSample) => flipLines(changedSample, terminal)),
    ...carriedLines(change, terminal),
  ];
}

/** Returns attachments, a line each; many only with `full`. */
function endLines(ends: readonly Span[], terminal: Terminal): readonly string[] {
  const most = terminal.full === true ? ends.length : mostEntries;
  const lines = ends.slice(0, most).flatMap((end) => wrap([{ text: '      ' }, end], terminal, 8));
  const more = ends.length - most;
  return more > 0 ? [...lines, `      and ${plural(more, 'more attachment')}; --full prints them`] : lines;
}

/** Returns a changed sample; less protection is red. */
function flipLines(changedSample: SampleChange, terminal: Terminal): readonly string[] {
  const { green, red, yellow } = terminal.color;
  const paint = { '-': red, '+': green, '!': yellow }[sampleSign(changedSample)];
  return wrap([{ text: '      ' }, ...words(sampleChangeLine(changedSample), paint)], terminal, 8);
}

/** Returns the warnings about a changed object. */
function warningLines(warnings: readonly Diagnostic[], terminal: Terminal): readonly string[] {
  const { bold, dim, yellow } = terminal.color;
  return foldSimilar(warnings, ({ code }) => code, terminal).flatMap(({ entry: { code, message, hint, at }, others }) => {
    const place = at === undefined ? [] : [{ text: escapeTerminal(formatPosition(at)), paint: bold }];
    const head = [{ text: '      ' }, ...place, { text: 'warning', paint: yellow }, { text: escapeTerminal(code), paint: dim }, ...gap];
    return [
      ...wrap([...head, ...withoutBreak(words(escapeTerminal(message)))], terminal, 8),
      ...(hint === undefined ? [] : wrap([{ text: '        ' }, ...words(escapeTerminal(hint), dim)], terminal, 8)),
      ...(others.length === 0 ? [] : [`      and ${plural(others.length, 'more warning')} of this code; --full prints them`]),
    ];
  });
}

/** Returns the live values that a write carries although the manifest does not state them. A change that is not written carries nothing. */
function carriedLines(change: AssessedChange, terminal: Terminal): readonly string[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  const names = shortList(change.carried.map(pathText), 6).join(', ');
  return wrap([{ text: '      ' }, ...words(`keeps the live value of ${names}`, terminal.color.dim)], terminal, 8);
}

/** Returns the lines of drifted objects, with a blank line between them. */
export function driftedLines(rows: readonly DriftedObject[], terminal: Terminal): readonly string[] {
  const folded = foldSimilar(rows, likenessOfDrift, terminal);
  return folded.flatMap(({ entry, others }, index) => [
    ...(index === 0 ? [] : ['']),
    ...driftRowLines(entry, terminal),
    ...othersLines(others, terminal),
  ]);
}

/** Returns the lines of changes in no manifest: what they do together, then each object. */
export function outsideLines({ title, headlines, objects }: OutsideSection, terminal: Terminal): readonly string[] {
  const folded = foldSimilar(objects, ({ sign, rows }) => JSON.stringify([sign, rows]), terminal);
  return [
    ...wrap(words(title, terminal.color.bold), terminal, 2),
    '',
    ...headlineLines(headlines, new Map(), terminal),
    ...(headlines.length === 0 ? [] : ['']),
    ...folded.flatMap(({ entry: { sign, text, rows }, others }) => [
      ...wrap([{ text: '  ' }, ...words(`${sign} ${text}`, signPaint(sign, terminal.color))], terminal, 6),
      ...rowLines(rows, terminal),
      ...(others.length === 0 ? [] : [`  and ${plural(others.length, 'more object')} like it; --full prints them`]),
    ]),
  ];
}

/** Returns a line about the objects that are similar to the one above it. */
function othersLines(others: readonly { readonly change: Change }[], terminal: Terminal): readonly string[] {
  if (others.length === 0) return [];
  return wrap([{ text: '  ' }, ...words(`${othersText(others.map(({ change }) => change.id))}; --full prints them`)], terminal, 6);
}

function driftRowLines({ change, sign, note, rows, edges, writers }: DriftedObject, terminal: Terminal): readonly string[] {
  const { color } = terminal;
  const place = changePosition(change);
  const head: Span[] = [{ text: '  ' }, { text: `${sign} ${escapeTerminal(change.id)}`, paint: signPaint(sign, color) }];
  if (place !== '') appendAll(head, [...gap, { text: place, paint: color.dim, noBreak: true }]);
  if (note !== '') appendAll(head, [...gap, ...withoutBreak(words(note))]);
  const ends = edges.map((edge): Span => ({ text: `${edge.sign} ${edge.text}`, paint: edge.sign === '+' ? color.green : color.red }));
  return [
    ...wrap(head, terminal, 6),
    ...rowLines(rows, terminal),
    ...endLines(ends, terminal),
    ...writers.flatMap((writer) => wrap([{ text: '      ' }, ...words(writer, color.dim)], terminal, 8)),
  ];
}

function signPaint(sign: DriftedObject['sign'], { cyan, red, yellow, green }: Palette): Paint {
  return { '+': green, '~': yellow, '-': red, '!': cyan }[sign];
}

/** Returns the lines of headlines: the connections that become less or more protected, and the manifest lines that cause it. */
export function headlineLines(headlines: readonly Headline[], orphans: Orphans, terminal: Terminal): readonly string[] {
  return headlines.flatMap((headline) => {
    const text = words(escapeTerminal(headline.text), wayPaint(headline.direction, terminal.color));
    const causes = causesText(headline.causes, { orphans, position: shortPosition, name: escapeTerminal, named: headline.connections });
    const because = causes === '' ? [] : [...gap, ...withoutBreak(words(causes, terminal.color.dim))];
    const beside = headlineConnections(headline, escapeTerminal);
    return wrap([{ text: '  ' }, ...text, ...(beside === '' ? [] : words(beside)), ...because], terminal, 6);
  });
}

function wayPaint(direction: HeadlineVerdict | ProtectionVerdict, { green, red, yellow }: Palette): Paint {
  if (direction === 'weakens') return red;
  return direction === 'strengthens' ? green : yellow;
}

/** Returns the color of a risk class. */
export function riskClassPaint(riskClass: RiskClass | undefined, { dim, green, red, yellow }: Palette): Paint {
  if (riskClass === 'weakens') return red;
  if (riskClass === 'strengthens') return green;
  return riskClass === undefined || riskClass === 'neutral' ? dim : yellow;
}
