import { addToGroup } from '../../model/collections.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import { compareText, type Json, type JsonObject } from '../../model/json.ts';
import {
  type Cause,
  type ControlChange,
  type ControlColumn,
  type ControlType,
  type PostureChange,
  type Protection,
  type ProtectionMatrix,
  type ProtectionMatrixCell,
  type ProtectionMatrixRow,
  type ProtectionVerdict,
  protectionVerdicts,
} from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { type TableCell, type Fold, type FoldsBlock, type TableBlock, type TableRow, verdictWords } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { mark, markPlace } from '../marks.ts';
import { driftCause } from '../wording/causes.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { controlText, pathText } from '../wording/value.ts';
import { clip } from '../wrap.ts';

const longestList = 40;
const longestTag = 200;
/** The changed connections of a group that a table shows, the connections that have one of their own, and the causes of a control. */
const mostRows = 300;
const mostFolds = 1000;
const mostCauses = 5;

function byVerdict(
  left: { readonly direction?: ProtectionVerdict | undefined },
  right: { readonly direction?: ProtectionVerdict | undefined },
): number {
  return protectionVerdicts.indexOf(left.direction ?? 'neutral') - protectionVerdicts.indexOf(right.direction ?? 'neutral');
}

/** Returns how to show a control type. */
function columnOf(columns: readonly ControlColumn[], type: ControlType): ControlColumn {
  return columns.find((column) => column.type === type) ?? { type, heading: type };
}

/** Returns whether the headline of a single change states all that a table of before and after would. */
export function isOneHeadline({ headlines, connections }: Pick<Protection, 'headlines' | 'connections'>, entries: number): boolean {
  return headlines.length === 1 && entries === 1 && connections.length === 1 && connections[0]?.controls.length === 1;
}

/** Returns the protection of each changed connection on two sides, with the lines that cause the difference. */
export function postureFolds(
  title: string,
  changed: readonly PostureChange[],
  { columns, sides = ['before', 'after'] }: { readonly columns: readonly ControlColumn[]; readonly sides?: readonly [string, string] },
): FoldsBlock {
  const more = changed.length - mostFolds;
  return {
    type: 'folds',
    title,
    folds: changed
      .toSorted(byVerdict)
      .slice(0, mostFolds)
      .map((change) => postureFold(change, columns, sides)),
    ...(more > 0 ? { more: `and ${more} more connections; the JSON of the plan has them` } : {}),
  };
}

function postureFold(change: PostureChange, columns: readonly ControlColumn[], sides: readonly [string, string]): Fold {
  const { connection, direction, created, deleted, tags, controls } = change;
  const headings = controls.map(({ control }) => columnOf(columns, control).heading).join(', ');
  const note = created === true ? 'created' : deleted === true ? 'deleted' : headings;
  const badge = note !== headings && direction === 'neutral' ? '' : `${mark('badge', direction)} `;
  return {
    summary: `${badge}${mark('name', nameOf(connection))} ${mark('quiet', note)}`,
    search: searchText(nameOf(connection), tags),
    direction,
    table: {
      type: 'table',
      headers: ['control', ...sides, 'effect', 'cause'],
      rows: controls.map((one) => controlRow(one, columnOf(columns, one.control))),
    },
  };
}

function controlRow({ direction, before, after, atLeast, causes }: ControlChange, column: ControlColumn): TableRow {
  const [first = [], last = []] = [before, after].map((texts) => texts.map((text) => controlText(column, text)));
  // Rules can differ in what no entry of the list names.
  const remarks = [...(first.join('\n') === last.join('\n') ? ['other conditions'] : []), ...(atLeast === true ? [leastText] : [])];
  return {
    cells: [
      column.heading,
      sideCell(first, (text) => (last.includes(text) ? mark('name', text) : mark('removed', `− ${text}`))),
      sideCell(last, (text) => (first.includes(text) ? mark('name', text) : mark('added', `+ ${text}`)), remarks),
      mark('badge', direction),
      causesCell(causes),
    ],
  };
}

const leastText = 'at least; more are possible';

function sideCell(texts: readonly string[], shown: (text: string) => string, remarks: readonly string[] = []): TableCell {
  const lines = texts.length === 0 ? [mark('quiet', 'nothing')] : shortList(texts, longestList).map(shown);
  return { lines: [...lines, ...remarks.map((text) => mark('quiet', text))] };
}

function causesCell(causes: readonly Cause[]): TableCell {
  const lines = causes.map(({ by, path, edge, place, byHand }) => {
    const at = place === undefined ? undefined : parsePosition(place);
    const what = [by, ...(path === undefined ? [] : [pathText(path)]), ...(edge === undefined ? [] : [`↔ ${edge}`])].join(' ');
    const where = at === undefined ? '' : ` ${markPlace(at)}`;
    return `${mark('name', what)}${where}${byHand === true ? ` ${mark('quiet', driftCause(''))}` : ''}`;
  });
  return { lines: shortList(lines, mostCauses) };
}

/**
 * Returns all connections × controls as one table, grouped by the tag that most connections have. A changed connection has its
 * own row; unchanged connections whose cells look the same share a row.
 */
