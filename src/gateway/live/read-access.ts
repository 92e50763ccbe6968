import { ApiError } from '../../model/errors.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { AccessGrant, AccessState } from '../../model/protection/access-objects.ts';
import { type AnswerBudget, createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import type { WireList } from '../dialect.ts';
import { readUid } from '../dialects/rest.ts';
import { readWholeList } from './whole-list.ts';

type AccessContext = Pick<GatewayContext, 'dialect' | 'client' | 'url' | 'capabilities' | 'rows'>;

/** Reads what decides access besides connections, one request for each list of at most a page; undefined where the gateway has no such lists. */
export async function readAccess(context: AccessContext): Promise<AccessState | undefined> {
  const lists = Object.entries(context.dialect.access).filter(([name]) => name !== 'groups' && name !== 'access-control');
  if (lists.length === 0) return undefined;
  // A read of all objects asks this first, too; then both use one read of the grants.
  await context.capabilities();
  const budget = createAnswerBudget();
  const [rows, ...found] = await Promise.all([
    context.dialect.access['access-control'] === undefined ? undefined : readGrants(context, budget),
    ...lists.map(async ([name, one]) => [name, await readAccessList(context, one, budget)] as const),
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

type AccessReader<Row> = { readonly list: WireList; readonly read: (row: JsonObject) => Row };

/** Returns the objects of a list, sorted by name; `off` while its feature is off, `unreadable` where it is not shown completely. */
async function readAccessList<Row extends { readonly id: string; readonly name: string }>(
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
    return (
      value?.entries.map(read).toSorted((left, right) => compareText(left.name, right.name) || compareText(left.id, right.id)) ??
      'unreadable'
    );
  } catch (error) {
    if (error instanceof ApiError) return 'unreadable';
    throw error;
  }
}
