import { textsIn } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { pointer } from '../../model/pointer.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import type { WireKind, WireRows } from '../dialect.ts';
import { type AnswerBudget, createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext, RowsRead } from '../session.ts';
import { readGrants } from './read-access.ts';

/** The texts in the row of one object: null while the feature of the rows is off, undefined where they cannot be read. */
export type RowTexts = readonly string[] | null | undefined;

/** A field that the gateway keeps in rows, and the kind as the gateway has it. */
type RowField = { readonly kind: Kind; readonly field: string | undefined };

/** Reads the rows of all objects; what was off when it was read last stays off. */
export async function readRows(context: GatewayContext, budget: AnswerBudget): Promise<RowsRead> {
  if (context.rows.last === 'off') return 'off';
  const found = await readGrants(context, budget);
  const rows = typeof found === 'string' ? found : new Map(found.map(({ id, groups }) => [id, groups]));
  context.rows.last = rows;
  return rows;
}

/** Reads the row of one object. */
export async function readRow(context: GatewayContext, { rowPath, groupsIn }: WireRows, uid: string): Promise<RowTexts> {
  const rows = context.rows.last ?? (await readRows(context, createAnswerBudget()));
  if (typeof rows === 'string') return rows === 'off' ? null : undefined;
  const { status, body } = await context.client.send({ method: 'GET', path: rowPath(uid), accept: [404] });
  return status === 404 ? [] : groupsIn(body);
}

/** Returns the groups of an object as it was read. */
export function knownGroups({ spec, unknown }: LiveResource, { field }: WireRows): RowTexts {
  const groups = spec[field];
  if (unknown.includes(pointer(field))) return undefined;
  return Array.isArray(groups) ? textsIn(groups) : null;
}

/** Returns the texts of an object as the list of rows has them. */
export function textsOf(rows: RowsRead, uid: string): RowTexts {
  if (typeof rows === 'string') return rows === 'off' ? null : undefined;
  return rows.get(uid) ?? [];
}

/** Returns an object with a field that the gateway keeps in a row, as manifests state it: without the group that every list includes. */
export function withRow(live: LiveResource, { kind, field }: RowField, texts: RowTexts): LiveResource {
  const rule = field === undefined ? undefined : kind.fields.find(({ name }) => name === field);
  if (rule === undefined) return live;
  const path = pointer(rule.name);
  const unknown = live.unknown.filter((one) => one !== path);
  if (texts === undefined) return { ...live, unknown: [...unknown, path] };
  const value = texts === null ? null : texts.filter((text) => text !== '' && text !== rule.implied);
  return { ...live, spec: { ...live.spec, [rule.name]: normalizeValue(rule, value) }, unknown };
}

/** Returns an object with the groups in the row of its access. */
export function withAccessRow(
  live: LiveResource,
  { kind, wireKind }: { readonly kind: Kind; readonly wireKind: WireKind },
  groups: RowTexts,
): LiveResource {
  return withRow(live, { kind, field: wireKind.rows?.field }, groups);
}