export function matrixTable({ columns, rows: all }: ProtectionMatrix): TableBlock {
  const key = groupingTag(all);
  const groups = new Map<string, ProtectionMatrixRow[]>();
  for (const row of all) addToGroup(groups, key === undefined ? '' : clippedTag(row.tags[key]), row);
  const signs = protectionVerdicts.map((verdict) => `${mark('icon', verdict)} ${verdictWords[verdict]}, `).join('');
  return {
    type: 'table',
    look: 'picture',
    title: 'Connections and their protection',
    caption: `Each cell is a count; a change shows the count before and after, and the verdict: ${signs}a dot means none, and a + means at least.`,
    headers: ['connection', ...columns.map(({ heading }) => heading)],
    rows: [...groups]
      .toSorted(([left], [right]) => compareText(left, right))
      .flatMap(([group, rows]) =>
        groupRows(key === undefined ? undefined : `${clip(key, longestTag)}: ${group === '' ? '(none)' : group}`, rows, columns),
      ),
  };
}

/** Returns the tag to group by: one that most connections have, with few values. */
function groupingTag(matrix: readonly ProtectionMatrixRow[]): string | undefined {
  const values = new Map<string, Map<string, number>>();
  for (const { tags } of matrix) {
    for (const [key, value] of Object.entries(tags)) {
      const counts = values.get(key) ?? new Map<string, number>();
      values.set(key, counts.set(clippedTag(value), (counts.get(clippedTag(value)) ?? 0) + 1));
    }
  }
  const usable = [...values].filter(([, counts]) => counts.size > 1 && counts.size <= 12 && total(counts) * 2 >= matrix.length);
  const [best] = usable.toSorted(
    ([left, one], [right, other]) => total(other) - total(one) || one.size - other.size || compareText(left, right),
  );
  return best?.[0];
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function clippedTag(value: Json | undefined): string {
  if (value === undefined) return '';
  return clip(typeof value === 'string' ? value : JSON.stringify(value), longestTag);
}

function groupRows(
  title: string | undefined,
  rows: readonly ProtectionMatrixRow[],
  columns: readonly ControlColumn[],
): readonly TableRow[] {
  const changed = rows.filter(({ direction }) => direction !== undefined);
  const alike = new Map<string, ProtectionMatrixRow[]>();
  for (const row of rows)
    if (row.direction === undefined)
      addToGroup(alike, row.cells.map((cell) => cellText(columnOf(columns, cell.control), cell.after)).join('|'), row);
  const more = changed.length - mostRows;
  const shown = more > 0 ? changed.toSorted(byVerdict).slice(0, mostRows) : changed;
  const head = `${title} · ${plural(rows.length, 'connection')}, ${changed.length} changed`;
  return [
    ...(title === undefined ? [] : [{ cells: [escapeTerminal(head)], heads: 'group' } as const]),
    ...shown.map((row) => connectionRow([row], columns)),
    ...(more > 0 ? [{ cells: [`and ${more} more changed connections; the JSON of the plan has them`], heads: 'rest' } as const] : []),
    ...[...alike.values()].map((same) => connectionRow(same, columns)),
  ];
}

/** Returns the row of a changed connection, or of unchanged ones whose cells look the same. */
function connectionRow(rows: readonly ProtectionMatrixRow[], columns: readonly ControlColumn[]): TableRow {
  const [first] = rows;
  const names = rows.map(({ connection }) => nameOf(connection));
  const note =
    rows.length > 1 ? ` and ${rows.length - 1} more` : first?.created === true ? ' created' : first?.deleted === true ? ' deleted' : '';
  const name = `${mark('name', names[0] ?? '')}${note === '' ? '' : mark('quiet', note)}`;
  return {
    cells: [
      rows.length === 1 ? name : { lines: [name], title: shortList(names, longestList).join(', ') },
      ...(first?.cells ?? []).map((cell) => controlCell(cell, columnOf(columns, cell.control))),
    ],
    search: rows.map(({ connection, tags }) => searchText(nameOf(connection), tags)).join(' '),
    direction: first?.direction ?? 'same',
  };
}

function controlCell({ before, after, direction, atLeast }: ProtectionMatrixCell, column: ControlColumn): TableCell {
  const least = atLeast === true ? '+' : '';
  const [first, last] = [before, after].map((texts) => escapeTerminal(cellText(column, texts)));
  const sides = [listText(column, before), listText(column, after)];
  if (direction === undefined) return { lines: [`${last}${least}`], title: sides[1] ?? '', ...(last === '·' ? { look: 'none' } : {}) };
  // Rules can differ in what no entry of the list names.
  const isAlike = sides[0] === sides[1];
  return {
    lines: [isAlike ? `${last}${least}` : `${first} ${arrow} ${last}${least}`],
    look: direction,
    title: `${column.heading}: ${isAlike ? 'other conditions' : sides.join(' → ')}, ${verdictWords[direction]}`,
  };
}

// Some fonts have no such character.
const arrow = mark('icon', 'reroutes');

/** Returns a cell in few characters: a count, or the only value. */
function cellText(column: ControlColumn, texts: readonly string[]): string {
  if (column.isSingle === true) return controlText(column, texts[0] ?? '·');
  return texts.length === 0 ? '·' : texts[0] === column.all ? 'all' : String(texts.length);
}

function listText(column: ControlColumn, texts: readonly string[]): string {
  if (texts.length === 0) return column.none ?? 'none';
  return shortList(
    texts.map((text) => controlText(column, text)),
    longestList,
  ).join(', ');
}

/** Returns the text in which a page searches for a connection. */
function searchText(name: string, tags: JsonObject): string {
  return [name, ...Object.entries(tags).map(([key, value]) => `${clip(key, longestTag)}=${clippedTag(value)}`)].join(' ');
}
