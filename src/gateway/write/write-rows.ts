import type { WireRows } from '../dialect.ts';
import { readPluginRows, withPluginRow } from '../live/plugin-rows.ts';
import { readRow, readRows, withAccessRow } from '../live/read-rows.ts';
import type { WriteRequest } from '../../model/gateway.ts';
import { equal, textsIn } from '../../model/json.ts';
import type { GrantRow, LiveResource } from '../../model/live.ts';
import { createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext, KindBinding } from '../session.ts';
import { settleLost } from './settle-lost.ts';

/** A field that the gateway keeps in a row beside each object of a kind, as writes need it. */
export type RowPort = Pick<WireRows, 'field' | 'rowPath' | 'rowBody'> & {
  /** Returns an object with the row that was just written, and that the gateway answered with. */
  readonly written: (live: LiveResource, texts: readonly string[], answer: unknown) => LiveResource;
  /** Returns an object with its row as it is now. */
  readonly readAgain: (live: LiveResource) => Promise<LiveResource>;
};

/** Returns the row of the access to an object; undefined where the gateway keeps none. */
export function accessRowPort(context: GatewayContext, binding: KindBinding): RowPort | undefined {
  const { rows } = binding.wireKind;
  if (rows === undefined) return undefined;
  return {
    ...rows,
    written: (live, groups, answer) => withAccessRow(live, binding, rows.groupsIn(answer) ?? groups),
    readAgain: async (live) => withAccessRow(live, binding, await readRow(context, rows, live.uid).catch(() => undefined)),
  };
}

/** Returns the row that a plugin keeps of an object; undefined where there is none. */
export function pluginRowPort(context: GatewayContext, binding: KindBinding): RowPort | undefined {
  const { pluginRows } = binding.wireKind;
  if (pluginRows === undefined) return undefined;
  return {
    ...pluginRows,
    written(live, texts) {
      const { last } = context.pluginRows;
      if (typeof last === 'object') context.pluginRows.last = new Map([...last, [live.uid, texts]]);
      return withPluginRow(context, live, binding);
    },
    async readAgain(live) {
      await readPluginRows(context, pluginRows, { budget: createAnswerBudget() });
      return withPluginRow(context, live, binding);
    },
  };
}

/** Returns the texts that a request states for a row; undefined where it states none. */
export function textsFor(row: RowPort | undefined, { spec }: WriteRequest): readonly string[] | undefined {
  const texts = row === undefined ? undefined : spec[row.field];
  return Array.isArray(texts) ? textsIn(texts) : undefined;
}

/** Returns a request without the field that the gateway keeps in a row. */
export function withoutRow(request: WriteRequest, row: RowPort | undefined): WriteRequest {
  if (row === undefined) return request;
  const { [row.field]: _, ...spec } = request.spec;
  return { ...request, spec };
}

/** Returns the texts that the row of an object has and keeps; null is a list of all groups. */
export function keptTexts(texts: readonly string[], { spec }: LiveResource, row: RowPort | undefined): readonly string[] {
  const stored = row === undefined ? null : spec[row.field];
  if (!Array.isArray(stored)) return texts;
  const known = new Set(textsIn(stored));
  return texts.filter((text) => known.has(text));
}

/** Writes the row of an object if it differs; where the response was lost, it checks whether the write happened. Throws an ApiError. */
export async function writeRow(
  { client }: Pick<GatewayContext, 'client'>,
  live: LiveResource,
  { row, texts }: { readonly row: RowPort | undefined; readonly texts: readonly string[] | undefined },
): Promise<LiveResource> {
  if (row === undefined || texts === undefined || equal(texts, live.spec[row.field])) return live;
  const send = async (): Promise<LiveResource> => {
    const { body } = await client.send({ method: 'PUT', path: row.rowPath(live.uid), body: JSON.stringify(row.rowBody(texts)) });
    return row.written(live, texts, body);
  };
  return settleLost(send, async () => {
    const found = await row.readAgain(live);
    return equal(texts, found.spec[row.field]) ? found : undefined;
  });
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
  const send = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    await context.client.send({ method: 'POST', path: wire.switchPath, body });
    return new Map(rows.map(({ uid, groups }) => [uid, groups]));
  };
  context.rows.last = await settleLost(send, async () => {
    const found = await readRows(context, createAnswerBudget());
    return typeof found !== 'string' && rows.every(({ uid, groups }) => equal(groups, found.get(uid))) ? found : undefined;
  });
}
