import type { RecordedAccess } from '../../model/applied-record.ts';
import { addToGroup } from '../../model/collections.ts';
import { type DesiredState, emptyState } from '../../model/desired.ts';
import { resolveEdges } from '../../model/edge-ends.ts';
import { asText, compareText, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import {
  type AccessGrant,
  type AccessObjects,
  type AccessState,
  decidingLists,
  isAttribute,
} from '../../model/protection/access-objects.ts';
import type { OutsideAccess, OutsideChange, OutsideField, WatchedList } from '../../model/protection/outside-access.ts';
import { type Headline, sortHeadlines } from '../../model/protection/protection.ts';
import { kindOf, nameOf } from '../../model/resource.ts';
import { withResources } from '../../protection/posture/protection-snapshot.ts';
import { protectionOfAccess } from '../../protection/protection.ts';
import {
  hashedObject,
  isConnection,
  isDeclared,
  recordedObject,
  restoredObject,
  watchedLists,
  watchedPart,
  type WatchScope,
} from './record-access.ts';

type OutsideInput = {
  /** The record of the last complete apply; undefined if there was none, so that nothing can be compared. */
  readonly recorded: { readonly access?: RecordedAccess } | undefined;
  readonly live: LiveState;
  readonly registry: Registry;
  readonly dialect: string;
  readonly role: string | undefined;
  readonly scope: WatchScope;
  /** The manifests that were applied last. */
  readonly applied?: DesiredState | undefined;
};

/** Finds what changed since the last apply of the objects that decide access and that no manifest declares; undefined if there is nothing to report. */
export function findOutsideAccess({
  recorded,
  live: found,
  registry,
  dialect,
  role,
  scope,
  applied = emptyState,
}: OutsideInput): OutsideAccess | undefined {
  if (found.access === undefined) return undefined;
  const { left } = scope;
  // Rows decide here, so that both sides of a changed one are compared.
  const live = { ...found, access: found.access, resources: found.resources.map(withoutGroups) };
  const access = watchedPart(live.access, scope);
  const unreadable = watchedLists.filter((list) => access[list] === 'unreadable');
  const names = connectionNames(live, registry);
  const compared = watchedLists.flatMap((list) => {
    const [before, now] = [recorded?.access?.[list], access[list]];
    const isKnown = before !== undefined && before !== 'unreadable' && before !== 'omitted';
    if (!isKnown || now === undefined || now === 'unreadable') return [];
    const rows = list === 'access-control' ? access[list] : undefined;
    if (rows !== undefined && rows !== 'unreadable') return [compareRows(before, rows, { ...scope, names })];
    const was = typeof before === 'object' ? recordedPart(list, before, { ...scope, now: access.attributes }) : before;
    return [compareLists(list, was, now, names)];
  });
  const isCompared = new Set(compared.map(({ list }) => list));
  const unrecorded = watchedLists.filter((list) => recorded !== undefined && !isCompared.has(list) && hasObjects(access, list));
  const changes = compared.flatMap((one) => one.changes);
  if (changes.length + unreadable.length + unrecorded.length === 0) return undefined;
  const former = { ...live.access, ...Object.fromEntries(compared.map((one) => [one.list, withOwnObjects(one, live.access, scope)])) };
  const before = withFormerLinks({ ...live, access: former }, live.access, { registry, left });
  // That own rules are gone is drift of its own, which is judged beside what is live now.
  const missing = missingRules(live, { registry, applied });
  const complete = (state: LiveState): LiveState =>
    missing.length === 0 ? state : withResources(state, [...state.resources, ...missing], registry);
  const known = changes.length === 0 ? [] : protectionOfAccess(complete(before), complete(live), { registry, dialect }).headlines;
  const headlines = sortHeadlines([...known, ...unknownEffects(changes)]);
  return { changes, headlines, unreadable, ...(role === undefined ? {} : { role }), unrecorded };
}

/** Returns the rules that were applied and are gone from the lists of what decides access, as they were applied. */
function missingRules(
  live: LiveState & { readonly access: AccessState },
  { registry, applied }: { readonly registry: Registry; readonly applied: DesiredState },
): readonly LiveResource[] {
  const found = liveById(live.resources);
  const gone = applied.resources.filter(({ key }) => {
    const list = decidingLists[kindOf(key)];
    return list !== undefined && !isAttribute(key) && Array.isArray(live.access[list]) && !found.has(key);
  });
  if (gone.length === 0) return [];
  const edges = resolveEdges(applied.edges, { desired: applied, live, registry });
  return gone.map(({ key, spec }): LiveResource => {
    const connections = edges.flatMap(({ rule, connection }) => (rule === key ? [connection] : []));
    const fields = registry.get(kindOf(key))?.fields.filter(({ edge }) => edge === 'rule') ?? [];
    const ends = Object.fromEntries(fields.map(({ name }) => [name, connections]));
    return { id: key, uid: `missing ${key}`, spec, secrets: {}, edges: ends, raw: undefined, unknown: [] };
  });
}

function withoutGroups(resource: LiveResource): LiveResource {
  const { access_groups: _, ...spec } = resource.spec;
  return { ...resource, spec };
}

type RowScope = WatchScope & { readonly names: ReadonlyMap<string, string> };

/** Compares the rows of access control that Ostiary does not write; where manifests state some, they switched it on. */
function compareRows(
  before: readonly JsonObject[] | 'off',
  now: readonly AccessGrant[] | 'off',
  { names, granted, isAccessStated }: RowScope,
): ComparedList {
  const list = 'access-control';
  if (before === 'off') return compareLists(list, now !== 'off' && isAccessStated ? [] : before, now, names);
  return compareLists(
    list,
    before.filter((row) => !granted.has(names.get(asText(row['id'])) ?? '')),
    now,
    names,
  );
}

/** Returns the recorded objects of a list that no manifest declares now, with only those links that count: for an own attribute nothing else does. */
function recordedPart(
  list: WatchedList,
  recorded: readonly JsonObject[],
  scope: WatchScope & { readonly now: AccessState['attributes'] },
): readonly JsonObject[] {
  const isOwn = ({ name }: JsonObject): boolean => isDeclared(list, asText(name), scope);
  const others = recorded.filter((one) => !isOwn(one));
  if (list !== 'attributes') return others;
  const known = new Map(recorded.map((one) => [one['name'], one]));
  const own = typeof scope.now === 'object' ? scope.now.filter(isOwn) : [];
  const linksOf = (id: Json, name: string): JsonObject => ({ id, name, connections: known.get(name)?.['connections'] ?? [] });
  const found = new Set(own.map(({ name }) => name));
  const gone = recorded.filter((one) => isOwn(one) && !found.has(asText(one['name'])));
  const links = [...own.map(({ id, name }) => linksOf(id, name)), ...gone.map(({ id = '', name }) => linksOf(id, asText(name)))];
  return [...others, ...links].map((one) => withConnectionsIn(one, scope.left));
}

/** Returns a list as it was, with the objects that Ostiary writes as they are now. */
function withOwnObjects({ list, before }: ComparedList, access: AccessState, scope: WatchScope): ComparedList['before'] {
  const now = access[list];
  if (typeof before !== 'object' || typeof now !== 'object') return before;
  const isOwn = (name: string): boolean => (list === 'access-control' ? scope.granted.has(name) : isDeclared(list, name, scope));
  const own = now.filter(({ name }) => isOwn(name));
  if (list !== 'attributes') return [...before, ...own];
  // Only the links of an own attribute are watched.
  const current = new Map(own.map((one) => [one.name, one]));
  return before.map((one) => {
    const found = current.get(one.name);
    return found !== undefined && 'groups' in found && 'groups' in one ? { ...one, groups: found.groups } : one;
  });
}

/** Returns the live state with the attributes that connections had: those of others, and links that do not count, are as they are now. */
function withFormerLinks(
  live: LiveState & { readonly access: AccessState },
  { attributes: now }: AccessState,
  { registry, left }: Pick<OutsideInput, 'registry'> & Pick<WatchScope, 'left'>,
): LiveState {
  const { attributes: former } = live.access;
  if (typeof former !== 'object' || typeof now !== 'object') return live;
  const names = new Map<string, string[]>();
  for (const { name, connections, managed_by: by } of former)
    for (const connection of by === '' ? connections : []) addToGroup(names, connection, name);
  const others = new Map(now.map(({ name, connections }) => [name, connections.filter((connection) => !left.has(connection))]));
  const attributes = former.map((one) => ({ ...one, connections: [...one.connections, ...(others.get(one.name) ?? [])] }));
  const resources = live.resources.map((one) => {
    const had = (names.get(nameOf(one.id)) ?? []).toSorted(compareText);
    const isLeft = isConnection(one.id, registry) && left.has(nameOf(one.id));
    return !isLeft || equal(had, textsIn(one.spec['attributes']).toSorted(compareText))
      ? one
      : { ...one, spec: { ...one.spec, attributes: had } };
  });
  return { ...live, access: { ...live.access, attributes }, resources };
}

/** Returns a headline if the record has only hashes of some changed objects. */
function unknownEffects(changes: readonly OutsideChange[]): readonly Headline[] {
  const count = changes.filter(({ incomparable }) => incomparable === true).length;
  if (count === 0) return [];
  const text = `${count} ${count === 1 ? 'change has' : 'changes have'} an unknown effect: the record has only hashes of a long list`;
  return [{ direction: 'unknown', text, connections: [], tags: {}, causes: [] }];
}

/** Returns the names of connections, which are the objects that can be closed, by the gateway's ids. */
function connectionNames({ resources }: LiveState, registry: Registry): ReadonlyMap<string, string> {
  return new Map(resources.flatMap(({ id, uid }) => (isConnection(id, registry) ? [[uid, nameOf(id)] as const] : [])));
}

/** Access control that is on without a row still decides; an attribute without groups does not. */
function hasObjects(access: AccessState, list: WatchedList): boolean {
  const found = access[list];
  if (typeof found !== 'object' || list === 'access-control') return typeof found === 'object';
  return found.some((one) => list !== 'attributes' || !grantsNothing(one));
}

function grantsNothing(object: AccessObjects[WatchedList]): boolean {
  const links = 'connections' in object ? object.connections : [];
  return 'groups' in object && object.groups.length + links.length === 0;
}

/** The changes of a list, and the list as it was, for the comparison of its effect. */
type ComparedList = {
  readonly list: WatchedList;
  readonly changes: readonly OutsideChange[];
  readonly before: readonly AccessObjects[WatchedList][] | 'off';
};

function compareLists(
  list: WatchedList,
  before: readonly JsonObject[] | 'off',
  now: readonly AccessObjects[WatchedList][] | 'off',
  names: ReadonlyMap<string, string>,
): ComparedList {
  if (before === 'off' || now === 'off') {
    const happened = now === 'off' ? 'switched off' : 'switched on';
    const changes = before === now ? [] : [{ list, name: '', happened, fields: [] } as const];
    return { list, changes, before: before === 'off' ? before : before.flatMap((one) => restored(list, one, undefined, names) ?? []) };
  }
  const pairs = pairObjects(list, before, now, names);
  return {
    list,
    changes: pairs.flatMap((pair) => changeOf(list, pair, names)),
    before: pairs.flatMap(({ was, is }) => (was === undefined ? [] : (restored(list, was, is, names) ?? []))),
  };
}

/** One object on both sides; a row of access control without groups is no object. */
type ObjectPair = { readonly was?: JsonObject; readonly is?: AccessObjects[WatchedList] };

/** Pairs objects by id, then by name: one that was created again is a change of its id. */
function pairObjects(
  list: WatchedList,
  before: readonly JsonObject[],
  now: readonly AccessObjects[WatchedList][],
  names: ReadonlyMap<string, string>,
): readonly ObjectPair[] {
  const live = new Set(names.values());
  const known = before.flatMap((one): readonly JsonObject[] => {
    // What goes with a deleted connection is not a change of its own: Ostiary deletes connections, too.
    if (list === 'access-control') return names.has(asText(one['id'])) ? [one] : [];
    return [list === 'rulepacks' ? withConnectionsIn(one, live) : one];
  });
  const byId = new Map(known.map((one) => [asText(one['id']), one]));
  const byName = new Map(known.map((one) => [asText(one['name']), one]));
  const ids = new Set(now.map(({ id }) => id));
  const paired = new Set<JsonObject>();
  const pairs = now.flatMap((is): readonly ObjectPair[] => {
    const namesake = byName.get(is.name);
    const isNamesake = list !== 'access-control' && namesake !== undefined && !ids.has(asText(namesake['id'])) && !paired.has(namesake);
    const was = byId.get(is.id) ?? (isNamesake ? namesake : undefined);
    if (was !== undefined) paired.add(was);
    const isNone = (list === 'access-control' || list === 'attributes') && grantsNothing(is);
    return was === undefined && isNone ? [] : [{ ...(was === undefined ? {} : { was }), is }];
  });
  return [...pairs, ...known.filter((one) => !paired.has(one)).map((was) => ({ was }))];
}

function withConnectionsIn({ connections, ...object }: JsonObject, names: ReadonlySet<string>): JsonObject {
  const rest = textsIn(connections).filter((name) => names.has(name));
  return rest.length === 0 ? object : { ...object, connections: rest };
}

/** Returns an object as it was. Where the record has only a hash, it is as it is now, or undefined. */
function restored(
  list: WatchedList,
  was: JsonObject,
  is: AccessObjects[WatchedList] | undefined,
  names: ReadonlyMap<string, string>,
): AccessObjects[WatchedList] | undefined {
  if (was['hash'] !== undefined) return is;
  const object = restoredObject[list](was);
  if (list === 'access-control') return { ...object, name: names.get(object.id) ?? '' };
  return list === 'attributes' && is !== undefined ? { ...is, ...restoredLinks(was) } : object;
}

/** Returns what an attribute granted, and the links of it that count. */
function restoredLinks(was: JsonObject): Pick<AccessObjects['attributes'], 'id' | 'groups' | 'connections'> {
  const { id, groups, connections } = restoredObject.attributes(was);
  return { id, groups, connections };
}

function changeOf(list: WatchedList, { was, is }: ObjectPair, names: ReadonlyMap<string, string>): readonly OutsideChange[] {
  const recorded = is === undefined ? undefined : recordedObject(list, is);
  const isHashed = was?.['hash'] !== undefined;
  const after = isHashed && recorded !== undefined ? hashedObject(list, recorded) : recorded;
  const fields = fieldsOf(was ?? {}, after ?? {});
  if (fields.length === 0) return [];
  const managedBy = asText((recorded ?? was)?.['managed_by']);
  // A connection without a row is one with an empty row.
  const isRow = list === 'access-control';
  const happened = was === undefined && !isRow ? 'created' : is === undefined && !isRow ? 'deleted' : 'changed';
  const id = is?.id ?? asText(was?.['id']);
  const name = isRow ? (names.get(id) ?? '') : (is?.name ?? asText(was?.['name']));
  const shown = fields.filter(
    (field) => field.name !== 'hash' && (happened === 'changed' || (field.name !== 'id' && field.name !== 'name')),
  );
  return [
    {
      list,
      name,
      happened,
      ...(managedBy === '' ? {} : { managedBy }),
      fields: isRow ? shown.filter((field) => field.name !== 'id') : shown,
      ...(isHashed ? { incomparable: true } : {}),
    },
  ];
}

function fieldsOf(before: JsonObject, after: JsonObject): readonly OutsideField[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name): readonly OutsideField[] => {
    const [from, to] = [before[name], after[name]];
    if (equal(from, to)) return [];
    return [{ name, ...(from === undefined ? {} : { before: from }), ...(to === undefined ? {} : { after: to }) }];
  });
}
