import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { ApiError } from '../../model/errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { LiveResource, LiveState, LookupEntry } from '../../model/live.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { readAccessRules } from './access-rules.ts';
import type { HttpResponse } from '../http/client.ts';
import type { WireList } from '../dialect.ts';
import { addressOf, type GatewayContext } from '../context.ts';
import { readWholeList, type WholeList } from './whole-list.ts';
import { fetchList } from './fetch-list.ts';
import { joinSupplement } from './supplement.ts';

/** Reads all resources of the kinds, and what they refer to, at the same time; no value where a list is not proven whole. */
export async function readAll(link: GatewayContext, kinds: readonly string[]): Promise<Checked<LiveState>> {
  const { dialect, idIndex: names } = link;
  const { seesAll, seesSecrets, role } = await link.capabilities();
  if (!seesAll) return { diagnostics: [incompleteView(link.url, role)] };
  const [lookups, groups, accessRules, lists] = await Promise.all([
    Promise.all(Object.entries(dialect.lookups).map(async ([kind, list]) => [kind, await readNamed(link, list)] as const)),
    dialect.groups === undefined ? undefined : readNamed(link, dialect.groups),
    readAccessRules(link),
    Promise.all(kinds.map((kind) => listKind(link, kind))),
  ]);
  const diagnostics = [...lists.flatMap((list) => list.diagnostics), ...lookups.flatMap(([, read]) => read?.diagnostics ?? [])];
  if (diagnostics.length > 0) return { diagnostics };

  const found: Record<string, readonly LookupEntry[]> = {};
  for (const [kind, read] of lookups) {
    if (read?.value === undefined) continue;
    found[kind] = read.value;
    names.replaceLookup(kind, read.value);
  }
  for (const [index, kind] of kinds.entries()) {
    const listing = lists[index]?.value;
    if (listing !== undefined) names.replace(kind, listing);
  }
  const resources: LiveResource[] = [];
  for (const [index, kind] of kinds.entries()) {
    const { reader } = await link.bindingFor(kind);
    const listing = lists[index]?.value;
    for (const entry of listing?.entries ?? []) {
      const uid = reader.uidOf(entry) ?? '';
      const id = listing?.ids.get(uid);
      if (id !== undefined) resources.push(withKnownSecrets(link, reader.read(entry, { uid, id }, { bulk: true, seesSecrets })));
    }
  }
  const known = groups?.value === undefined ? {} : { groups: groups.value.map(({ name }) => name) };
  const beside = accessRules === undefined ? {} : { accessRules };
  return { value: { resources, lookups: found, ...known, ...beside }, diagnostics: [] };
}

/** Reads one resource again; undefined where it is gone. */
export async function readOne(link: GatewayContext, live: Pick<LiveResource, 'id' | 'uid'>): Promise<LiveResource | undefined> {
  const { wireKind } = await link.bindingFor(kindOf(live.id));
  if (wireKind.detailIsList === true) return findByList(link, live.id);
  const path = wireKind.detailPath(addressOf(live));
  const answer = await link.client.send({ method: 'GET', path, accept: [404] });
  if (answer.status === 404) return undefined;
  const read = await resourceFromResponse(link, kindOf(live.id), answer);
  if (read === undefined) throw unexpectedShape(`${link.url}${path}`);
  return read;
}

/** Asks for each object alone; nothing is learned of it but that it is there. */
export async function confirmIds(link: GatewayContext, ids: readonly ResourceId[]): Promise<readonly ResourceId[]> {
  const found: ResourceId[] = [];
  for (const id of ids) {
    const { wireKind } = await link.bindingFor(kindOf(id));
    if (wireKind.detailIsList === true) continue;
    const path = wireKind.detailPath({ uid: nameOf(id), name: nameOf(id) });
    const { status, body } = await link.client.send({ method: 'GET', path, accept: [404] });
    if (status !== 404 && isObject(body) && wireKind.uidOf(body) === nameOf(id)) found.push(id);
  }
  return found;
}

