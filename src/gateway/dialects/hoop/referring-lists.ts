import { asArray, asText, isObject, type JsonObject } from '../../../model/json.ts';
import type { PreflightAnswers, WireList } from '../../dialect.ts';
import { restList } from '../rest.ts';
import { access } from './access.ts';
import type { EventSubscription, PluginSetup, ReferringList, ReferringObject, ReferringObjects } from './references.ts';

type ListReader<Row> = { readonly list: WireList; readonly read: (row: JsonObject) => Row };

const readers: { readonly [List in ReferringList]: ListReader<ReferringObject[List]> } = {
  ...access,
  plugins: { list: restList('/plugins'), read: readPlugin },
  'event-subscriptions': { list: restList('/event-routing/subscriptions'), read: readSubscription },
};

// Plugins that follow from the connections themselves, and one whose rows are a list of its own.
const otherwiseRead: ReadonlySet<string> = new Set(['audit', 'indexer', 'editor', 'dlp', 'review', 'access_control']);

function readPlugin(row: JsonObject): PluginSetup {
  const name = asText(row['name']);
  const entries = otherwiseRead.has(name) ? [] : asArray(row['connections']);
  return { name, connections: entries.flatMap((entry) => (isObject(entry) && isSetUpFor(name, entry) ? [asText(entry['name'])] : [])) };
}

/** Returns whether the plugin is set up for the connection: every connection has the chat plugin, but only some have a config for it. */
function isSetUpFor(plugin: string, entry: JsonObject): boolean {
  return plugin !== 'slack' || asArray(entry['config']).length > 0;
}

function readSubscription(row: JsonObject): EventSubscription {
  const runbook = `${asText(row['runbook_repository'])}:${asText(row['runbook_file'])}`;
  return { name: asText(row['name']), connections: [asText(row['connection_name'])], runbook };
}

/** Returns the path that reads a list; of a list that the gateway only sends by page, the first and largest page. */
export function referringPath(list: ReferringList): string {
  const { path, paged } = readers[list].list;
  return paged === true ? `${path}?page=1&page_size=100` : path;
}

/** Reads the lists from the responses of the gateway; a list that it did not send as a whole is undefined. */
export function readReferringObjects(answers: PreflightAnswers, lists: ReadonlySet<ReferringList>): ReferringObjects {
  return Object.fromEntries([...lists].map((list) => [list, readObjects(list, answers)]));
}

function readObjects<List extends ReferringList>(list: List, answers: PreflightAnswers): readonly ReferringObject[List][] | undefined {
  const { list: wire, read }: ListReader<ReferringObject[List]> = readers[list];
  return wholeRows(wire, answers.get(referringPath(list)))?.map((row) => read(row));
}

/** Returns the rows of a complete list; an empty list where the gateway has no such thing, undefined where the list is incomplete. */
function wholeRows(list: WireList, answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const found = list.rows(answer);
  if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
  const rows = found.rows.filter((row: unknown) => isObject(row));
  return rows.length === found.rows.length ? rows : undefined;
}
