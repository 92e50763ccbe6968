import { runPool } from '../../model/concurrency.ts';
import { appendAll } from '../../model/collections.ts';
import { ApiError } from '../../model/errors.ts';
import { compareText, type JsonObject, textsIn } from '../../model/json.ts';
import type { FieldRule } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import {
  type AccessGrant,
  bearsRoles,
  defaultRoles,
  isAuthSetting,
  type ObjectIdentity,
  roleNamesIn,
  type RoleNames,
  rolesOf,
  watchedLists,
} from '../../model/protection/access-objects.ts';
import { resourceId } from '../../model/resource.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import type { AnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import { type Dialect, serverInfoPath, type WireAccessList, type WireList } from '../dialect.ts';
import { readUid } from '../dialects/rest.ts';
import { readWholeList } from './whole-list.ts';

type AccessContext = Pick<GatewayContext, 'dialect' | 'client' | 'url' | 'rows' | 'handshake'>;

/** Reads the objects of each watched kind, sorted by name; undefined for a kind that is not shown completely. */
export async function readWatched(
  context: WatchContext,
  rows: readonly WatchedRow[],
  listed: ListedEntries & WatchedRead,
): Promise<readonly (readonly LiveResource[] | undefined)[]> {
  const none = Promise.resolve(defaultRoles);
  const settings = rows.find(({ kind }) => isAuthSetting(`${kind}/`));
  const readSettings = settings === undefined ? undefined : readKind(context, settings, { ...listed, roles: none });
  const roles = readSettings === undefined ? none : readSettings.then((found) => (found === undefined ? 'unreadable' : roleNamesIn(found)));
  return Promise.all(rows.map(async (row) => (row === settings ? readSettings : readKind(context, row, { ...listed, roles }))));
}

type WatchedRead = { readonly budget: AnswerBudget; readonly reports: boolean };

type WatchContext = AccessContext & Pick<GatewayContext, 'registry'>;

async function readKind(
  context: WatchContext,
  { kind, list }: WatchedRow,
  { entriesOf, roles, ...reading }: ListedEntries & WatchedRead & { readonly roles: Promise<RoleNames | 'unreadable'> },
): Promise<readonly LiveResource[] | undefined> {
  const registered = context.registry.get(kind);
  if (registered === undefined) throw new Error(`the registry has no kind ${kind}`);
  const owners = list.ownedBy === undefined ? undefined : ((await entriesOf(list.list)) ?? 'unreadable');
  const rows = await (typeof owners === 'object'
    ? readOwned(context, list, { owners, ...reading })
    : (owners ?? readListed(context, list, reading)));
  if (rows === 'unreadable') return undefined;
  const names = bearsRoles(kind) ? await roles : undefined;
  if (names === 'unreadable') return undefined;
  const watched = names === undefined ? rows : rows.flatMap((row) => withRoles(row, names));
  return watched.map((row) => watchedObject(kind, registered.fields, row));
}

/** Returns one who signs in with its roles, if it has some. */
function withRoles(row: ListedRow, names: RoleNames): readonly ListedRow[] {
  const roles = row['isActive'] === false ? [] : rolesOf(textsIn(row['groups']), names);
  return roles.length === 0 ? [] : [{ ...row, roles }];
}

/**
 * Reads a list, and for reports other lists of the same rows, sorted by name; `unreadable` where one of them is not shown. A list that does not
 * exist has no rows.
 */
async function readListed<Row extends ObjectIdentity>(
  context: AccessContext,
  { list, others, read }: WireAccessList<Row>,
  { budget, reports }: WatchedRead,
): Promise<readonly Row[] | 'unreadable'> {
  const first = await readAccessList(context, { list, read }, budget);
  const known = typeof first === 'string' ? [] : first;
  const also = reports ? (others?.(known) ?? []) : [];
  const more = await Promise.all(also.map((one) => readAccessList(context, { list: one, read }, budget)));
  if ([first, ...more].includes('unreadable')) return 'unreadable';
  return sortedByName([...known, ...more.flatMap((rows) => (typeof rows === 'string' ? [] : rows))]);
}

/** Returns the entries of a list that is read anyway; undefined where it is not shown completely. */
type ListedEntries = { readonly entriesOf: (list: WireList) => Promise<readonly JsonObject[] | undefined> };

/** How many objects are asked for what belongs to them at a time. */
const atATime = 8;

