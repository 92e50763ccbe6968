import { ApiError } from '../../model/errors.ts';
import { isObject } from '../../model/json.ts';
import type { AccessRule } from '../../model/live.ts';
import type { GatewayContext } from '../context.ts';

/** Reads the rules that review beside connections; nothing where there are none, or they are not shown whole: then nobody knows. */
export async function readAccessRules({
  dialect,
  client,
}: Pick<GatewayContext, 'dialect' | 'client'>): Promise<readonly AccessRule[] | undefined> {
  if (dialect.accessRules === undefined) return undefined;
  const { list, read } = dialect.accessRules;
  try {
    const { status, body } = await client.send({ method: 'GET', path: list.path, accept: [403, 404] });
    const found = status === 200 ? list.rows(body) : undefined;
    if (found === undefined || (found.page !== undefined && found.page.total !== found.rows.length)) return undefined;
    const rules = found.rows.map((row) => (isObject(row) ? read(row) : undefined));
    return rules.every((rule) => rule !== undefined) ? rules : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
