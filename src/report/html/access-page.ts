import { createHash } from 'node:crypto';
import { addToGroup } from '../../model/collections.ts';
import { asObject, asText, compareText, type Json, type JsonObject, objectsIn, parseJson, textsIn } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { escapeJson } from '../escape.ts';
import { everybodyElse } from '../wording/people.ts';
import { rowStateText, sinceText } from '../subjects/access-report.ts';
import { plural } from '../wording/summary.ts';
import { joinPlaces } from '../wording/value.ts';
import { element, empty, type Html, verbatim } from './markup.ts';
import { accessScript, accessStyle, htmlStyle } from './page-assets.ts';
import { allVerbs, permissionFilters, rowAttributes } from './permissions.ts';

/** A page about access: who can use which connections, a row for each connection and each set of people that need the same. */
type AccessPage = {
  readonly title: string;
  readonly lead: Html;
  readonly columns: readonly string[];
  readonly rows: readonly AccessRow[];
  readonly verbs: readonly AccessMode[];
  /** What the page contains beside the table. */
  readonly more?: readonly Html[];
};

/** A row of a page about access; its cells are those after the connection. */
export type AccessRow = {
  readonly connection: string;
  readonly tags: readonly string[];
  /** Undefined: everybody but people in the groups `except`. */
  readonly groups?: readonly string[] | undefined;
  readonly except?: readonly string[];
  readonly verbs: readonly string[];
  /** Quiet lines below the connection. */
  readonly notes: readonly string[];
  readonly cells: readonly Html[];
};

/** Renders who can use which connections as a self-contained page, which a search and choices reduce and which prints on A4. */
export function accessPage({ title, lead, columns, rows, verbs, more = [] }: AccessPage): string {
  const policy = `default-src 'none'; style-src ${hashSource(htmlStyle)} ${hashSource(accessStyle)}; script-src ${hashSource(accessScript)}; base-uri 'none'; form-action 'none'`;
  const head = element('head', {}, [
    empty('meta', { charset: 'utf-8' }),
    empty('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    empty('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    empty('meta', { name: 'color-scheme', content: 'light dark' }),
    element('title', {}, title),
    verbatim('style', htmlStyle),
    verbatim('style', accessStyle),
  ]);
  const search = empty('input', { type: 'search', id: 'search', placeholder: 'a name, a group, or env=prod', autocomplete: 'off' });
  const groups = [...new Set(rows.flatMap((row) => [...(row.groups ?? []), ...(row.except ?? [])]))].toSorted(compareText);
  const connections = [...new Set(rows.map(({ connection }) => connection))].toSorted(compareText);
  const headings = ['connection', ...columns].map((name) => element('th', { scope: 'col' }, name));
  const body = element('body', {}, [
    element('main', { id: 'main' }, [
      element('h1', {}, title),
      lead,
      element('div', { class: 'tools', role: 'search' }, [
        element('label', {}, ['Search ', search]),
        element('span', { id: 'count', class: 'quiet', 'aria-live': 'polite' }, ''),
      ]),
      permissionFilters('Rows of the table', { groups, connections, verbs }),
      element('table', { class: 'access' }, [element('thead', {}, [element('tr', {}, headings)]), element('tbody', {}, rows.map(rowHtml))]),
    ]),
    ...more,
    verbatim('script', accessScript),
  ]);
  return `<!doctype html>\n${element('html', { lang: 'en' }, [head, body]).html}\n`;
}

function rowHtml({ cells, notes, ...subject }: AccessRow): Html {
  const quiet = notes.filter((text) => text !== '').map((text) => element('div', { class: 'quiet' }, text));
  return element('tr', rowAttributes(subject), [element('th', { scope: 'row' }, [subject.connection, ...quiet]), ...cells]);
}

/** Returns a cell; on a narrow screen its label is before it. */
export function labeledCell(label: string, content: Parameters<typeof element>[2], attributes: Parameters<typeof element>[1] = {}): Html {
  return element('td', { 'data-label': label, ...attributes }, content);
}

/** Renders a report on access. */
export function renderAccessPage(report: JsonObject): string {
  const rows = objectsIn(report['rows']);
  const byConnection = new Map<string, JsonObject[]>();
  for (const row of rows) addToGroup(byConnection, asText(row['connection']), row);
  const verbs = allVerbs.filter((verb) => rows.length === 0 || rows.some((row) => row[verb] !== undefined));
  return accessPage({
    title: `Who can reach ${plural(byConnection.size, 'connection')} of ${asText(report['target'])}`,
    lead: element('p', {}, [
      `From ${sourceText(report)}${filterText(report)}. ${recordText(report)}SHA-256 `,
      element('code', {}, asText(report['digest'])),
      '.',
    ]),
    columns: ['groups', ...verbs, 'decided by', 'since'],
    verbs,
    rows: [...byConnection.values()].flatMap((same) => same.map((row) => reportedRow(row, same, verbs))),
    more: [element('pre', { id: 'report', hidden: true }, escapeJson(JSON.stringify(report)))],
  });
}

/** Returns how a policy names an inline style or script. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Returns the report that a page contains; undefined if it contains none, or shows something else. */
export function reportInPage(page: string): JsonObject | undefined {
  const [, text = ''] = /<pre id="report" hidden>([^<]*)<\/pre>/.exec(page) ?? [];
  const report = asObject(parseJson(text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))));
  return renderAccessPage(report) === page ? report : undefined;
}

