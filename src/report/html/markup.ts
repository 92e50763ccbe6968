import { addToGroup } from '../../model/collections.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, type Json } from '../../model/json.ts';
import type {
  ControlColumn,
  ControlType,
  ProtectionMatrix,
  ProtectionMatrixCell,
  ProtectionMatrixRow,
  ProtectionVerdict,
} from '../../model/protection/protection.ts';
import type { EffectClass } from '../blocks.ts';
import { nameOf } from '../../model/resource.ts';
import type { LinkOf } from '../links.ts';
import { escapeHtmlText } from '../escape.ts';
import { clip } from '../wrap.ts';
import { attachmentsText } from '../wording/causes.ts';
import { plural, shortList } from '../wording/summary.ts';
import { controlText } from '../wording/value.ts';

/** Finished HTML. All other text is escaped when it becomes content. */
export type Html = { readonly html: string };

type Content = string | Html | readonly (string | Html)[];

/** Attributes: true prints the name alone, false and undefined print nothing. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Returns an element with its content. */
export function element(name: string, attributes: Attributes, content: Content): Html {
  return { html: `<${name}${attributesText(attributes)}>${contentText(content)}</${name}>` };
}

/** Returns an element without content. */
export function empty(name: string, attributes: Attributes): Html {
  return { html: `<${name}${attributesText(attributes)}>` };
}

/** Concatenates text and HTML. */
export function joinHtml(pieces: readonly (string | Html)[]): Html {
  return { html: contentText(pieces) };
}

/** Returns an element with a constant of Ostiary, not escaped: a style sheet or a script. */
export function verbatim(name: string, text: string): Html {
  return { html: `<${name}>${text}</${name}>` };
}

function attributesText(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) =>
      value === undefined || value === false ? '' : value === true ? ` ${name}` : ` ${name}="${escapeHtmlText(value)}"`,
    )
    .join('');
}

function contentText(content: Content): string {
  if (typeof content === 'string') return escapeHtmlText(content);
  return 'html' in content ? content.html : content.map(contentText).join('');
}

/** Icons as paths, because some fonts have no such characters. */
const drawings = {
  down: 'M1 2h8L5 9z',
  up: 'M1 8h8L5 1z',
  diamond: 'M5 0l5 5-5 5-5-5z',
  arrow: 'M0 4h6V1.5L10 5 6 8.5V6H0z',
  bars: 'M1 2.5h8v1.8H1zM1 5.7h8v1.8H1z',
  question:
    'M2.2 3.4C2.2 1.6 3.4.6 5.1.6s2.8 1 2.8 2.5c0 1.3-.8 1.9-1.5 2.4-.5.4-.7.6-.7 1.2H4.3c0-1.1.5-1.7 1.2-2.2.6-.4.9-.7.9-1.3 0-.7-.5-1.1-1.3-1.1S3.8 2.6 3.8 3.4zM4.2 7.6h1.7v1.7H4.2z',
} as const;

type IconName = keyof typeof drawings;

/** Returns a small decorative icon; the words beside it have the meaning. */
function icon(name: IconName): Html {
  return element('svg', { class: 'icon', viewBox: '0 0 10 10', 'aria-hidden': 'true', focusable: 'false' }, [
    empty('path', { d: drawings[name] }),
  ]);
}

/** A verdict by its icon and its word: color is never the only signal. */
const verdictSigns: Readonly<Record<EffectClass, { readonly sign: IconName; readonly word: string }>> = {
  weakens: { sign: 'down', word: 'weaker' },
  both: { sign: 'diamond', word: 'mixed' },
  unknown: { sign: 'question', word: 'cannot be compared' },
  exposes: { sign: 'diamond', word: 'without review' },
  reroutes: { sign: 'arrow', word: 'credentials or code rerouted' },
  availability: { sign: 'bars', word: 'availability' },
  neutral: { sign: 'bars', word: 'no effect' },
  strengthens: { sign: 'up', word: 'stronger' },
};

/** The verdicts, the most severe first. */
export const verdicts: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'strengthens', 'neutral'];