/** The resource in the answer to a read or a write; undefined where the answer does not hold one. */
export async function resourceFromResponse(link: GatewayContext, kind: string, answer: HttpResponse): Promise<LiveResource | undefined> {
  const { body } = answer;
  const { reader } = await link.bindingFor(kind);
  const uid = isObject(body) ? reader.uidOf(body) : undefined;
  const id = isObject(body) ? reader.idOf(body) : undefined;
  if (!isObject(body) || uid === undefined || id === undefined) return undefined;
  const { seesSecrets } = await link.capabilities();
  link.idIndex.learn(id, uid);
  const version = answer.header('etag');
  const read = reader.read(body, { uid, id }, { bulk: false, seesSecrets });
  if (read.secretsVersion !== undefined) link.recentReads.set(uid, read);
  return { ...read, ...(version === undefined ? {} : { version }) };
}

/** A bulk read with the secrets of an earlier read of the one object, where they have not changed since. */
function withKnownSecrets(link: GatewayContext, live: LiveResource): LiveResource {
  const recent = live.leftOut === undefined || live.secretsVersion === undefined ? undefined : link.recentReads.get(live.uid);
  if (recent === undefined || recent.secretsVersion !== live.secretsVersion) return live;
  const { leftOut: _, ...rest } = live;
  return { ...rest, secrets: recent.secrets, unknown: recent.unknown };
}

/** Looks a resource up by its id in the list of its kind; where the list leaves something out, the object is read too. */
export async function findByList(link: GatewayContext, id: ResourceId): Promise<LiveResource | undefined> {
  const { reader, wireKind } = await link.bindingFor(kindOf(id));
  const { value } = await listKind(link, kindOf(id));
  if (value === undefined) throw unexpectedShape(`${link.url}${wireKind.list.path}`);
  const uid = value.uids.get(id);
  const entry = value.entries.find((one) => reader.uidOf(one) === uid);
  if (uid === undefined || entry === undefined) return undefined;
  link.idIndex.learn(id, uid);
  const { seesSecrets } = await link.capabilities();
  const found = reader.read(entry, { uid, id }, { bulk: true, seesSecrets });
  return found.leftOut === undefined ? found : readOne(link, found);
}

async function listKind(link: GatewayContext, kind: string): Promise<Checked<WholeList<ResourceId>>> {
  const { wireKind, reader } = await link.bindingFor(kind);
  const { list, supplement } = wireKind;
  const url = `${link.url}${list.path}`;
  const read = { url, list, fetch: (path: string) => fetchList(link, list, path), uidOf: reader.uidOf, idOf: reader.idOf };
  return supplement === undefined ? readWholeList(read) : joinSupplement(link, kind, supplement, readWholeList(read));
}

/** Reads a list of named things; undefined where the gateway has none or does not tell this caller. */
async function readNamed(link: GatewayContext, list: WireList): Promise<Checked<readonly LookupEntry[]> | undefined> {
  const probe = await link.client.send({ method: 'GET', path: list.path, accept: [403, 404] });
  if (probe.status === 403 || probe.status === 404) return undefined;
  let first: unknown = probe.body;
  const fetch = async (path: string): Promise<unknown> => {
    const body = first ?? (await fetchList(link, list, path));
    first = undefined;
    return body;
  };
  const read = await readWholeList({
    url: `${link.url}${list.path}`,
    list,
    fetch,
    uidOf: textAt('id'),
    idOf: textAt('name'),
    namesakes: true,
  });
  if (read.value === undefined) return { diagnostics: read.diagnostics };
  return { value: [...read.value.ids].map(([uid, name]) => ({ uid, name })), diagnostics: [] };
}

function textAt(field: string): (entry: JsonObject) => string | undefined {
  return (entry) => {
    const value = entry[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
}

function incompleteView(url: string, role: string | undefined): Diagnostic {
  return {
    code: 'api/list-not-whole',
    severity: 'error',
    message: `${url}: the token's role ${role ?? ''} may not see everything, so nothing can be concluded from what is missing`,
    hint: 'use a key with the role admin, or auditor to read only',
  };
}

function unexpectedShape(url: string): ApiError {
  return new ApiError('the answer is not what the interface describes', {
    code: 'api/unexpected-shape',
    method: 'GET',
    url,
    retryable: false,
    ambiguous: false,
    hint: 'is the url the root of a gateway’s API, and the dialect right?',
  });
}
