import type { Action, AssessedChange } from '../../model/plan/plan.ts';
import { codeBlock, codeSpan, escapeHtmlText, escapeMarkdown } from '../escape.ts';
import { positionMarkdown, type LinkOf, type DriftedObject } from '../document.ts';
import { actionSymbols, changeRows, edgeChangeRows, edgeText, risksText, type ChangeRow, type RowPart } from '../subjects/change-rows.ts';
import type { ChangeGroup, GroupedChange, GroupName } from '../subjects/groups.ts';
import { clip } from '../text/wrap.ts';
import { plural, shortList } from '../wording/counts.ts';
import { sampleChangeLine, distinctParts, pathText } from '../wording/value.ts';
import { blank, type MarkdownBlock } from './fit-to-limit.ts';

/** The order in which changes are omitted for length; the first ones stay longest. */
const importance: Readonly<Record<Action, number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const longestLine = 100;
const longestValue = 1000;
const longestCell = 100;
const folded = 50;

/** The parts of groups, the most important first: what is held, and the pull request's own changes with their details. */
const partOrder = ['held row', 'own row', 'held detail', 'own detail', 'also row', 'undone row', 'elsewhere', 'list', 'detail'] as const;

/** Returns the rank of a part, a multiple of ten: the higher, the earlier it is left out for length. */
export function rankOf(part: (typeof partOrder)[number]): number {
  return 10 + 10 * partOrder.indexOf(part);
}

const ranks: Readonly<Record<GroupName, { readonly row: number; readonly detail: number }>> = {
  held: { row: rankOf('held row'), detail: rankOf('held detail') },
  changed: { row: rankOf('own row'), detail: rankOf('detail') },
  own: { row: rankOf('own row'), detail: rankOf('own detail') },
  also: { row: rankOf('also row'), detail: rankOf('detail') },
  undone: { row: rankOf('undone row'), detail: rankOf('detail') },
  elsewhere: { row: rankOf('elsewhere'), detail: rankOf('elsewhere') },
};

/** Returns the blocks of a group: a table of its changes, then their details. */
export function groupBlocks(group: ChangeGroup, linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  const { name, title, changes, edges } = group;
  if (name === 'elsewhere') return [foldedBlock(group, linkOf)];
  const isHeaded = name === 'held' && title !== '';
  const heading = title === '' ? [] : [{ text: `#### ${escapeMarkdown(title)}\n\n`, rank: 1, label: 'blank' }];
  const head = { text: '| | Resource | What | Where |\n|---|---|---|---|\n', rank: 1, label: 'blank' };
  const rows = changes.map((grouped) => ({
    text: rowText(isHeaded ? { ...grouped, note: '' } : grouped, linkOf),
    rank: ranks[name].row + importance[grouped.change.action],
    label: 'table row',
  }));
  const attachments = edges.map((edge) => ({
    text: `| ${codeSpan('=')} | ${codeSpan(clip(edgeText(edge), 300))} | ${isHeaded ? 'edge' : 'edge, attached by hand, left so'} | |\n`,
    rank: ranks[name].row,
    label: 'table row',
  }));
  return [...heading, head, ...rows, ...attachments, blank, ...changes.flatMap((grouped) => detailBlocks(grouped, group))];
}

/** Returns changes that get one line each, folded. */
function foldedBlock({ title, changes }: ChangeGroup, linkOf: LinkOf | undefined): MarkdownBlock {
  const lines = changes.map((grouped) => rowText(grouped, linkOf));
  const shown = lines.slice(0, folded);
  const more = lines.length > folded ? `\nand ${lines.length - folded} more\n` : '';
  const table = `| | Resource | What | Where |\n|---|---|---|---|\n${shown.join('')}${more}`;
  const summary = `<summary>${escapeHtmlText(title)}</summary>`;
  return { text: `<details>${summary}\n\n${table}\n</details>\n\n`, rank: ranks.elsewhere.row, label: 'list' };
}