/** Reads what belongs to each of some objects, sorted by name; `unreadable` where one of them does not show it. */
async function readOwned<Row extends ObjectIdentity>(
  context: AccessContext,
  { read, ownedBy }: WireAccessList<Row>,
  { owners, budget }: WatchedRead & { readonly owners: readonly JsonObject[] },
): Promise<readonly Row[] | 'unreadable'> {
  const found: Row[] = [];
  let isHidden = false;
  await runPool(
    owners.flatMap((owner) => ownedBy?.(owner) ?? []),
    atATime,
    async (list) => {
      if (isHidden) return;
      const rows = await readAccessList(context, { list, read }, budget);
      if (rows === 'unreadable') isHidden = true;
      else if (rows !== 'off') appendAll(found, rows);
    },
  );
  return isHidden ? 'unreadable' : sortedByName(found);
}

/** A watched kind, and how the gateway lists its objects. */
type WatchedRow = { readonly kind: string; readonly list: WireAccessList<ListedRow> };

/** Lists those of some kinds that the gateway has and that no manifest declares. */
export function watchedRows({ access }: Pick<Dialect, 'access'>, kinds: readonly string[]): readonly WatchedRow[] {
  return kinds.flatMap((kind) => {
    const { [kind]: name } = watchedLists;
    const list = name === undefined ? undefined : access[name];
    return list === undefined ? [] : [{ kind, list }];
  });
}

type ListedRow = ObjectIdentity & JsonObject;

/** Returns a listed object in the form of all live objects. */
function watchedObject(kind: string, fields: readonly FieldRule[], row: ListedRow): LiveResource {
  const { id: uid, name, managed_by: managedBy } = row;
  const edges = fields.filter(({ edge }) => edge !== undefined);
  return {
    id: resourceId(kind, name),
    uid,
    spec: Object.fromEntries(
      fields.flatMap((field) => (field.edge === undefined ? [[field.name, normalizeValue(field, row[field.name])]] : [])),
    ),
    secrets: {},
    edges: Object.fromEntries(
      edges.map(({ name: field, refers = '' }) => [
        field,
        textsIn(row[field])
          .toSorted(compareText)
          .map((end) => resourceId(refers, end)),
      ]),
    ),
    raw: undefined,
    unknown: [],
    ...(typeof managedBy === 'string' && managedBy !== '' ? { managedBy } : {}),
  };
}

/** Reads the rows that grant access to connections; returns the read that is in progress, if there is one. */
export async function readGrants(context: AccessContext, budget: AnswerBudget): Promise<readonly AccessGrant[] | 'off' | 'unreadable'> {
  const { dialect, rows } = context;
  const grants = dialect.access['access-control'];
  if (grants === undefined) return 'off';
  rows.reading ??= readAccessList(context, grants, budget);
  try {
    return await rows.reading;
  } finally {
    delete rows.reading;
  }
}

function sortedByName<Row extends ObjectIdentity>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((left, right) => compareText(left.name, right.name) || compareText(left.id, right.id));
}

/** Returns the objects of a list, sorted by name; `off` while its feature is off, `unreadable` where it is not shown completely. */
export async function readAccessList<Row extends ObjectIdentity>(
  { client, url, handshake, dialect }: AccessContext,
  { list, read }: Pick<WireAccessList<Row>, 'list' | 'read'>,
  budget: AnswerBudget,
): Promise<readonly Row[] | 'off' | 'unreadable'> {
  let missing: 'off' | 'unreadable' | undefined;
  const fetch = async (path: string): Promise<unknown> => {
    // What the session has read already is not read again.
    if (path === serverInfoPath) return (await handshake()).serverInfo.body;
    if (path === dialect.callerPath) return (await handshake()).caller;
    const { status, body } = await client.send({ method: 'GET', path, accept: [403, 404], share });
    if (status < 300) return body;
    missing = status === 404 && list.isEmpty?.(body) === true ? 'off' : 'unreadable';
    return [];
  };
  const share = budget.share();
  try {
    const { value } = await readWholeList({
      url: `${url}${list.path}`,
      list,
      fetch,
      share,
      uidOf: readUid,
      idOf: readUid,
      namesakes: true,
    });
    if (missing !== undefined) return missing;
    return value === undefined ? 'unreadable' : sortedByName(value.entries.map(read));
  } catch (error) {
    if (error instanceof ApiError) return 'unreadable';
    throw error;
  }
}
