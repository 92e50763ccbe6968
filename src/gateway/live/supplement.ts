import { hasErrors, type Checked } from '../../model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { SupplementRow, SupplementList } from '../dialect.ts';
import type { GatewayContext } from '../context.ts';
import { fetchList, readWholeList, type WholeList } from './whole-list.ts';

/**
 * Joins a kind's list with what another bulk read adds. An object on which the two lists disagree, because it was written
 * in between, is read alone; an object that was deleted in between is omitted.
 */
export async function joinSupplement(
  context: GatewayContext,
  kind: string,
  supplement: SupplementList,
  reading: Promise<Checked<WholeList<ResourceId>>>,
): Promise<Checked<WholeList<ResourceId>>> {
  const [listed, added] = await Promise.all([reading, readSupplement(context, supplement)]);
  const diagnostics = [...listed.diagnostics, ...added.diagnostics];
  if (listed.value === undefined || added.value === undefined || hasErrors(diagnostics)) return { diagnostics };
  const rows = added.value;
  const { ids, uids } = listed.value;
  const { reader } = await context.bindingFor(kind);
  const entries: JsonObject[] = [];
  for (const entry of listed.value.entries) {
    const uid = reader.uidOf(entry) ?? '';
    const row = rows.get(uid);
    const joined =
      row !== undefined && agrees(entry, row, supplement)
        ? withSupplement(entry, row, supplement)
        : await readAlone(context, kind, uid, ids);
    if (joined !== undefined) entries.push(joined);
    else removePair(uid, ids, uids);
  }
  return { value: { entries, ids, uids }, diagnostics };
}

async function readSupplement(
  context: GatewayContext,
  { list, uidOf, objectsIn }: SupplementList,
): Promise<Checked<ReadonlyMap<string, SupplementRow>>> {
  const url = `${context.url}${list.path}`;
  const read = await readWholeList({ url, list, fetch: (path) => fetchList(context, list, path), uidOf, idOf: uidOf });
  if (read.value === undefined) return { diagnostics: read.diagnostics };
  const rows = new Map<string, SupplementRow>();
  for (const entry of read.value.entries) for (const row of objectsIn(entry)) rows.set(row.uid, row);
  return { value: rows, diagnostics: [] };
}

function agrees(entry: JsonObject, { fields }: SupplementRow, { shared }: SupplementList): boolean {
  return shared.every((name) => fields[name] === undefined || entry[name] === fields[name] || equal(entry[name], fields[name]));
}

function withSupplement(entry: JsonObject, { fields }: SupplementRow, { added }: SupplementList): JsonObject {
  const joined: Record<string, Json> = { ...entry };
  for (const name of added) {
    const value = fields[name];
    if (value !== undefined) joined[name] = value;
  }
  return joined;
}

/** Reads one object alone; returns undefined where it is gone or has another name now. */
async function readAlone(
  context: GatewayContext,
  kind: string,
  uid: string,
  ids: WholeList<ResourceId>['ids'],
): Promise<JsonObject | undefined> {
  const { wireKind, reader } = await context.bindingFor(kind);
  const name = ids.get(uid) ?? '';
  const { status, body } = await context.client.send({ method: 'GET', path: wireKind.detailPath({ uid, name }), accept: [404] });
  return status === 404 || !isObject(body) || reader.idOf(body) !== ids.get(uid) ? undefined : body;
}

function removePair(uid: string, ids: WholeList<ResourceId>['ids'], uids: WholeList<ResourceId>['uids']): void {
  const id = ids.get(uid);
  ids.delete(uid);
  if (id !== undefined) uids.delete(id);
}
