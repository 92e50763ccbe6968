import { largestOf } from '../../model/collections.ts';
import type { Agent, ListedResource, RunbookTemplate, SearchResult } from '../../model/service.ts';
import { escapeTerminal } from '../escape.ts';
import { clip, pad, plainPalette, visibleWidth, words, wrap } from '../wrap.ts';

const between = '  ';

/** Returns rows in aligned columns under upper-case headers, clipped or wrapped to `columns`; undefined clips nothing. */
export function tableText({ headers, rows, details = [], wraps = false }: TableListing, columns: number | undefined): string {
  if (wraps)
    return wrappedLines(headers, rows, columns ?? Number.POSITIVE_INFINITY)
      .map((line) => `${line}\n`)
      .join('');
  const [header = '', ...lines] = tableLines(headers, rows, columns);
  const room = columns ?? Number.POSITIVE_INFINITY;
  const detailsOf = (index: number): readonly string[] => (details[index] ?? []).map((line) => clip(`  ${escapeTerminal(line)}`, room));
  return [header, ...lines.flatMap((line, index) => [line, ...detailsOf(index)])].map((line) => `${line}\n`).join('');
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

/** Returns the lines of a table whose cells continue below each other where a line has no room. */
function wrappedLines(headers: readonly string[], rows: readonly (readonly string[])[], room: number): readonly string[] {
  const cells = [headers.map((header) => header.toUpperCase()), ...rows].map((row) => row.map(escapeTerminal));
  const natural = headers.map((_, index) => cells.reduce((most, row) => Math.max(most, visibleWidth(row[index] ?? '')), 0));
  const widths = fitWidths(natural, room - between.length * (headers.length - 1));
  const lineOf = (parts: readonly (readonly string[])[], line: number): string =>
    parts.map((part, index) => pad(part[line] ?? '', widths[index] ?? 0)).join(between);
  return cells.flatMap((row) => {
    const parts = row.map((text, index) => wrap(words(text), { color: plainPalette, columns: widths[index] ?? 0, isExact: true }, 0));
    const height = largestOf(
      parts.map(({ length }) => length),
      1,
    );
    return Array.from({ length: height }, (_, line) => lineOf(parts, line).trimEnd());
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

/** Headers and rows for `tableText`, and the lines below each row. */
export type TableListing = {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly details?: readonly (readonly string[])[];
  /** Cells continue on the next line instead of losing their ends; such a table has no details. */
  readonly wraps?: boolean;
};

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
