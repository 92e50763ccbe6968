import { addToGroup } from '../../model/collections.ts';
import { asText, compareText, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { isConnection, type Registry } from '../../model/kind.ts';
import { fixedObjects, type LiveResource, type LiveState } from '../../model/live.ts';
import { watchedLists } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { accessControlRows } from '../../protection/controls/control-row.ts';
import { hasLinks, watchedFields, type WatchScope } from './record-access.ts';

/** One object on both sides: as it was recorded, and as it is. */
export type ObjectPair = { readonly was?: JsonObject; readonly is?: JsonObject };

/** A column as it was recorded: its objects, each with the live one. */
export type FormerColumn = { readonly column: string; readonly former: readonly ObjectPair[] | 'off' };

type RecordContext = { readonly scope: WatchScope; readonly registry: Registry };

/** Returns the live state with the objects of some columns as they were recorded; what Ostiary writes is as it is now. */
export function liveAtRecord(live: LiveState, columns: readonly FormerColumn[], { scope, registry }: RecordContext): LiveState {
  const objects = [...live.resources, ...fixedObjects(live)];
  const replaced = new Map<LiveResource, LiveResource | undefined>();
  const gone: LiveResource[] = [];
  for (const { column, former } of columns) {
    if (column === accessControlRows || former === 'off') continue;
    const found = new Map(objects.flatMap((one) => (kindOf(one.id) === column ? [[one.uid, one] as const] : [])));
    for (const { was, is } of former) {
      const now = found.get(asText(is?.['id']));
      const object = formerObject(column, was, now, { scope, registry });
      if (now !== undefined) replaced.set(now, object);
      else if (object !== undefined) gone.push(object);
    }
  }
  const all = objects.flatMap((one) => (replaced.has(one) ? (replaced.get(one) ?? []) : [one]));
  const before = withSharedNames(live, [...all, ...gone]);
  const rows = columns.find(({ column }) => column === accessControlRows);
  return withFormerRows(withFormerLinks(before, columns, { scope, registry }), rows, { scope, registry });
}

/** Returns an object as it was; undefined if it did not exist. */
function formerObject(
  column: string,
  was: JsonObject | undefined,
  live: LiveResource | undefined,
  { scope, registry }: RecordContext,
): LiveResource | undefined {
  if (was === undefined) return undefined;
  const id = resourceId(column, asText(was['name']));
  const fields = registry.get(column)?.fields ?? [];
  const watched = new Set(watchedFields(column, registry).map(({ name }) => name));
  const edges = fields.flatMap(({ name, edge, refers = '' }) =>
    edge === undefined ? [] : [[name, textsIn(was[name]).map((end) => resourceId(refers, end))] as const],
  );
  const values = fields.flatMap(({ name, edge, empty }) =>
    edge === undefined && watched.has(name) ? [[name, was[name] ?? empty] as const] : [],
  );
  const { links = [], managedBy: _, ...now } = live ?? { secrets: {}, raw: undefined, unknown: [], spec: {} };
  const others = links.filter((name) => !scope.left.has(name));
  const managedBy = asText(was['managed_by']);
  return {
    ...now,
    id,
    uid: asText(was['id']),
    // Only the links of an own attribute are watched.
    spec: scope.declared.has(id) ? now.spec : { ...now.spec, ...Object.fromEntries(values) },
    edges: Object.fromEntries(edges),
    ...(hasLinks(column) ? { links: [...textsIn(was['connections']), ...others] } : {}),
    ...(managedBy === '' ? {} : { managedBy }),
  };
}

/** Returns a live state with these objects; of a kind that manifests declare, those that share their name are apart. */
function withSharedNames(live: LiveState, objects: readonly LiveResource[]): LiveState {
  const byId = new Map<ResourceId, LiveResource[]>();
  for (const one of objects) addToGroup(byId, one.id, one);
  const declarable = objects.filter(({ id }) => watchedLists[kindOf(id)] === undefined);
  const isAlone = ({ id }: LiveResource): boolean => byId.get(id)?.length === 1;
  return {
    ...live,
    resources: declarable.filter(isAlone),
    namesakes: declarable.filter((one) => !isAlone(one)),
    watched: objects.filter(({ id }) => watchedLists[kindOf(id)] !== undefined),
  };
}

/** Returns a state with the attributes that connections had: those of others, and links that do not count, are as they are now. */
function withFormerLinks(before: LiveState, columns: readonly FormerColumn[], { scope, registry }: RecordContext): LiveState {
  if (!columns.some(({ column }) => hasLinks(column))) return before;
  const names = new Map<string, string[]>();
  for (const { id, links = [], managedBy } of before.resources)
    for (const connection of hasLinks(kindOf(id)) && managedBy === undefined ? links : []) addToGroup(names, connection, nameOf(id));
  const resources = before.resources.map((one) => {
    if (!isConnection(one.id, registry) || !scope.left.has(nameOf(one.id))) return one;
    const had = (names.get(nameOf(one.id)) ?? []).toSorted(compareText);
    return equal(had, textsIn(one.spec['attributes']).toSorted(compareText)) ? one : { ...one, spec: { ...one.spec, attributes: had } };
  });
  return { ...before, resources };
}

/** Returns a state with the groups of connections as they were. */
function withFormerRows(before: LiveState, rows: FormerColumn | undefined, { scope, registry }: RecordContext): LiveState {
  if (rows === undefined) return before;
  const { former } = rows;
  const { rowFields = {} } = before;
  const isOff = Object.values(rowFields).includes('off');
  const pairs = former === 'off' ? [] : former;
  const groups = new Map(pairs.map(({ was, is }) => [asText(was?.['id']) || asText(is?.['id']), was]));
  const formerGroups = ({ id, uid, spec }: LiveResource): Json => {
    if (former === 'off') return null;
    if (scope.granted.has(nameOf(id))) return isOff ? [] : (spec['access_groups'] ?? null);
    return groups.get(uid)?.['access_groups'] ?? [];
  };
  return {
    ...before,
    rowFields: Object.fromEntries(Object.keys(rowFields).map((field) => [field, former === 'off' ? 'off' : 'on'])),
    resources: before.resources.map((one) =>
      isConnection(one.id, registry) ? { ...one, spec: { ...one.spec, access_groups: formerGroups(one) } } : one,
    ),
  };
}