/** The verdicts that a page can be reduced to, the most severe first. */
export const shownVerdicts: readonly EffectClass[] = [
  'weakens',
  'both',
  'unknown',
  'exposes',
  'reroutes',
  'availability',
  'strengthens',
  'neutral',
];

/** Returns the word of a verdict. */
export function verdictWord(verdict: EffectClass): string {
  return verdictSigns[verdict].word;
}

function verdictIcon(verdict: EffectClass): Html {
  return icon(verdictSigns[verdict].sign);
}

/** Returns a label with icon and word. */
export function verdictBadge(verdict: EffectClass): Html {
  return element('span', { class: `badge ${verdict}` }, [verdictIcon(verdict), ' ', verdictWord(verdict)]);
}

/** Returns a position, as a link if there is one. */
export function positionHtml(at: Position, linkOf: LinkOf | undefined, text: string = `${at.file}:${at.line}`): Html {
  const href = linkOf?.(at);
  return href === undefined
    ? element('span', { class: 'mono quiet' }, text)
    : element('a', { class: 'mono', href, rel: 'noreferrer' }, text);
}

const longestList = 40;
const longestTag = 200;
/** The changed connections of a group that a page shows. */
const mostRows = 300;

/** Returns how to show a control type. */
export function columnOf(columns: readonly ControlColumn[], type: ControlType): ControlColumn {
  return columns.find((column) => column.type === type) ?? { type, heading: type };
}

/**
 * Returns all connections × controls as one table, grouped by the tag that most connections have. A changed connection has its
 * own row, with icon and border; unchanged connections whose cells look the same share a row.
 */
export function matrixTable({ columns, rows: all }: ProtectionMatrix): Html {
  const key = groupingTag(all);
  const groups = new Map<string, ProtectionMatrixRow[]>();
  for (const row of all) {
    const group = key === undefined ? '' : clippedTag(row.tags[key]);
    addToGroup(groups, group, row);
  }
  const head = element('thead', {}, [
    element('tr', {}, [
      element('th', { scope: 'col' }, 'connection'),
      ...columns.map(({ heading }) => element('th', { scope: 'col' }, heading)),
    ]),
  ]);
  const bodies = [...groups]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([group, rows]) =>
      groupBody(key === undefined ? undefined : `${clip(key, longestTag)}: ${group === '' ? '(none)' : group}`, rows, columns),
    );
  const caption = element('caption', {}, [
    'Each cell is a count; a change shows the count before and after, and the verdict: ',
    ...verdicts.flatMap((verdict) => [verdictIcon(verdict), ` ${verdictWord(verdict)}, `]),
    'a dot means none, and a + means at least.',
  ]);
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Connections and their protection' }, [
    element('table', { class: 'picture' }, [caption, head, ...bodies]),
  ]);
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

function groupBody(title: string | undefined, rows: readonly ProtectionMatrixRow[], columns: readonly ControlColumn[]): Html {
  const changed = rows.filter(({ direction }) => direction !== undefined);
  const alike = new Map<string, ProtectionMatrixRow[]>();
  for (const row of rows.filter(({ direction }) => direction === undefined)) {
    const look = row.cells.map((cell) => cellText(columnOf(columns, cell.control), cell.after)).join('|');
    addToGroup(alike, look, row);
  }
  const counted = `${plural(rows.length, 'connection')}, ${changed.length} changed`;
  const head = title === undefined ? [] : [element('tr', { class: 'group' }, [groupHead(`${title} · ${counted}`, columns)])];
  const sorted = changed.toSorted(
    (left, right) => verdicts.indexOf(left.direction ?? 'neutral') - verdicts.indexOf(right.direction ?? 'neutral'),
  );
  const shown = changed.length > mostRows ? sorted.slice(0, mostRows) : changed;
  const more = changed.length - shown.length;
  const rest =
    more > 0 ? [element('tr', {}, [groupHead(`and ${more} more changed connections; the JSON of the plan has them`, columns)])] : [];
  return element('tbody', { 'data-part': true }, [
    ...head,
    ...shown.map((row) => changedRow(row, columns)),
    ...rest,
    ...[...alike.values()].map((same) => alikeRow(same, columns)),
  ]);
}

function groupHead(text: string, columns: readonly ControlColumn[]): Html {
  return element('th', { scope: 'rowgroup', colspan: String(columns.length + 1) }, text);
}

