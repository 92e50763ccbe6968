import type { Position } from '../../model/diagnostic.ts';
import { type Action, type AssessedChange, fieldPosition, highestRisk } from '../../model/plan/plan.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from '../escape.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import {
  actionSymbols,
  changeNote,
  type ChangeRow,
  changeRows,
  type DriftedObject,
  edgeChangeRows,
  edgeText,
  type RowPart,
} from '../rows/change-rows.ts';
import { type AlikeChanges, mergeAlike } from '../rows/fold-similar.ts';
import type { ChangeGroup, GroupedChange, GroupName } from '../rows/groups.ts';
import type { OutsideObject } from '../rows/outside-rows.ts';
import { clip } from '../wrap.ts';
import { plural, risksText, shortList } from '../wording/summary.ts';
import { distinctParts, pathText, sampleChangeLine } from '../wording/value.ts';
import { blank, type MarkdownBlock } from './fit-to-limit.ts';

/** The order in which changes are omitted for length; the first ones stay longest. */
const importance: Readonly<Record<Action, number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const longestLine = 100;
const longestValue = 1000;
const longestCell = 100;
const mostFolded = 50;
const mostRows = 20;
const mostAlike = 3;

/** The parts of groups, the most important first: what is held, and the pull request's own changes with their details. */
const partOrder = ['held row', 'own row', 'held detail', 'own detail', 'also row', 'undone row', 'elsewhere', 'list', 'detail'] as const;

/** Returns the rank of a part, a multiple of ten: the higher, the earlier it is left out for length. */
export function rankOf(part: (typeof partOrder)[number]): number {
  return 10 + 10 * partOrder.indexOf(part);
}

const ranks: Readonly<Record<GroupName, { readonly row: number; readonly detail: number }>> = {
  held: { row: rankOf('held row'), detail: rankOf('held detail') },
  accepted: { row: rankOf('own row'), detail: rankOf('own detail') },
  changed: { row: rankOf('own row'), detail: rankOf('detail') },
  own: { row: rankOf('own row'), detail: rankOf('own detail') },
  also: { row: rankOf('also row'), detail: rankOf('detail') },
  undone: { row: rankOf('undone row'), detail: rankOf('detail') },
  elsewhere: { row: rankOf('elsewhere'), detail: rankOf('elsewhere') },
};

/** The links of a group; `isOnly` if headlines state what the only group of the plan means; `isDense` if rows have the differences that fit. */
type GroupOptions = { readonly linkOf: LinkOf | undefined; readonly isOnly: boolean; readonly isDense: boolean };

/** Returns the blocks of a group: its changes by risk, then their differences, folded. A single change has no table. */
export function groupBlocks(group: ChangeGroup, { linkOf, isOnly, isDense }: GroupOptions): readonly MarkdownBlock[] {
  const { name, title, edges } = group;
  const changes = mergeAlike(group.changes.map((grouped) => withOwnNote(grouped, group)));
  if (name === 'elsewhere') return [foldedBlock(title, changes, linkOf)];
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' }];
  const attachments = edges.map((edge) => [codeSpan('='), codeSpan(clip(edgeText(edge), 300)), heldEdgeNote(title), '']);
  const dense = new Map(isDense ? changes.map((alike) => [alike, denseCells(alike, group, linkOf)]) : []);
  const rows = [
    ...changes.map((alike) => ({
      cells: dense.get(alike) ?? rowCells(alike, linkOf),
      rank: ranks[name].row + importance[alike.first.change.action],
    })),
    ...attachments.map((cells) => ({ cells, rank: ranks[name].row })),
  ];
  const [only] = changes;
  const isStated = isOnly && rows.length === 1 && only?.first.note === '' && name !== 'held';
  const details = changes
    .filter((alike) => dense.get(alike) === undefined && !isComplete(alike))
    .flatMap((alike) => detailBlocks(alike, group, isStated));
  return [...heading, ...(isStated && details.length > 0 ? [] : rowBlocks(rows)), ...foldRest(details, 'difference')];
}

/** Returns the change with the note that the report does not state elsewhere: not the title, and not the commit of a deletion. */
function withOwnNote(grouped: GroupedChange, { name, title }: ChangeGroup): GroupedChange {
  if (name === 'held' && title !== '') return { ...grouped, note: '' };
  if (name === 'accepted') return grouped;
  return grouped.change.action === 'delete' ? { ...grouped, note: changeNote(grouped.change) } : grouped;
}

