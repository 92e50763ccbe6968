import { largestOf } from '../../model/append-all.ts';
import type { Agent, ListedResource, Review, RunbookTemplate, SearchResult, ReviewGroup } from '../../model/service.ts';
import { escapeTerminal } from '../escape.ts';
import { clip, pad, visibleWidth, widthFor, type Paint, type Terminal } from './wrap.ts';
import { durationText } from '../../model/day.ts';

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
  let most = largestOf(natural, 1);
  if (total(most) <= room) return natural;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (total(middle) <= room) least = middle;
    else most = middle - 1;
  }
  return natural.map((width) => Math.min(width, least));
}

/** Headers and rows for `tableText`. */
export type TableListing = { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** Returns agents and their status. */
export function agentListing(agents: readonly Agent[]): TableListing {
  return { headers: ['name', 'status', 'id'], rows: agents.map(({ name, status, id }) => [name, status, id]) };
}

/** Returns resources with the names of their agents and variables, never a value. */
export function resourceListing(resources: readonly ListedResource[], agents: readonly Agent[]): TableListing {
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return {
    headers: ['name', 'type', 'agent', 'variables'],
    rows: resources.map((one) => [
      one.name,
      typeOf(one),
      names.get(one.agent_id) ?? one.agent_id,
      Object.keys(one.env_vars).toSorted().join(' '),
    ]),
  };
}

/** Returns runbooks with their repositories. */
export function templateListing(templates: readonly RunbookTemplate[]): TableListing {
  return {
    headers: ['runbook', 'repository', 'connections', 'commit', 'error'],
    rows: templates.map((one) => [one.name, one.repository, one.connections.join(' '), one.commit.slice(0, 8), one.error]),
  };
}

/** Returns reviews with the decision of each group. */
export function reviewListing(reviews: readonly Review[], secondsSince: (time: string) => number): TableListing {
  return {
    headers: ['review', 'status', 'type', 'age', 'groups'],
    rows: reviews.map((one) => [one.id, one.status, one.type, ageOf(secondsSince(one.created_at)), groupsOf(one)]),
  };
}

/** Returns all results of a search: connections, resources, then runbooks. */
export function searchListing({ connections, resources, runbooks }: SearchResult): TableListing {
  return {
    headers: ['name', 'what', 'type', 'of'],
    rows: [
      ...connections.map((one) => [one.name, 'connection', typeOf(one), one.resource_name]),
      ...resources.map((one) => [one.name, 'resource', typeOf(one), '']),
      ...runbooks.map((one) => [one.name, 'runbook', '', one.repository]),
    ],
  };
}

function typeOf({ type, subtype }: { readonly type: string; readonly subtype: string }): string {
  return [type, subtype].filter((part) => part !== '').join('/');
}

/** Returns the decisions of groups, then the groups that have not decided. */
function groupsOf({ review_groups_data: groups }: Review): string {
  const said = groups.filter(({ status }) => status !== 'PENDING').map(({ group, status }) => `${group} ${status}`);
  const waiting = groups.filter(({ status }) => status === 'PENDING').map(({ group }) => group);
  return [...said, ...(waiting.length === 0 ? [] : [`waits for ${waiting.join(' ')}`])].join(', ');
}

/** Returns an age in the largest whole unit. */
function ageOf(seconds: number): string {
  if (Number.isNaN(seconds)) return '';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}

const nanoseconds = 1_000_000_000;

/** Returns one review: its status, its facts, and the decision of each group. */
export function reviewText(review: Review, terminal: Terminal): string {
  const { id, type, status, session, created_at: asked, access_duration: duration, revoke_at: end, review_groups_data: groups } = review;
  const facts = [
    ['for', type === 'jit' ? `${type}, ${durationText(Math.floor(duration / nanoseconds))}` : type],
    ['window', windowText(review)],
    ['session', session],
    ['asked', asked],
    [status === 'REVOKED' ? 'revoked' : 'ends', end],
    ...groups.map((group) => [group.group, voteText(group)]),
  ].filter(([, value]) => value !== '');
  const rows = facts.map(([label = '', value = '']) => [escapeTerminal(label), escapeTerminal(value)] as const);
  const width = rows.reduce((most, [label]) => Math.max(most, visibleWidth(label)), 0);
  const lines = rows.map(([label, value]) => clip(`  ${pad(label, width)}  ${value}`, widthFor(terminal)));
  return [`${escapeTerminal(id)}  ${paintOf(status, terminal)(escapeTerminal(status))}`, ...lines].map((line) => `${line}\n`).join('');
}

function voteText({ status, forced_review: forced, reviewed_by: by, review_date: date }: ReviewGroup): string {
  const who = by === null ? '' : ` by ${by.name === '' ? by.email : by.name}`;
  return `${status}${forced ? ', forced' : ''}${who}${date === null ? '' : ` at ${date}`}`;
}

function windowText({ time_window: window }: Review): string {
  if (window === undefined || window === null) return '';
  const { start_time: start, end_time: end } = window.configuration;
  return `${start} to ${end} UTC`;
}

function paintOf(status: string, { color }: Terminal): Paint {
  if (status === 'APPROVED' || status === 'EXECUTED') return color.green;
  return status === 'REJECTED' || status === 'REVOKED' ? color.red : color.yellow;
}