function changedRow(
  { connection, tags, created, deleted, direction = 'neutral', cells, rules }: ProtectionMatrixRow,
  columns: readonly ControlColumn[],
): Html {
  const name = nameOf(connection);
  const note = created === true ? ' created' : deleted === true ? ' deleted' : '';
  const head = element('th', { scope: 'row' }, [
    element('span', { class: 'mono' }, name),
    note === '' ? '' : element('span', { class: 'quiet' }, note),
  ]);
  return element('tr', { 'data-name': searchText(name, tags), 'data-direction': direction }, [
    head,
    ...cells.map((cell) => cellOf(cell, columnOf(columns, cell.control), rules)),
  ]);
}

/** Returns one row for unchanged connections whose cells look the same. */
function alikeRow(rows: readonly ProtectionMatrixRow[], columns: readonly ControlColumn[]): Html {
  const names = rows.map(({ connection }) => nameOf(connection));
  const [first] = rows;
  const name = element('span', { class: 'mono' }, names[0] ?? '');
  const title =
    rows.length === 1
      ? name
      : element('span', { title: shortList(names, longestList).join(', ') }, [
          name,
          element('span', { class: 'quiet' }, ` and ${rows.length - 1} more`),
        ]);
  const text = rows.map(({ connection, tags }) => searchText(nameOf(connection), tags)).join(' ');
  return element('tr', { 'data-name': text, 'data-direction': 'same' }, [
    element('th', { scope: 'row' }, [title]),
    ...(first?.cells ?? []).map((cell) => cellOf(cell, columnOf(columns, cell.control), rows.length === 1 ? first?.rules : undefined)),
  ]);
}

function cellOf(
  { control, before, after, direction, atLeast }: ProtectionMatrixCell,
  column: ControlColumn,
  rules: ProtectionMatrixRow['rules'],
): Html {
  const [first, last] = [cellText(column, before), cellText(column, after)];
  const least = atLeast === true ? '+' : '';
  if (direction === undefined)
    return element(
      'td',
      { class: last === '·' ? 'none' : undefined, title: `${listText(column, after)}${rulesText(control, rules)}` },
      `${last}${least}`,
    );
  const sides = [listText(column, before), listText(column, after)];
  // Rules can differ in what no entry of the list names.
  const what = sides[0] === sides[1] ? 'other conditions' : sides.join(' → ');
  const said = `${column.heading}: ${what}, ${verdictWord(direction)}${rulesText(control, rules)}`;
  const shown = sides[0] === sides[1] ? [`${last}${least} `] : [`${first} `, icon('arrow'), ` ${last}${least} `];
  return element('td', { class: direction, title: said }, [
    element('span', { 'aria-hidden': 'true' }, [...shown, verdictIcon(direction)]),
    element('span', { class: 'said' }, said),
  ]);
}

/** Returns the rules behind a cell, and the attachments of each. */
function rulesText(control: ControlType, rules: ProtectionMatrixRow['rules'] = []): string {
  const giving = rules.filter(({ controls: own }) => own.includes(control));
  const texts = giving.map(({ rule, by }) => `${nameOf(rule)} (${attachmentsText(by)})`);
  return texts.length === 0 ? '' : `; from ${shortList(texts, longestList).join(', ')}`;
}

/** Returns a cell in few characters: a count, or the only value. */
function cellText(column: ControlColumn, texts: readonly string[]): string {
  if (column.isSingle === true) return controlText(column, texts[0] ?? '·');
  if (texts.length === 0) return '·';
  return texts[0] === column.all ? 'all' : String(texts.length);
}

function listText(column: ControlColumn, texts: readonly string[]): string {
  if (texts.length === 0) return column.none ?? 'none';
  const spoken = texts.map((text) => controlText(column, text));
  return shortList(spoken, longestList).join(', ');
}

/** Returns the lower-case text in which the page searches for a connection. */
export function searchText(name: string, tags: Readonly<Record<string, Json>>): string {
  return [name, ...Object.entries(tags).map(([key, value]) => `${clip(key, longestTag)}=${clippedTag(value)}`)].join(' ').toLowerCase();
}