function heldEdgeNote(title: string): string {
  return title === '' ? 'attachment held: attached outside Ostiary' : 'attachment';
}

type TableRow = { readonly cells: readonly string[]; readonly rank: number };

/** Returns one row as a list entry, and several as a table. */
function rowBlocks(rows: readonly TableRow[]): readonly MarkdownBlock[] {
  const [only] = rows;
  if (rows.length === 1 && only !== undefined) {
    const [sign = '', ...cells] = only.cells;
    return [rowBlock(`- ${sign} ${cells.filter((cell) => cell !== '').join(', ')}\n`, only.rank), blank];
  }
  const lines = rows.map(({ cells, rank }) => rowBlock(rowText(cells), rank));
  const rest = lines.slice(mostRows);
  const folded = rest.length === 0 ? [] : foldBlocks(rest, 'more row', [frameOf(rest, () => tableHead), ...rest, blank]);
  const shown = lines.slice(0, mostRows);
  return [frameOf(shown, () => tableHead), ...shown, blank, ...folded];
}

function rowBlock(text: string, rank: number): MarkdownBlock {
  return { text, rank, label: 'table row' };
}

/** Returns the first blocks, and the others in one fold. */
function foldRest(blocks: readonly MarkdownBlock[], word: string): readonly MarkdownBlock[] {
  const rest = blocks.slice(mostRows);
  if (rest.length === 0) return blocks;
  return [...blocks.slice(0, mostRows), ...foldBlocks(rest, `more ${word}`, rest)];
}

/** Returns a fold whose title counts those of the blocks that are kept; without any of them there is no fold. */
function foldBlocks(counted: readonly MarkdownBlock[], word: string, content: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  const open = (kept: number): string => `<details><summary>${escapeHtmlText(plural(kept, word))}</summary>\n\n`;
  return [frameOf(counted, open), ...content, frameOf(counted, () => '</details>\n\n')];
}

/** Returns a block that is kept only with one of the blocks that it frames. */
function frameOf(blocks: readonly MarkdownBlock[], textOf: (kept: number) => string): MarkdownBlock {
  return { text: textOf(blocks.length), rank: 1, label: 'blank', frames: { blocks, textOf } };
}

const tableHead = '| | Resource | What | Where |\n|---|---|---|---|\n';

/** Returns changes that get one line each, folded. */
function foldedBlock(title: string, changes: readonly AlikeChanges[], linkOf: LinkOf | undefined): MarkdownBlock {
  const lines = changes.map((alike) => rowText(rowCells(alike, linkOf)));
  const shown = lines.slice(0, mostFolded);
  const more = lines.length > mostFolded ? `\nand ${lines.length - mostFolded} more\n` : '';
  const summary = `<summary>${escapeHtmlText(title)}</summary>`;
  return {
    text: `<details>${summary}\n\n${tableHead}${shown.join('')}${more}\n</details>\n\n`,
    rank: ranks.elsewhere.row,
    label: 'list',
  };
}

