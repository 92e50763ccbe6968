import { ApiError } from '../../model/errors.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { equal, textsIn } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { kindOf } from '../../model/resource.ts';
import type { WireKind } from '../dialect.ts';
import { createAnswerBudget } from '../http/answer-budget.ts';
import { readPluginRows, withPluginRow } from '../live/plugin-rows.ts';
import type { GatewayContext } from '../session.ts';

/** Returns the texts that a request states for the row of a plugin; undefined where there are no such rows, or the request states none. */
export function pluginRowIn({ spec }: WriteRequest, { pluginRows }: WireKind): readonly string[] | undefined {
  const texts = pluginRows === undefined ? undefined : spec[pluginRows.field];
  return Array.isArray(texts) ? textsIn(texts) : undefined;
}

/** Returns a request without the field that the gateway keeps in rows of a plugin. */
export function withoutPluginRow(request: WriteRequest, { pluginRows }: WireKind): WriteRequest {
  if (pluginRows === undefined) return request;
  const { [pluginRows.field]: _, ...spec } = request.spec;
  return { ...request, spec };
}

/** Writes the row of an object if it differs; where the response was lost, it checks whether the write happened. Throws an ApiError. */
export async function writePluginRow(
  context: GatewayContext,
  live: LiveResource,
  texts: readonly string[] | undefined,
): Promise<LiveResource> {
  const binding = await context.bindingFor(kindOf(live.id));
  const { pluginRows: rows } = binding.wireKind;
  if (rows === undefined || texts === undefined || equal(texts, live.spec[rows.field])) return live;
  const { last } = context.pluginRows;
  try {
    await context.client.send({ method: 'PUT', path: rows.rowPath(live.uid), body: JSON.stringify(rows.rowBody(texts)) });
    if (typeof last === 'object') context.pluginRows.last = new Map([...last, [live.uid, texts]]);
    return withPluginRow(context, live, binding);
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    await readPluginRows(context, rows, createAnswerBudget());
    const found = withPluginRow(context, live, binding);
    if (!equal(texts, found.spec[rows.field])) throw error;
    return found;
  }
}
