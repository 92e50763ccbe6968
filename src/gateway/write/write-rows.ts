import type { WireKind } from '../dialect.ts';
import { readRow, readRows, withRow } from '../live/read-rows.ts';
import { ApiError } from '../../model/errors.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { equal, textsIn } from '../../model/json.ts';
import type { LiveResource, GrantRow } from '../../model/live.ts';
import { kindOf } from '../../model/resource.ts';
import { createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';

/** Returns the groups that a request states for the row of an object; undefined where the gateway keeps no rows of it, or the request states none. */
export function rowIn({ spec }: WriteRequest, { rows }: WireKind): readonly string[] | undefined {
  const groups = rows === undefined ? undefined : spec[rows.field];
  return Array.isArray(groups) ? textsIn(groups) : undefined;
}

/** Returns a request without the field that the gateway keeps in rows. */
export function withoutRow(request: WriteRequest, { rows }: WireKind): WriteRequest {
  if (rows === undefined) return request;
  const { [rows.field]: _, ...spec } = request.spec;
  return { ...request, spec };
}

/** Returns the groups that an object has and keeps; null is a list of all groups. */
export function keptGroups(groups: readonly string[], { spec }: LiveResource, { rows }: WireKind): readonly string[] {
  const stored = rows === undefined ? null : spec[rows.field];
  if (!Array.isArray(stored)) return groups;
  const known = new Set(textsIn(stored));
  return groups.filter((group) => known.has(group));
}

/** Writes the row of an object if it differs; where the response was lost, it checks whether the write happened. Throws an ApiError. */
export async function writeRow(context: GatewayContext, live: LiveResource, groups: readonly string[] | undefined): Promise<LiveResource> {
  const binding = await context.bindingFor(kindOf(live.id));
  const { rows } = binding.wireKind;
  if (rows === undefined || groups === undefined || equal(groups, live.spec[rows.field])) return live;
  try {
    const { body } = await context.client.send({
      method: 'PUT',
      path: rows.rowPath(live.uid),
      body: JSON.stringify(rows.rowBody(groups)),
    });
    return withRow(live, binding, rows.groupsIn(body) ?? groups);
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    const found = withRow(live, binding, await readRow(context, rows, live.uid).catch(() => undefined));
    if (!equal(groups, found.spec[rows.field])) throw error;
    return found;
  }
}

/**
 * Switches on the feature of the rows of a kind, with rows in the same request: whatever has none is hidden from that moment. Where the response was lost,
 * it checks whether the gateway has exactly these rows. Throws an ApiError.
 */
export async function switchRowsOn(context: GatewayContext, kind: string, rows: readonly GrantRow[]): Promise<void> {
  const wire = (await context.bindingFor(kind)).wireKind.rows;
  if (wire === undefined) throw new Error(`${kind} has no rows on this gateway`);
  const body = JSON.stringify(wire.switchBody(rows));
  delete context.rows.last;
  try {
    await context.client.send({ method: 'POST', path: wire.switchPath, body });
    context.rows.last = new Map(rows.map(({ uid, groups }) => [uid, groups]));
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    const found = await readRows(context, createAnswerBudget());
    const isDone = typeof found !== 'string' && rows.every(({ uid, groups }) => equal(groups, found.get(uid)));
    if (!isDone) throw error;
  }
}
