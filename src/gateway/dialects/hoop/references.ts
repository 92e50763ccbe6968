import type { Proposal } from '../../../model/gateway.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { Reference } from '../../../model/plan/plan.ts';
import type { Inquired, WireList } from '../../dialect.ts';
import { namesOnly, reference, replacementsOf, unseen, type Replacement } from '../replaced.ts';
import { list, listOf, textOf } from '../rest.ts';
import { accessRules } from './access-rules.ts';

/** A list of the gateway's own whose rows name connections. */
type Source = {
  readonly list: WireList;
  readonly sort: string;
  readonly names: (row: JsonObject) => readonly Json[];
  readonly how: (row: JsonObject) => string;
};

// Which connections have these plugins, and how, follows from the connections themselves.
const derived: ReadonlySet<Json | undefined> = new Set(['audit', 'indexer', 'editor', 'dlp', 'review']);

const sources: readonly Source[] = [
  {
    list: accessRules.list,
    sort: 'access-request rule',
    names: (row) => listOf(row['connection_names']),
    how: (row) => accessRules.read(row)?.text ?? '',
  },
  { list: list('/runbooks/rules'), sort: 'runbook rule', names: (row) => listOf(row['connections']), how: howRunbooks },
  { list: list('/plugins'), sort: 'plugin', names: namesInPlugin, how: () => 'it is set up for each connection' },
];

/** What has to be asked before a replacement is judged. */
export function referenceInquiries(proposal: Proposal): readonly string[] {
  return replacementsOf(proposal).length === 0 ? [] : sources.map((source) => source.list.path);
}

/** What names a connection that is replaced, other than attributes, which go on to what takes its place. */
export function referencesIn(proposal: Proposal, inquired: Inquired): readonly Reference[] {
  const replacements = replacementsOf(proposal);
  if (replacements.length === 0) return [];
  return sources.flatMap((source) => {
    const rows = rowsOf(source, inquired.get(source.list.path));
    return replacements.flatMap((one) => (rows === undefined ? [unseen(source.sort, one)] : named(source, rows, one)));
  });
}

/** The rows of a list that is whole; none where the gateway has no such thing. */
function rowsOf(source: Source, answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const found = source.list.rows(answer);
  if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
  const rows = found.rows.filter(isObject);
  return rows.length === found.rows.length ? rows : undefined;
}

function named({ sort, names, how }: Source, rows: readonly JsonObject[], one: Replacement): readonly Reference[] {
  return rows.filter((row) => namesOnly(names(row), one)).map((row) => reference(one, { sort, name: textOf(row['name']), how: how(row) }));
}

function namesInPlugin(row: JsonObject): readonly Json[] {
  if (derived.has(row['name'])) return [];
  return listOf(row['connections']).flatMap((entry) =>
    isObject(entry) && entry['name'] !== undefined && matters(row, entry) ? [entry['name']] : [],
  );
}

/** Every connection has the chat plugin; only some are set up for it. */
function matters({ name }: JsonObject, entry: JsonObject): boolean {
  return name !== 'slack' || listOf(entry['config']).length > 0;
}

function howRunbooks(row: JsonObject): string {
  const files = listOf(row['runbooks']).flatMap((file) =>
    isObject(file) ? [`${textOf(file['repository'])}:${textOf(file['name'])}`] : [],
  );
  const groups = listOf(row['user_groups']).map(textOf);
  return `${files.join(', ') || 'all runbooks'} for ${groups.join(', ') || 'everybody'}`;
}
