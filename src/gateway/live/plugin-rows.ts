import type { Kind } from '../../model/kind.ts';
import type { PartOfGateway } from '../../model/gateway.ts';
import type { LiveResource } from '../../model/live.ts';
import type { WireKind, WirePluginRows } from '../dialect.ts';
import { readIdAndName } from '../dialects/rest.ts';
import type { AnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import { readAccessList } from './read-access.ts';
import { textsOf, withRow } from './read-rows.ts';

/** Reads the rows of a plugin, unless a part does without their field; objects that are read from now on have it from them. */
export async function readPluginRows(
  context: GatewayContext,
  { field, list, textsIn }: WirePluginRows,
  { budget, part }: { readonly budget: AnswerBudget; readonly part?: PartOfGateway | undefined },
): Promise<void> {
  if (part?.without.has(field) === true) {
    context.pluginRows.last ??= 'left out';
    return;
  }
  const rows = await readAccessList(context, { list, read: (row) => ({ ...readIdAndName(row), texts: textsIn(row) }) }, budget);
  context.pluginRows.last = typeof rows === 'string' ? 'unreadable' : new Map(rows.map(({ id, texts }) => [id, texts]));
}

/** Returns an object with the field that the gateway keeps in a row of a plugin, as the list of rows had it. */
export function withPluginRow(
  { pluginRows: { last = 'unreadable' } }: Pick<GatewayContext, 'pluginRows'>,
  live: LiveResource,
  { kind, wireKind }: { readonly kind: Kind; readonly wireKind: WireKind },
): LiveResource {
  return last === 'left out' ? live : withRow(live, { kind, field: wireKind.pluginRows?.field }, textsOf(last, live.uid));
}