function rowText(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function rowCells({ first, all }: AlikeChanges, linkOf: LinkOf | undefined): readonly string[] {
  const { change } = first;
  const places = all.flatMap((one) => {
    const at = changedPlace(one.change);
    return at === undefined ? [] : [positionMarkdown(at, linkOf)];
  });
  const ids = shortList(
    all.map((one) => codeSpan(clip(one.change.id, 300))),
    mostAlike,
  );
  const resource = all.length === 1 ? codeSpan(change.id) : `**${all.length} objects**: ${ids.join(', ')}`;
  return [codeSpan(actionSymbols[change.action]), resource, whatText(first), shortList([...new Set(places)], mostAlike).join(', ')];
}

/** Returns the line of the field that a change changes, that with the highest risk first; for a whole object its first line. */
function changedPlace(change: AssessedChange): Position | undefined {
  const { action, fields, risks, at } = change;
  if (action === 'create' || action === 'delete') return at;
  const highest = highestRisk(risks);
  const { path } = risks.find((one) => one.class === highest && one.path !== undefined) ?? {};
  const field = fields.find((one) => path !== undefined && isPointerWithin(one.path, path)) ?? fields[0];
  return (field === undefined ? undefined : fieldPosition(change, field)) ?? at;
}

/** Returns the cells of a change with its differences, so that it needs no fold; undefined if they are too long for a row. */
function denseCells({ first, all }: AlikeChanges, group: ChangeGroup, linkOf: LinkOf | undefined): readonly string[] | undefined {
  const { change, note } = first;
  const lines = detailLines(first, group).map((line) => line.trim());
  if (all.length > 1 || lines.length === 0 || lines.join('').length > longestDense) return undefined;
  const at = changedPlace(change);
  const link = at === undefined ? undefined : linkOf?.(at);
  const name = codeSpan(change.id);
  const risk = highestRisk(change.risks);
  const what = [
    ...(risk === undefined || risk === 'neutral' ? [] : [risk]),
    ...(note === '' ? [] : [escapeMarkdown(note)]),
    ...lines.map(codeSpan),
  ];
  return [actionSymbols[change.action], link === undefined ? name : `[${name}](${link})`, what.join(' ')];
}

function whatText({ change, edges, note }: GroupedChange): string {
  if (change.action === 'held') return heldText(change, note);
  const fields = change.action === 'create' || change.action === 'delete' ? [] : [...new Set(changeRows(change).map((row) => row.label))];
  const shown = shortList(fields, 4).map((label, index) => (index < 4 ? codeSpan(clip(label, longestLabel)) : label));
  const parts = [
    note === '' ? change.action : escapeMarkdown(note),
    ...shown,
    ...(edges.length === 0 ? [] : [plural(edges.length, 'attachment')]),
  ];
  const risks = risksText(change.risks);
  return `${parts.join(', ')}${risks === '' ? '' : `; ${escapeMarkdown(risks)}`}`;
}

/** Returns held fields with their values, so that a reader sees them without unfolding. */
function heldText(change: AssessedChange, note: string): string {
  const rows = changeRows(change).map((row) => {
    const value = clip(valueOf(row), longestCell);
    return `${codeSpan(clip(row.label, longestLabel))} ${codeSpan(value)} (${escapeMarkdown(clip(row.note, longestCell))})`;
  });
  return [...(note === '' ? [] : [escapeMarkdown(note)]), ...shortList(rows, mostHeld)].join(', ');
}

/** Returns whether the row of a change shows all of it. */
function isComplete({ first: { change, edges, changedSamples }, all }: AlikeChanges): boolean {
  if (change.action !== 'held' || all.length > mostAlike || edges.length + changedSamples.length + change.carried.length > 0) return false;
  const rows = changeRows(change);
  const fits = rows.every(
    ({ label, note, ...row }) => label.length <= longestLabel && Math.max(note.length, valueOf(row).length) <= longestCell,
  );
  return fits && rows.length <= mostHeld;
}

function valueOf({ parts }: Pick<ChangeRow, 'parts'>): string {
  return parts.map(beforeText).join(', ');
}

/** Returns the folded difference of a change; if `isStated`, the fold also names the risks, because no row does. */
function detailBlocks({ first, all }: AlikeChanges, group: ChangeGroup, isStated: boolean): readonly MarkdownBlock[] {
  const { change } = first;
  const lines = detailLines(first, group);
  if (lines.length === 0 && all.length <= mostAlike) return [];
  const ids =
    all.length === 1
      ? []
      : shortList(
          all.map((one) => `  on ${clip(one.change.id, 300)}`),
          mostIds,
        );
  const object = `${clip(change.id, 300)}${all.length === 1 ? '' : ` and ${all.length - 1} more`}`;
  const risks = isStated ? risksText(change.risks) : '';
  const rank = ranks[group.name].detail + importance[change.action];
  return [detailsBlock(`${actionSymbols[change.action]} ${object}`, { lines: [...shortList(lines, 100), ...ids], risks }, rank)];
}

function detailLines({ change, edges, changedSamples }: GroupedChange, { name, title }: ChangeGroup): readonly string[] {
  const isTitleEnough = name === 'undone' && title !== '';
  return [
    ...changeRows(change, isTitleEnough).flatMap((row) => rowDiff(row, change.action)),
    ...edgeChangeRows(change, edges, isTitleEnough).map(({ sign, text }) => `${sign} attachment: ${text}`),
    ...changedSamples.map(sampleChangeLine),
    ...(change.carried.length === 0 ? [] : [`  keeps the live value of ${shortList(change.carried.map(pathText), 6).join(', ')}`]),
  ];
}

const longestDense = 200;
const mostHeld = 4;
const mostIds = 200;
const longestLabel = 60;

/** Returns a field as lines of a diff: `+`, `-`, and `!` for a value that changes. */
function rowDiff({ label: field, parts, note }: ChangeRow, action: Action): readonly string[] {
  if (action === 'held') return [`= ${field}: ${clip(parts.map(beforeText).join(', '), longestValue)} (${note})`];
  const label = note === '' ? field : `${field} (${note})`;
  return parts.flatMap((part) => {
    if (part.sign !== '~') {
      const alone = action === 'create' ? '+' : action === 'delete' ? '-' : '!';
      return [`${part.sign === '' ? alone : part.sign} ${label}: ${clip(part.text, longestValue)}`];
    }
    const [before, after] = distinctParts(part.before, part.after, longestValue);
    const line = `! ${label}: ${before} → ${after}`;
    return line.length <= longestLine ? [line] : [`- ${label}: ${before}`, `+ ${label}: ${after}`];
  });
}

function beforeText(part: RowPart): string {
  return part.sign === '~' ? part.before : part.text;
}

/** Returns the blocks of drifted objects: a line each, then their details. */
export function driftedBlocks(rows: readonly DriftedObject[], linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  if (rows.length === 0) return [];
  const lines = rows.map((row) => ({ text: objectLine(row, linkOf), rank: rankOf('held row'), label: 'object' }));
  return [...lines, blank, ...rows.flatMap(driftDetailBlocks)];
}

/** Returns objects in no manifest, a line each, and their fields, folded. */
export function outsideObjectBlocks(objects: readonly OutsideObject[]): readonly MarkdownBlock[] {
  const lines = objects.map(({ sign, text }) => ({
    text: `- ${codeSpan(sign)} ${escapeMarkdown(clip(text, 300))}\n`,
    rank: rankOf('held row'),
    label: 'object',
  }));
  const details = objects.flatMap(({ sign, text, rows }) => {
    const changed = rows.flatMap((row) => rowDiff(row, sign === '+' ? 'create' : 'update'));
    if (changed.length === 0) return [];
    return [detailsBlock(`${sign} ${clip(text, 300)}`, { lines: shortList(changed, 100), risks: '' }, rankOf('detail'))];
  });
  return [...lines, blank, ...details];
}

function objectLine({ change, sign, note, writers }: DriftedObject, linkOf: LinkOf | undefined): string {
  const parts = [
    `${codeSpan(sign)} ${codeSpan(clip(change.id, 300))}`,
    ...(change.at === undefined ? [] : [positionMarkdown(change.at, linkOf)]),
    ...(note === '' ? [] : [escapeMarkdown(note)]),
    ...writers.slice(0, 1).map((writer) => escapeMarkdown(clip(writer, 300))),
  ];
  return `- ${parts.join(', ')}\n`;
}

function driftDetailBlocks({ change, sign, rows, edges, writers }: DriftedObject): readonly MarkdownBlock[] {
  const lines = [
    ...rows.flatMap((row) => rowDiff(row, 'update')),
    ...edges.map((edge) => `${edge.sign} attachment: ${edge.text}`),
    ...writers.map((writer) => `  ${writer}`),
  ];
  if (lines.length === 0) return [];
  return [detailsBlock(`${sign} ${clip(change.id, 300)}`, { lines: shortList(lines, 100), risks: '' }, rankOf('detail'))];
}

function detailsBlock(
  title: string,
  { lines, risks }: { readonly lines: readonly string[]; readonly risks: string },
  rank: number,
): MarkdownBlock {
  const summary = `<summary><code>${escapeHtmlText(risks === '' ? title : `${title}: ${risks}`)}</code></summary>`;
  return { text: `<details>${summary}\n\n${codeBlock(lines, 'diff')}\n\n</details>\n\n`, rank, label: 'detail' };
}
