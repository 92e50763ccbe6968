import type { Checked } from '../../model/diagnostic.ts';
import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { pointer } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { SupplementList, SupplementRow, WireList } from '../dialect.ts';
import type { AnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext, KindBinding } from '../session.ts';
import { inheritedKeysIn } from './read-inherited.ts';
import { listFetcher, pageSize, readWholeList, type WholeList } from './whole-list.ts';

/** The objects that a run needs whole; of others, their list is enough. */
export type NeededObjects = ReadonlySet<string>;

/** What a supplement adds to objects, and the ids of those that it was not read for. */
export type AddedRows = { readonly rows: ReadonlyMap<string, SupplementRow>; readonly unread: ReadonlySet<string> };

type SupplementRead = {
  readonly budget: AnswerBudget;
  readonly needed: NeededObjects | undefined;
  readonly reading: Promise<Checked<WholeList<ResourceId>>>;
};

/** Reads a supplement, or only its rows about the needed objects where that takes fewer requests. */
export async function readSupplement(
  context: GatewayContext,
  supplement: SupplementList,
  { budget, needed, reading }: SupplementRead,
): Promise<Checked<AddedRows>> {
  const listed = needed === undefined ? undefined : (await reading).value;
  const pairs = [...(listed?.ids ?? [])].map(([uid, id], at) => ({ uid, entry: listed?.entries[at] ?? {}, isNeeded: needed?.has(id) }));
  const wanted = pairs.filter(({ isNeeded }) => isNeeded).map(({ entry }) => supplement.listFor(entry));
  const lists = new Map(wanted.map((list) => [list.path, list]));
  const isWhole = listed === undefined || lists.size >= Math.ceil(pairs.length / pageSize);
  const reads = await Promise.all(
    (isWhole ? [supplement.list] : [...lists.values()]).map((list) => readSupplementRows(context, supplement, { list, budget })),
  );
  const diagnostics = reads.flatMap((read) => read.diagnostics);
  if (reads.some(({ value }) => value === undefined)) return { diagnostics };
  const rows = new Map(reads.flatMap(({ value = [] }) => value.map((row) => [row.uid, row] as const)));
  return {
    value: { rows, unread: new Set(isWhole ? [] : pairs.flatMap(({ uid, isNeeded }) => (isNeeded ? [] : [uid]))) },
    diagnostics: [],
  };
}

async function readSupplementRows(
  context: GatewayContext,
  { list: whole, uidOf, objectsIn }: SupplementList,
  { list, budget }: { readonly list: WireList; readonly budget: AnswerBudget },
): Promise<Checked<readonly SupplementRow[]>> {
  const url = `${context.url}${list.path}`;
  const read = await readWholeList({ url, list, fetch: listFetcher(context, list), share: budget.share(), uidOf, idOf: uidOf });
  if (read.value === undefined) return { diagnostics: read.diagnostics };
  if (list === whole && list.path === context.dialect.service.resources.path) context.inherited.keys = inheritedKeysIn(read.value.entries);
  return { value: read.value.entries.flatMap(objectsIn), diagnostics: [] };
}

/** Returns whether a list and its supplement show the same version of an object. */
export function agrees(entry: JsonObject, { fields }: SupplementRow, { shared }: SupplementList): boolean {
  return shared.every((name) => fields[name] === undefined || entry[name] === fields[name] || equal(entry[name], fields[name]));
}

/** Adds to a listed entry what its supplement has. Nothing else has the entry, and copies of fifty thousand would take as much memory again. */
export function addSupplement(entry: JsonObject, { fields }: SupplementRow, { added }: SupplementList): JsonObject {
  const joined: Record<string, Json> = entry;
  for (const name of added) {
    const value = fields[name];
    if (value !== undefined) joined[name] = value;
  }
  return joined;
}

/** Returns the row of an object that a supplement was not read for: that it has no secrets is then not known, either. */
export function unreadRow(uid: string, { added }: SupplementList): SupplementRow {
  return { uid, fields: Object.fromEntries(added.map((name) => [name, null])) };
}

/** Returns an object of which only the list was read: what its supplement adds is unknown, and it carries nothing for a write. */
export function withoutSupplement(listed: LiveResource, { kind, wireKind }: KindBinding): LiveResource {
  const { leftOut: _, ...live } = listed;
  const { fieldNames, supplement } = wireKind;
  const missing = kind.fields.filter(({ name }) => supplement?.added.includes(fieldNames[name] ?? name) === true);
  return { ...live, raw: undefined, unknown: [...live.unknown, ...missing.map(({ name }) => pointer(name))] };
}
