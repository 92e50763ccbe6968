import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import type { WireKind, WirePluginRows } from '../dialect.ts';
import { readIdAndName } from '../dialects/rest.ts';
import type { AnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import { readAccessList } from './read-access.ts';
import { textsOf, withRow } from './read-rows.ts';

/** Reads the rows of a plugin; objects that are read from now on have their field from them. */
export async function readPluginRows(context: GatewayContext, { list, textsIn }: WirePluginRows, budget: AnswerBudget): Promise<void> {
  const rows = await readAccessList(context, { list, read: (row) => ({ ...readIdAndName(row), texts: textsIn(row) }) }, budget);
  context.pluginRows.last = typeof rows === 'string' ? 'unreadable' : new Map(rows.map(({ id, texts }) => [id, texts]));
}

/** Returns an object with the field that the gateway keeps in a row of a plugin, as the list of rows had it. */
export function withPluginRow(
  { pluginRows: { last = 'unreadable' } }: Pick<GatewayContext, 'pluginRows'>,
  live: LiveResource,
  { kind, wireKind }: { readonly kind: Kind; readonly wireKind: WireKind },
): LiveResource {
  return withRow(live, { kind, field: wireKind.pluginRows?.field }, textsOf(last, live.uid));
}
