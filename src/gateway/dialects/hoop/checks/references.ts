import type { PreflightRequest } from '../../../../model/gateway.ts';
import { isObject, type Json, type JsonObject } from '../../../../model/json.ts';
import type { OutsideReference } from '../../../../model/plan/plan.ts';
import type { PreflightAnswers, WireList } from '../../../dialect.ts';
import {
  namesOnlyPredecessor,
  replacementReference,
  findReplacements,
  unreadableReference,
  type ConnectionReplacement,
} from '../../shared/replacements.ts';
import { restList, asArray, asText } from '../../shared/rest.ts';
import { accessRules } from '../access-rules.ts';

/** A list of the gateway's own whose rows name connections. */
type ReferenceSource = {
  readonly list: WireList;
  readonly sort: string;
  readonly names: (row: JsonObject) => readonly Json[];
  readonly how: (row: JsonObject) => string;
};

// Which connections have these plugins, and how, follows from the connections themselves.
const derived: ReadonlySet<Json | undefined> = new Set(['audit', 'indexer', 'editor', 'dlp', 'review']);

const sources: readonly ReferenceSource[] = [
  {
    list: accessRules.list,
    sort: 'access-request rule',
    names: (row) => asArray(row['connection_names']),
    how: (row) => accessRules.read(row)?.text ?? '',
  },
  { list: restList('/runbooks/rules'), sort: 'runbook rule', names: (row) => asArray(row['connections']), how: describeRunbooks },
  { list: restList('/plugins'), sort: 'plugin', names: namesInPlugin, how: () => 'it is set up for each connection' },
];

/** What has to be asked before a replacement is judged. */
export function referenceReads(proposal: PreflightRequest): readonly string[] {
  return findReplacements(proposal).length === 0 ? [] : sources.map((source) => source.list.path);
}

/** What names a connection that is replaced, other than attributes, which go on to what takes its place. */
export function referencesIn(proposal: PreflightRequest, inquired: PreflightAnswers): readonly OutsideReference[] {
  const replacements = findReplacements(proposal);
  if (replacements.length === 0) return [];
  return sources.flatMap((source) => {
    const rows = wholeRows(source, inquired.get(source.list.path));
    return replacements.flatMap((one) =>
      rows === undefined ? [unreadableReference(source.sort, one)] : referencesFrom(source, rows, one),
    );
  });
}

/** The rows of a list that is whole; none where the gateway has no such thing. */
function wholeRows(source: ReferenceSource, answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const found = source.list.rows(answer);
  if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
  const rows = found.rows.filter(isObject);
  return rows.length === found.rows.length ? rows : undefined;
}

function referencesFrom(
  { sort, names, how }: ReferenceSource,
  rows: readonly JsonObject[],
  one: ConnectionReplacement,
): readonly OutsideReference[] {
  return rows
    .filter((row) => namesOnlyPredecessor(names(row), one))
    .map((row) => replacementReference(one, { sort, name: asText(row['name']), how: how(row) }));
}

function namesInPlugin(row: JsonObject): readonly Json[] {
  if (derived.has(row['name'])) return [];
  return asArray(row['connections']).flatMap((entry) =>
    isObject(entry) && entry['name'] !== undefined && isSetUpFor(row, entry) ? [entry['name']] : [],
  );
}

/** Every connection has the chat plugin; only some are set up for it. */
function isSetUpFor({ name }: JsonObject, entry: JsonObject): boolean {
  return name !== 'slack' || asArray(entry['config']).length > 0;
}

function describeRunbooks(row: JsonObject): string {
  const files = asArray(row['runbooks']).flatMap((file) =>
    isObject(file) ? [`${asText(file['repository'])}:${asText(file['name'])}`] : [],
  );
  const groups = asArray(row['user_groups']).map(asText);
  return `${files.join(', ') || 'all runbooks'} for ${groups.join(', ') || 'everybody'}`;
}
