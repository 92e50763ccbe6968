import { textsIn } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { pointer } from '../../model/pointer.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import type { WireKind, WireRows } from '../dialect.ts';
import { type AnswerBudget, createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext, RowsRead } from '../session.ts';
import { readGrants } from './read-access.ts';

/** The groups in the row of one object: null while the feature of the rows is off, undefined where they cannot be read. */
export type RowGroups = readonly string[] | null | undefined;

/** Reads the rows of all objects; what was off when it was read last stays off. */
export async function readRows(context: GatewayContext, budget: AnswerBudget): Promise<RowsRead> {
  if (context.rows.last === 'off') return 'off';
  const found = await readGrants(context, budget);
  const rows = typeof found === 'string' ? found : new Map(found.map(({ id, groups }) => [id, groups]));
  context.rows.last = rows;
  return rows;
}

/** Reads the row of one object. */
export async function readRow(context: GatewayContext, { rowPath, groupsIn }: WireRows, uid: string): Promise<RowGroups> {
  const rows = context.rows.last ?? (await readRows(context, createAnswerBudget()));
  if (typeof rows === 'string') return rows === 'off' ? null : undefined;
  const { status, body } = await context.client.send({ method: 'GET', path: rowPath(uid), accept: [404] });
  return status === 404 ? [] : groupsIn(body);
}

/** Returns the groups of an object as it was read. */
export function knownGroups({ spec, unknown }: LiveResource, { field }: WireRows): RowGroups {
  const groups = spec[field];
  if (unknown.includes(pointer(field))) return undefined;
  return Array.isArray(groups) ? textsIn(groups) : null;
}

/** Returns the groups of an object as the list of rows has them. */
export function groupsOf(rows: RowsRead, uid: string): RowGroups {
  if (typeof rows === 'string') return rows === 'off' ? null : undefined;
  return rows.get(uid) ?? [];
}

/** How a gateway has one kind, as far as its rows need it. */
type RowBinding = { readonly kind: Kind; readonly wireKind: WireKind };

/** Returns an object with the field that the gateway keeps in a row, as manifests state it: without the group that every list includes. */
export function withRow(live: LiveResource, { kind, wireKind }: RowBinding, groups: RowGroups): LiveResource {
  const rule = kind.fields.find(({ name }) => name === wireKind.rows?.field);
  if (rule === undefined) return live;
  const path = pointer(rule.name);
  const unknown = live.unknown.filter((one) => one !== path);
  if (groups === undefined) return { ...live, unknown: [...unknown, path] };
  const value = groups === null ? null : groups.filter((group) => group !== '' && group !== rule.implied);
  return { ...live, spec: { ...live.spec, [rule.name]: normalizeValue(rule, value) }, unknown };
}
