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
  restList,
  asArray,
  asText,
} from '../../rest.ts';
import { accessRules } from '../read.ts';

/** A list of the gateway whose rows name connections and that manifests do not contain. */
type ReferenceSource = {
  readonly list: WireList;
  readonly sort: string;
  readonly names: (row: JsonObject) => readonly Json[];
  readonly how: (row: JsonObject) => string;
};

// These plugins follow from the connections themselves.
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

/** Lists what to read before a replacement is checked. */
export function referenceReads(proposal: PreflightRequest): readonly string[] {
  return findReplacements(proposal).length === 0 ? [] : sources.map((source) => source.list.path);
}

/** Finds what names a replaced connection, other than attributes, which its successor inherits. */
export function findReferences(proposal: PreflightRequest, answers: PreflightAnswers): readonly OutsideReference[] {
  const replacements = findReplacements(proposal);
  if (replacements.length === 0) return [];
  return sources.flatMap((source) => {
    const rows = wholeRows(source, answers.get(source.list.path));
    return replacements.flatMap((replacement) =>
      rows === undefined ? [unreadableReference(source.sort, replacement)] : referencesFrom(source, rows, replacement),
    );
  });
}

/** Returns the rows of a complete list; an empty list where the gateway has no such thing, undefined where the list is incomplete. */
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
  replacement: ConnectionReplacement,
): readonly OutsideReference[] {
  return rows
    .filter((row) => namesOnlyPredecessor(names(row), replacement))
    .map((row) => replacementReference(replacement, { sort, name: asText(row['name']), how: how(row) }));
}

function namesInPlugin(row: JsonObject): readonly Json[] {
  if (derived.has(row['name'])) return [];
  return asArray(row['connections']).flatMap((entry) =>
    isObject(entry) && entry['name'] !== undefined && isSetUpFor(row, entry) ? [entry['name']] : [],
  );
}

/** Returns whether the plugin is set up for the connection: every connection has the chat plugin, but only some have a config for it. */
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