function rowText(grouped: GroupedChange, linkOf: LinkOf | undefined): string {
  const { change } = grouped;
  const place = change.at === undefined ? '' : positionMarkdown(change.at, linkOf);
  return `| ${[codeSpan(actionSymbols[change.action]), codeSpan(change.id), whatText(grouped), place].join(' | ')} |\n`;
}

function whatText({ change, edges, note }: GroupedChange): string {
  if (change.action === 'held') return heldText(change, note);
  const fields = change.action === 'create' || change.action === 'delete' ? [] : [...new Set(changeRows(change).map((row) => row.label))];
  const shown = shortList(fields, 4).map((label, index) => (index < 4 ? codeSpan(clip(label, 60)) : label));
  const parts = [
    note === '' ? change.action : escapeMarkdown(note),
    ...shown,
    ...(edges.length === 0 ? [] : [plural(edges.length, 'edge')]),
  ];
  const risks = risksText(change.risks);
  return `${parts.join(', ')}${risks === '' ? '' : `; ${escapeMarkdown(risks)}`}`;
}

/** Returns held fields with their values, so that a reader sees them without unfolding. */
function heldText(change: AssessedChange, note: string): string {
  const rows = changeRows(change).map(({ label, parts, note: manifest }) => {
    const value = clip(parts.map(textOf).join(', '), longestCell);
    return `${codeSpan(clip(label, 60))} ${codeSpan(value)} (${escapeMarkdown(clip(manifest, longestCell))})`;
  });
  return [...(note === '' ? [] : [escapeMarkdown(note)]), ...shortList(rows, 4)].join(', ');
}

function detailBlocks({ change, edges, flips }: GroupedChange, { name, title }: ChangeGroup): readonly MarkdownBlock[] {
  const isTitleEnough = name === 'undone' && title !== '';
  const lines = [
    ...changeRows(change, isTitleEnough).flatMap((row) => rowDiff(row, change.action)),
    ...edgeChangeRows(change, edges, isTitleEnough).map(({ sign, text }) => `${sign} edge: ${text}`),
    ...flips.map(sampleChangeLine),
    ...(change.carried.length === 0 ? [] : [`  carries ${shortList(change.carried.map(pathText), 6).join(', ')}`]),
  ];
  if (lines.length === 0) return [];
  return [detailsBlock(`${actionSymbols[change.action]} ${clip(change.id, 300)}`, lines, ranks[name].detail + importance[change.action])];
}

/** Returns a field as lines of a diff: `+`, `-`, and `!` for a value that changes. */
function rowDiff({ label: field, parts, note }: ChangeRow, action: Action): readonly string[] {
  if (action === 'held') return [`= ${field}: ${clip(parts.map(textOf).join(', '), longestValue)} (${note})`];
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

function textOf(part: RowPart): string {
  return part.sign === '~' ? part.before : part.text;
}

/** Returns the blocks of drifted objects: a line each, then their details. */
export function driftedBlocks(rows: readonly DriftedObject[], linkOf: LinkOf | undefined): readonly MarkdownBlock[] {
  if (rows.length === 0) return [];
  const lines = rows.map((row) => ({ text: objectLine(row, linkOf), rank: rankOf('held row'), label: 'object' }));
  return [...lines, blank, ...rows.flatMap(driftDetailBlocks)];
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
    ...edges.map((edge) => `${edge.sign} edge: ${edge.text}`),
    ...writers.map((writer) => `  ${writer}`),
  ];
  if (lines.length === 0) return [];
  return [detailsBlock(`${sign} ${clip(change.id, 300)}`, lines, rankOf('detail'))];
}

function detailsBlock(title: string, lines: readonly string[], rank: number): MarkdownBlock {
  const summary = `<summary><code>${escapeHtmlText(title)}</code></summary>`;
  return { text: `<details>${summary}\n\n${codeBlock(shortList(lines, 100), 'diff')}\n\n</details>\n\n`, rank, label: 'detail' };
}
