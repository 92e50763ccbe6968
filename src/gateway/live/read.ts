import { type Checked, type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { ApiError } from '../../model/errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { PartOfGateway } from '../../model/gateway.ts';
import type { LiveResource, LiveState, LookupEntry, RowFieldState, UnreadKind } from '../../model/live.ts';
import { decidingLists } from '../../model/protection/access-objects.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { HttpResponse } from '../http/client.ts';
import { createAnswerBudget, type AnswerBudget, type AnswerShare } from '../http/answer-budget.ts';
import type { Dialect, WireList, SupplementList } from '../dialect.ts';
import { readUid } from '../dialects/rest.ts';
import { addressOf, type GatewayContext } from '../session.ts';
import { knownGroups, readRow, readRows, textsOf, withAccessRow } from './read-rows.ts';
import { readWatched, watchedRows } from './read-access.ts';
import { readPluginRows, withPluginRow } from './plugin-rows.ts';
import { readTools } from './read-tools.ts';
import { withKnownSecrets } from './recent-secrets.ts';
import { type AddedRows, agrees, type NeededObjects, readSupplement, unreadRow, withoutSupplement, addSupplement } from './supplement.ts';
import { listFetcher, readWholeList, unexpectedShape, type WholeList } from './whole-list.ts';

/**
 * Reads all resources of the kinds, and what they refer to, in parallel; returns no value where a list is not proven complete. For a part, what
 * only another list has of other objects stays unread, and so do lists that it does not need.
 */
export async function readAll(context: GatewayContext, registered: readonly string[], part?: PartOfGateway): Promise<Checked<LiveState>> {
  const { dialect, idIndex } = context;
  const kinds = registered.filter((kind) => dialect.kinds[kind] !== undefined);
  const { seesAll, seesSecrets, role, longestAccess, accessLimits, server } = await context.capabilities();
  if (!seesAll) return { diagnostics: [incompleteView(context.url, role)] };
  const budget = createAnswerBudget();
  const kept = kinds.flatMap((kind) => dialect.kinds[kind]?.rows ?? []);
  const watchable = watchedRows(dialect, registered);
  const listings = kinds.map((kind) => listReadable(context, kind, budget, part?.objects));
  const entriesOf = async (list: WireList): Promise<readonly JsonObject[] | undefined> => {
    const { value, unread } = (await listings[kinds.findIndex((kind) => dialect.kinds[kind]?.list === list)]) ?? {};
    return unread === undefined ? value?.entries : value?.entries.filter((entry) => !unread.has(readUid(entry) ?? ''));
  };
  const [agents, groups, rows, , lists, watched] = await Promise.all([
    readNamed(context, dialect.service.agents, budget),
    dialect.access.groups === undefined || part?.lists === 'compared' ? undefined : readGroups(context, dialect.access.groups.list, budget),
    kept.length === 0 ? undefined : readRows(context, budget),
    Promise.all(
      kinds.flatMap((kind) => dialect.kinds[kind]?.pluginRows ?? []).map((noted) => readPluginRows(context, noted, { budget, part })),
    ),
    Promise.all(listings),
    readWatched(context, watchable, { budget, entriesOf, reports: (part?.lists ?? 'all') === 'all' }),
  ]);
  const diagnostics = [...lists.flatMap((list) => list.diagnostics), ...(agents?.diagnostics ?? [])];
  if (diagnostics.length > 0) return { diagnostics };

  const lookups = agents?.value === undefined ? {} : { Agent: agents.value };
  if (agents?.value !== undefined) idIndex.replaceLookup('Agent', agents.value);
  for (const [index, kind] of kinds.entries()) {
    const listing = lists[index]?.value;
    if (listing !== undefined) idIndex.replace(kind, listing);
  }
  const resources: LiveResource[] = [];
  const namesakes: LiveResource[] = [];
  const listingOf = new Map(kinds.map((kind, index) => [kind, lists[index]] as const));
  const unread = [
    ...Object.keys(decidingLists)
      .filter((kind) => dialect.kinds[kind] !== undefined && listingOf.get(kind)?.value === undefined)
      .map((kind): UnreadKind => ({ kind, failure: listingOf.get(kind)?.failure })),
    ...watchable.flatMap(({ kind }, index) => (watched[index] === undefined ? [{ kind }] : [])),
  ];
  for (const [index, kind] of kinds.entries()) {
    const binding = await context.bindingFor(kind);
    const { reader, wireKind } = binding;
    const listing = lists[index]?.value;
    const repeated = repeatedIds(listing?.ids.values() ?? []);
    for (const entry of listing?.entries ?? []) {
      const uid = reader.uidOf(entry) ?? '';
      const id = listing?.ids.get(uid);
      if (id === undefined) continue;
      const listed = withKnownSecrets(context, reader.read(entry, { uid, id }, { bulk: true, seesSecrets }));
      const known = lists[index]?.unread?.has(uid) === true ? withoutSupplement(listed, binding) : listed;
      const live = withPluginRow(context, known, binding);
      // Without the feature, the field is null as it was read.
      const isPlain = wireKind.rows === undefined || rows === undefined || rows === 'off';
      if (repeated.has(id)) namesakes.push(live);
      else resources.push(isPlain ? live : withAccessRow(live, binding, textsOf(rows, uid)));
    }
  }
  const limits = {
    ...(longestAccess === undefined ? {} : { longestAccess }),
    ...(accessLimits === undefined ? {} : { accessLimits }),
    ...(server === undefined ? {} : { server }),
    ...(rows === undefined ? {} : { rowFields: rowFieldStates(kinds, dialect, typeof rows === 'string' ? rows : 'on') }),
  };
  const partly = lists.reduce((sum, list) => sum + (list.unread?.size ?? 0), 0);
  const apart = {
    ...(watchable.length === 0 ? {} : { watched: watched.flatMap((objects) => objects ?? []) }),
    ...(unread.length === 0 ? {} : { unread }),
    ...(namesakes.length === 0 ? {} : { namesakes }),
    ...(partly === 0 ? {} : { partly }),
  };
  const complete = await readTools(resources, (live) => readOne(context, live, live));
  return {
    value: { resources: complete, lookups, ...(groups === undefined ? {} : { groups }), ...limits, ...apart },
    diagnostics: [],
  };
}

/** Returns the ids that several objects of a list share. */
function repeatedIds(ids: Iterable<ResourceId>): ReadonlySet<ResourceId> {
  const seen = new Set<ResourceId>();
  return new Set([...ids].filter((id) => seen.size === seen.add(id).size));
}

function rowFieldStates(kinds: readonly string[], dialect: Dialect, state: RowFieldState): NonNullable<LiveState['rowFields']> {
  const fields = kinds.flatMap((kind) => {
    const field = dialect.kinds[kind]?.rows?.field;
    return field === undefined ? [] : [[`${kind}.${field}`, state] as const];
  });
  return Object.fromEntries(fields);
}

/** Reads one resource; returns undefined where it is gone, which the list of its kind proves. Its row is not read again where it is `known`. */
export async function readOne(
  context: GatewayContext,
  live: Pick<LiveResource, 'id' | 'uid'>,
  known?: LiveResource,
): Promise<LiveResource | undefined> {
  const binding = await context.bindingFor(kindOf(live.id));
  const { wireKind } = binding;
  if (wireKind.detailIsList === true) return findByList(context, live.id, live.uid);
  const { pluginRows } = wireKind;
  const [response, groups] = await Promise.all([
    readDetail(context, live),
    wireKind.rows === undefined
      ? undefined
      : known === undefined
        ? readRow(context, wireKind.rows, live.uid)
        : knownGroups(known, wireKind.rows),
    pluginRows === undefined || context.pluginRows.last !== undefined
      ? undefined
      : readPluginRows(context, pluginRows, { budget: createAnswerBudget() }),
  ]);
  if (response === undefined) return undefined;
  const read = await resourceFromResponse(context, kindOf(live.id), response);
  if (read === undefined) throw unexpectedShape(`${context.url}${wireKind.detailPath(addressOf(live))}`);
  return wireKind.rows === undefined ? read : withAccessRow(read, binding, groups);
}

/** How often a list and a read of one object may contradict each other. */
const maxContradictions = 4;

/** Requests one object; returns undefined where it is gone. */
async function readDetail(context: GatewayContext, live: Pick<LiveResource, 'id' | 'uid'>): Promise<HttpResponse | undefined> {
  const { wireKind } = await context.bindingFor(kindOf(live.id));
  let found: HttpResponse | undefined;
  await untilAbsent(context, live, 'GET', async (listed) => {
    const response = await context.client.send({ method: 'GET', path: wireKind.detailPath(addressOf(listed)), accept: [404] });
    found = response.status === 404 ? undefined : response;
    return found === undefined;
  });
  return found;
}

/**
 * Sends a request about one object until it reports something other than a 404, or until the list proves that the object is absent. A 404
 * alone proves nothing: a proxy, a restart or a replica that is behind answers it for objects that exist. Throws an ApiError if both last.
 */
export async function untilAbsent(
  context: GatewayContext,
  live: Pick<LiveResource, 'id' | 'uid'>,
  method: 'GET' | 'DELETE',
  isMissing: (listed: Pick<LiveResource, 'id' | 'uid'>) => Promise<boolean>,
): Promise<void> {
  let listed = live;
  for (let attempt = 1; await isMissing(listed); attempt += 1) {
    const { wireKind } = await context.bindingFor(kindOf(live.id));
    const found = await findListed(context, live);
    if (found === undefined) return;
    listed = found;
    const failed = contradiction(`${context.url}${wireKind.detailPath(addressOf(listed))}`, method);
    if (attempt === maxContradictions) throw failed;
    await context.pause(attempt, failed);
  }
}

/** Finds an object by its uid in the complete list of its kind, under the name that it has there. */
async function findListed(
  context: GatewayContext,
  { id, uid }: Pick<LiveResource, 'id' | 'uid'>,
): Promise<Pick<LiveResource, 'id' | 'uid'> | undefined> {
  const binding = await context.bindingFor(kindOf(id));
  const { value } = await listPlainly(context, binding, createAnswerBudget());
  if (value === undefined) throw unexpectedShape(`${context.url}${binding.wireKind.list.path}`);
  const found = value.ids.get(uid);
  return found === undefined ? undefined : { id: found, uid };
}

/** Returns whether the gateway rejects a read of an object as a version that it does not have. */
export async function checksVersions(context: GatewayContext, live: LiveResource): Promise<boolean> {
  const { wireKind } = await context.bindingFor(kindOf(live.id));
  try {
    const path = wireKind.detailPath(addressOf(live));
    return (await context.client.send({ method: 'GET', path, ifMatch: '"0"', accept: [404, 412] })).status === 412;
  } catch (error) {
    // Every object is then read before its write, which reports what is wrong.
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Returns the resource in the response to a read or a write; undefined where the response does not contain one. */
export async function resourceFromResponse(
  context: GatewayContext,
  kind: string,
  response: HttpResponse,
): Promise<LiveResource | undefined> {
  const { body } = response;
  const binding = await context.bindingFor(kind);
  const { reader } = binding;
  const uid = isObject(body) ? reader.uidOf(body) : undefined;
  const id = isObject(body) ? reader.idOf(body) : undefined;
  if (!isObject(body) || uid === undefined || id === undefined) return undefined;
  const { seesSecrets } = await context.capabilities();
  context.idIndex.learn(id, uid);
  const version = strongTag(response);
  const read = withLastRow(context, binding, reader.read(body, { uid, id }, { bulk: false, seesSecrets }));
  if (read.secretsVersion !== undefined) context.recentReads.set(uid, read);
  return { ...read, ...(version === undefined ? {} : { version }) };
}

/** Returns an object with the row that the last list of rows has of it: none for an object that was created since. */
function withLastRow(context: GatewayContext, binding: Binding, live: LiveResource): LiveResource {
  const { last = 'unreadable' } = context.rows;
  const own = withPluginRow(context, live, binding);
  return binding.wireKind.rows === undefined ? own : withAccessRow(own, binding, textsOf(last, live.uid));
}

/** Returns the gateway's own `ETag`: proxies that compress or change a body mark it as weak, or name the compression in it. */
export function strongTag({ header }: HttpResponse): string | undefined {
  const tag = header('etag')?.trim().replace(/^W\//, '');
  const isCompressed = header('content-encoding') !== undefined;
  return isCompressed ? tag?.replace(/[-;](?:gzip|br|deflate|zstd)"$/, '"') : tag;
}

/** Finds a resource by the gateway's own id, if that is known, or by name, in the list of its kind; reads the object alone where the list omits its secrets. */
export async function findByList(context: GatewayContext, named: ResourceId, known?: string): Promise<LiveResource | undefined> {
  const binding = await context.bindingFor(kindOf(named));
  const { reader, wireKind } = binding;
  const { value } = await listKind(context, kindOf(named), createAnswerBudget());
  if (value === undefined) throw unexpectedShape(`${context.url}${wireKind.list.path}`);
  // An object that is about to be renamed has its former name in the list.
  const id = value.ids.get(known ?? '') ?? named;
  const uid = value.uids.get(id);
  const entry = value.entries.find((one) => reader.uidOf(one) === uid);
  if (uid === undefined || entry === undefined) return undefined;
  context.idIndex.learn(id, uid);
  const { seesSecrets } = await context.capabilities();
  const found = withLastRow(context, binding, reader.read(entry, { uid, id }, { bulk: true, seesSecrets }));
  return found.leftOut === undefined ? found : readOne(context, found);
}

/** `unread`: the ids of the objects of which only the list was read. */
type Listing = Checked<WholeList<ResourceId>> & Pick<UnreadKind, 'failure'> & Partial<Pick<AddedRows, 'unread'>>;

/** Lists a kind; of one that decides access, and that this token or this version of the gateway does not list, nothing is known. */
async function listReadable(context: GatewayContext, kind: string, budget: AnswerBudget, needed?: NeededObjects): Promise<Listing> {
  if (decidingLists[kind] === undefined) return listKind(context, kind, budget, needed);
  try {
    const { value, diagnostics } = await listKind(context, kind, budget);
    if (value !== undefined) return { value, diagnostics: [] };
    return { diagnostics: [], failure: diagnostics[0] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, hint, failure } = error;
    const isDenied = failure.status === 401 || failure.status === 403;
    // A run needs other lists, too, so the URL is not the cause of a 404.
    return { diagnostics: [], failure: isDenied ? undefined : { message, hint: failure.status === 404 ? undefined : hint } };
  }
}

async function listKind(context: GatewayContext, kind: string, budget: AnswerBudget, needed?: NeededObjects): Promise<Listing> {
  const binding = await context.bindingFor(kind);
  const { supplement } = binding.wireKind;
  const reading = listPlainly(context, binding, budget);
  if (supplement === undefined) return reading;
  const [listed, added] = await Promise.all([reading, readSupplement(context, supplement, { budget, needed, reading })]);
  return joinSupplement(context, kind, supplement, { listed, added });
}

type Binding = Awaited<ReturnType<GatewayContext['bindingFor']>>;

/** Reads a kind's list without what another bulk read adds. */
function listPlainly(
  context: GatewayContext,
  { wireKind, reader }: Binding,
  budget: AnswerBudget,
): Promise<Checked<WholeList<ResourceId>>> {
  const { list } = wireKind;
  return readWholeList({
    url: `${context.url}${list.path}`,
    list,
    fetch: listFetcher(context, list),
    share: budget.share(),
    uidOf: reader.uidOf,
    idOf: reader.idOf,
    namesakes: wireKind.namesakes === true,
  });
}

/** Reads a list of named things; returns undefined where the gateway has no such list or does not show it to this caller. */
async function readNamed(
  context: GatewayContext,
  list: WireList,
  budget: AnswerBudget,
): Promise<Checked<readonly LookupEntry[]> | undefined> {
  const share = budget.share();
  const probe = await probeList(context, list, share);
  return probe.status === 403 || probe.status === 404 ? undefined : readProbed(context, list, { probe, share });
}

/** Reads the names of groups: `unreadable` where the gateway does not show their list, undefined where it has none. */
async function readGroups(context: GatewayContext, list: WireList, budget: AnswerBudget): Promise<LiveState['groups']> {
  const share = budget.share();
  const probe = await probeList(context, list, share);
  // Null says that the gateway has no users of its own, unless its dialect takes it for an empty list.
  if (probe.status === 404 || (probe.body === null && list.rows(null) === undefined)) return undefined;
  if (probe.status === 403) return 'unreadable';
  const { value } = await readProbed(context, list, { probe, share });
  return value === undefined ? 'unreadable' : value.map(({ name }) => name);
}

function probeList({ client }: GatewayContext, { path }: WireList, share: AnswerShare): Promise<HttpResponse> {
  return client.send({ method: 'GET', path, accept: [403, 404], share });
}

/** Reads the rest of a list of which an answer is known. */
async function readProbed(
  context: GatewayContext,
  list: WireList,
  { probe, share }: { readonly probe: HttpResponse; readonly share: AnswerShare },
): Promise<Checked<readonly LookupEntry[]>> {
  let isFirst = true;
  const fetchRest = listFetcher(context, list);
  const fetch: typeof fetchRest = async (path) => {
    if (!isFirst) return fetchRest(path, share);
    isFirst = false;
    return probe.body;
  };
  const read = await readWholeList({
    url: `${context.url}${list.path}`,
    list,
    fetch,
    share,
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
    message: `${url}: the token's role ${role ?? ''} cannot see all objects, so missing objects prove nothing`,
    hint: 'use a key with the role admin, or auditor for read-only commands',
  };
}

function contradiction(url: string, method: 'GET' | 'DELETE'): ApiError {
  return new ApiError('the gateway answers 404 for an object that its list contains', {
    code: 'api/contradiction',
    method,
    url,
    status: 404,
    retryable: true,
    ambiguous: false,
    hint: 'check what is between Ostiary and the gateway; if nothing is, run again later',
  });
}

/**
 * Joins a kind's list with what another bulk read adds. An object on which the two lists disagree, because it was written
 * in between, is read alone; an object that was deleted in between is omitted. Nothing is added to objects that are not needed.
 */
async function joinSupplement(
  context: GatewayContext,
  kind: string,
  supplement: SupplementList,
  { listed, added }: { readonly listed: Checked<WholeList<ResourceId>>; readonly added: Checked<AddedRows> },
): Promise<Listing> {
  const diagnostics = [...listed.diagnostics, ...added.diagnostics];
  if (listed.value === undefined || added.value === undefined || hasErrors(diagnostics)) return { diagnostics };
  const { rows, unread } = added.value;
  const { ids, uids } = listed.value;
  const { reader } = await context.bindingFor(kind);
  const entries: JsonObject[] = [];
  for (const entry of listed.value.entries) {
    const uid = reader.uidOf(entry) ?? '';
    const row = unread.has(uid) ? unreadRow(uid, supplement) : rows.get(uid);
    const joined =
      row !== undefined && agrees(entry, row, supplement)
        ? addSupplement(entry, row, supplement)
        : await readAlone(context, kind, uid, ids);
    if (joined !== undefined) entries.push(joined);
    else removePair(uid, ids, uids);
  }
  return { value: { entries, ids, uids }, diagnostics, unread };
}

/** Reads one object alone; returns undefined where it is gone or has another name now. */
async function readAlone(
  context: GatewayContext,
  kind: string,
  uid: string,
  ids: WholeList<ResourceId>['ids'],
): Promise<JsonObject | undefined> {
  const { reader } = await context.bindingFor(kind);
  const id = ids.get(uid);
  const body = id === undefined ? undefined : (await readDetail(context, { id, uid }))?.body;
  return !isObject(body) || reader.idOf(body) !== id ? undefined : body;
}

function removePair(uid: string, ids: WholeList<ResourceId>['ids'], uids: WholeList<ResourceId>['uids']): void {
  const id = ids.get(uid);
  ids.delete(uid);
  if (id !== undefined) uids.delete(id);
}