const sources: Readonly<Record<string, string>> = {
  manifests: 'the manifests alone',
  live: 'the gateway as it is',
  plan: 'the gateway as the plan would leave it',
};

/** Returns where a page about access has its answers from: `the manifests alone, at commit …`. */
export function sourceText({ source, commit }: JsonObject): string {
  const from = sources[asText(source)] ?? '';
  return commit === undefined ? from : `${from}, at commit ${asText(commit).slice(0, 12)}`;
}

/** Returns what a report is restricted to, as the flags of its command. */
function filterText({ filters }: JsonObject): string {
  const flags = textsIn(filters);
  return flags.length === 0 ? '' : `, only ${flags.join(' ')}`;
}

/** Returns what is known of the last apply, as sentences that end with a space. */
function recordText({ applied }: JsonObject): string {
  if (applied === undefined) return '';
  const { commit, time, unmerged, isIncomplete, removed, unknown } = asObject(applied);
  if (unknown !== undefined) return `${noRecordTexts[asText(unknown)] ?? ''} `;
  const gone = textsIn(removed);
  return [
    `Last applied: commit ${asText(commit).slice(0, 12)}${time === undefined ? '' : `, at ${asText(time).slice(0, 16).replace('T', ' ')} UTC`}. `,
    unmerged === undefined ? '' : `Since then the commit ${asText(unmerged).slice(0, 12)}, which is not reviewed, was applied. `,
    isIncomplete === true ? 'A later apply was not complete. ' : '',
    gone.length === 0 ? '' : `Removed from the manifests, not applied yet: ${gone.join(', ')}. `,
  ].join('');
}

const noRecordTexts: Readonly<Record<string, string>> = {
  none: 'No apply is recorded, so it is not known what is live.',
  unreadable: 'The record of applies cannot be read, so it is not known what is live.',
  'not proven': 'The record of applies is not proven, so it is not known what is live.',
};

/** Returns a row of a report, with the other rows of its connection: everybody is everybody else. */
function reportedRow(row: JsonObject, same: readonly JsonObject[], verbs: readonly string[]): AccessRow {
  const groups = textsIn(row['groups']);
  const { commit, author } = asObject(row['since']);
  const since = commit === undefined ? sinceText(row) : `${sinceText(row).slice(0, 10)} ${asText(author)} (${asText(commit).slice(0, 12)})`;
  const pending = row['isApplied'] === false ? [rowStateText(row)] : [];
  const tags = keyValues(row['tags']);
  const others = same.flatMap((one) => (one === row ? [] : textsIn(one['groups'])));
  return {
    connection: asText(row['connection']),
    tags,
    notes: [tags.join(', ')],
    ...(groups.includes(everybodyElse) ? { except: others } : { groups }),
    verbs: verbs.filter((verb) => asObject(row[verb])['answer'] !== 'no'),
    cells: [
      labeledCell('groups', groups.join(', ')),
      ...verbs.map((verb) => labeledCell(verb, asText(asObject(row[verb])['text']))),
      labeledCell('decided by', joinPlaces(textsIn(row['decidedBy'])).join(', '), { class: 'mono' }),
      labeledCell('since', [since, ...pending].filter((text) => text !== '').join(', ')),
    ],
  };
}

/** Returns tags as `key=value`. */
export function keyValues(tags: Json | undefined): readonly string[] {
  return Object.entries(asObject(tags)).map(([key, value]) => `${key}=${asText(value)}`);
}
