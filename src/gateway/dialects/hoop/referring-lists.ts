import { asText, isObject, type JsonObject, textsIn, objectsIn } from '../../../model/json.ts';
import type { PreflightAnswers, WireList } from '../../dialect.ts';
import { restList } from '../rest.ts';
import { connectionsOf, fixedObjects, type LiveState, rowFieldsOf } from '../../../model/live.ts';
import {
  decidingLists,
  type NamingConnections,
  type ObjectIdentity,
  readAnalyzerRule,
  readMachineIdentity,
  readRequestRule,
  readRulepack,
  readRunbookRule,
  watchedLists,
} from '../../../model/protection/access-objects.ts';
import { kindOf, nameOf } from '../../../model/resource.ts';
import type { EventSubscription, PluginSetup, ReferringList, ReferringObjects } from './references.ts';

type ListReader<Row> = { readonly list: WireList; readonly read: (row: JsonObject) => Row };

const plugins: ListReader<PluginSetup> = { list: restList('/plugins'), read: readPlugin };
const subscriptions: ListReader<EventSubscription> = { list: restList('/event-routing/subscriptions'), read: readSubscription };

// Plugins that follow from the connections themselves, and those whose rows are fields of them.
const otherwiseRead: ReadonlySet<string> = new Set(['audit', 'indexer', 'editor', 'dlp', 'review', 'access_control', 'slack']);

function readPlugin(row: JsonObject): PluginSetup {
  const name = asText(row['name']);
  const entries = otherwiseRead.has(name) ? [] : objectsIn(row['connections']);
  return { name, connections: entries.map((entry) => asText(entry['name'])) };
}

function readSubscription(row: JsonObject): EventSubscription {
  const runbook = `${asText(row['runbook_repository'])}:${asText(row['runbook_file'])}`;
  return { name: asText(row['name']), connections: [asText(row['connection_name'])], runbook };
}

/** Returns the paths that read those of some lists that are not part of the live state. */
export function referringPaths(lists: ReadonlySet<ReferringList>): readonly string[] {
  return [...(lists.has('plugins') ? [plugins.list.path] : []), ...(lists.has('event-subscriptions') ? [subscriptions.list.path] : [])];
}

/** Returns the objects that refer to connections, as the live state and the responses have them; a list that is not whole is undefined. */
export function readReferringObjects(live: LiveState, answers: PreflightAnswers): ReferringObjects {
  return {
    'access-control': grantsIn(live),
    attributes: listedIn(live, 'attributes', (spec, { name }) => ({ name, groups: textsIn(spec['access_groups']) })),
    'access-request-rules': listedIn(live, 'access-request-rules', readRequestRule),
    'runbook-rules': listedIn(live, 'runbook-rules', readRunbookRule),
    rulepacks: listedIn(live, 'rulepacks', readRulepack),
    'analyzer-rules': listedIn(live, 'analyzer-rules', readAnalyzerRule),
    'machine-identities': listedIn(live, 'machine-identities', readMachineIdentity),
    plugins: readRows(plugins, answers),
    'event-subscriptions': readRows(subscriptions, answers),
  };
}

const listOfKind: Readonly<Record<string, string>> = { ...decidingLists, ...watchedLists };

/** Returns the live objects of a list, and the connections that they name; undefined where they cannot be read. */
function listedIn<Row>(
  live: LiveState,
  list: ReferringList,
  read: (spec: JsonObject, identity: ObjectIdentity) => Row,
): readonly (Row & NamingConnections)[] | undefined {
  const { resources, watched, unread = [] } = live;
  if (watched === undefined || unread.some(({ kind }) => listOfKind[kind] === list)) return undefined;
  return [...resources, ...fixedObjects(live)].flatMap((one) =>
    listOfKind[kindOf(one.id)] === list
      ? [{ ...read(one.spec, { id: one.uid, name: nameOf(one.id) }), connections: connectionsOf(one) }]
      : [],
  );
}

/** Returns the groups of each row of access control; undefined where they cannot be read. */
function grantsIn({ resources, rowFields = {} }: LiveState): ReferringObjects['access-control'] {
  const [state] = Object.values(rowFields);
  if (state !== 'on') return state === 'off' ? [] : undefined;
  return resources.flatMap(({ id, uid, spec }) =>
    rowFieldsOf({ rowFields }, kindOf(id)).map(({ name }) => ({ id: uid, name: nameOf(id), groups: textsIn(spec[name]) })),
  );
}

function readRows<Row>({ list, read }: ListReader<Row>, answers: PreflightAnswers): readonly Row[] | undefined {
  return wholeRows(list, answers.get(list.path))?.map(read);
}

/** Returns the rows of a complete list; an empty list where the gateway has no such thing, undefined where the list is incomplete. */
function wholeRows(list: WireList, answer: unknown): readonly JsonObject[] | undefined {
  if (answer === null) return [];
  const found = list.rows(answer);
  if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
  const rows = found.rows.filter((row: unknown) => isObject(row));
  return rows.length === found.rows.length ? rows : undefined;
}
