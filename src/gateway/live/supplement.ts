import { hasErrors, type Checked } from '../../model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { SupplementRow, SupplementList } from '../dialect.ts';
import type { GatewayContext } from '../context.ts';
import { fetchList, readWholeList, type WholeList } from './whole-list.ts';

/**
 * Joins a kind's list with what another bulk read adds. An object on which the two do not agree, because somebody
 * wrote in between, is read alone; one that is gone by then is left out.
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
  const parts = added.value;
  const { ids, uids } = listed.value;
  const { reader } = await context.bindingFor(kind);
  const entries: JsonObject[] = [];
  for (const entry of listed.value.entries) {
    const uid = reader.uidOf(entry) ?? '';
    const part = parts.get(uid);
    const joined =
      part !== undefined && agrees(entry, part, supplement) ? join(entry, part, supplement) : await readAlone(context, kind, uid, ids);
    if (joined !== undefined) entries.push(joined);
    else drop(uid, ids, uids);
  }
  return { value: { entries, ids, uids }, diagnostics };
}

async function readSupplement(
  context: GatewayContext,
  { list, uidOf, objectsIn: partsOf }: SupplementList,
): Promise<Checked<ReadonlyMap<string, SupplementRow>>> {
  const url = `${context.url}${list.path}`;
  const read = await readWholeList({ url, list, fetch: (path) => fetchList(context, list, path), uidOf, idOf: uidOf });
  if (read.value === undefined) return { diagnostics: read.diagnostics };
  const parts = new Map<string, SupplementRow>();
  for (const row of read.value.entries) for (const part of partsOf(row)) parts.set(part.uid, part);
  return { value: parts, diagnostics: [] };
}

function agrees(entry: JsonObject, { fields }: SupplementRow, { shared }: SupplementList): boolean {
  return shared.every((name) => fields[name] === undefined || entry[name] === fields[name] || equal(entry[name], fields[name]));
}

function join(entry: JsonObject, { fields }: SupplementRow, { added }: SupplementList): JsonObject {
  const joined: Record<string, Json> = { ...entry };
  for (const name of added) {
    const value = fields[name];
    if (value !== undefined) joined[name] = value;
  }
  return joined;
}

/** The entry as a read of the one object has it, as honest as a list would be. */
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

function drop(uid: string, ids: WholeList<ResourceId>['ids'], uids: WholeList<ResourceId>['uids']): void {
  const id = ids.get(uid);
  ids.delete(uid);
  if (id !== undefined) uids.delete(id);
}
