import { ApiError } from '../../model/errors.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { LiveState } from '../../model/live.ts';
import { type AccessGrant, type AccessState, decidingLists } from '../../model/protection/access-objects.ts';
import { kindOf } from '../../model/resource.ts';
import { type AnswerBudget, createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import type { WireList } from '../dialect.ts';
import { wireEntryOf } from '../from-wire.ts';
import { readUid } from '../dialects/rest.ts';
import { readWholeList } from './whole-list.ts';

type AccessContext = Pick<GatewayContext, 'dialect' | 'client' | 'url' | 'capabilities' | 'rows'>;

/**
 * Reads what decides access besides connections, one request for each list of at most a page; undefined where the gateway has no such lists.
 * The objects of a kind are taken from `live`.
 */
export async function readAccess(context: AccessContext, live: Promise<LiveState>): Promise<AccessState | undefined> {
  const { access, kinds } = context.dialect;
  const lists = Object.entries(access).filter(([name]) => name !== 'groups' && name !== 'users' && name !== 'access-control');
  if (lists.length === 0) return undefined;
  // A read of all objects asks this first, too; then both use one read of the grants.
  await context.capabilities();
  const budget = createAnswerBudget();
  const [rows, ...found] = await Promise.all([
    access['access-control'] === undefined ? undefined : readGrants(context, budget),
    ...lists.map(async ([name, one]) => {
      const kind = Object.keys(decidingLists).find((candidate) => kinds[candidate] !== undefined && decidingLists[candidate] === name);
      return [name, kind === undefined ? await readAccessList(context, one, budget) : objectsOfKind(await live, kind, one)] as const;
    }),
  ]);
  return { ...(rows === undefined ? {} : { 'access-control': rows }), ...Object.fromEntries(found) };
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

/** Returns the objects of a kind as a list of what decides access. */
function objectsOfKind<Row extends AccessRow>(
  { resources, namesakes = [], unread = [] }: LiveState,
  kind: string,
  { read }: AccessReader<Row>,
): readonly Row[] | 'unreadable' {
  if (unread.some((one) => one.kind === kind)) return 'unreadable';
  return sortedByName([...resources, ...namesakes].filter(({ id }) => kindOf(id) === kind).map((resource) => read(wireEntryOf(resource))));
}

function sortedByName<Row extends AccessRow>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((left, right) => compareText(left.name, right.name) || compareText(left.id, right.id));
}

type AccessRow = { readonly id: string; readonly name: string };

type AccessReader<Row> = { readonly list: WireList; readonly read: (row: JsonObject) => Row };

/** Returns the objects of a list, sorted by name; `off` while its feature is off, `unreadable` where it is not shown completely. */
async function readAccessList<Row extends AccessRow>(
  { client, url }: AccessContext,
  { list, read }: AccessReader<Row>,
  budget: AnswerBudget,
): Promise<readonly Row[] | 'off' | 'unreadable'> {
  let missing: 'off' | 'unreadable' | undefined;
  const fetch = async (path: string): Promise<unknown> => {
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
