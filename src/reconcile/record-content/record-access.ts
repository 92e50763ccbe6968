import type { RecordedAccess } from '../../model/applied-record.ts';
import { addToGroup } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { compareText, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { type FieldRule, isConnection, type Registry } from '../../model/kind.ts';
import { connectionsOf, fixedObjects, type LiveResource, type LiveState } from '../../model/live.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { liveKeyOf, type Plan, renamesOf, withNames } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import { decidingLists, onDeletedConnection, watchedLists } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { attachingKind, attributesIn } from '../../protection/access/deciding-kinds.ts';
import { accessControlRows } from '../../protection/controls/control-row.ts';
import { entryOf } from '../cells/compare-specs.ts';
import { fieldsRead } from '../../protection/controls/control-table.ts';

/** The kinds whose objects decide access, in the order of reports. */
const decidingKinds: readonly string[] = [...Object.keys(decidingLists), ...Object.keys(watchedLists)];

/** The columns of the record, in the order of reports: the groups of connections, and the objects of each kind that decides access. */
export const recordColumns: readonly string[] = [accessControlRows, ...decidingKinds];

/** What is watched on a gateway, as the record has it, with empty values; a column that it does not have is absent. */
type WatchedColumns = ReadonlyMap<string, readonly JsonObject[] | 'off' | 'unreadable'>;

/** The longest text of all columns, in characters: 4 MiB. */
export const longestAccess: number = 4 * 1024 * 1024;

/**
 * Returns the objects that decide access as the record of an apply keeps them. A column that this token cannot read stays as it was recorded
 * `before`. Where all columns together are too long, the longest ones are omitted.
 */
export function recordAccess(
  live: LiveState,
  before: RecordedAccess | undefined,
  { scope, registry }: { readonly scope: WatchScope; readonly registry: Registry },
): RecordedAccess {
  const columns = [...watchedColumns(live, scope, registry)].map(([column, found]) => {
    if (found === 'unreadable') return [column, before?.[column] ?? found] as const;
    if (found === 'off') return [column, found] as const;
    const fields = watchedFields(column, registry);
    return [column, found.flatMap((one) => (grantsNothing(column, one) ? [] : [recordedObject(one, fields)]))] as const;
  });
  const lengths = columns.map(([column, entries]) => ({ column, length: lengthInRecord(entries) }));
  let rest = lengths.reduce((sum, { length }) => sum + length, 0);
  const omitted = new Set<string>();
  for (const { column, length } of lengths.toSorted((one, other) => other.length - one.length)) {
    if (rest <= longestAccess) break;
    omitted.add(column);
    rest -= length;
  }
  return Object.fromEntries(columns.map(([column, entries]) => [column, omitted.has(column) ? 'omitted' : entries]));
}

/** What is watched of connections with manifests. */
export type WatchScope = {
  /** The connections whose manifests leave attributes to the gateway. */
  readonly left: ReadonlySet<string>;
  /** The connections whose access groups Ostiary writes: their manifests state them, or they have those of their predecessor. */
  readonly granted: ReadonlySet<string>;
  /** The objects that manifests declare. */
  readonly declared: ReadonlySet<ResourceId>;
  /** A manifest states access groups, so that an apply may have switched access control on. */
  readonly isAccessStated: boolean;
};

/** Returns what is watched of connections with these manifests: the current ones, and those that were applied last. */
export function watchScope(registry: Registry, ...states: readonly DesiredState[]): WatchScope {
  const all = states.flatMap(({ resources }) => resources.filter(({ key }) => isConnection(key, registry)));
  const stated = all.filter((one) => one.stated.has('access_groups'));
  const granted = new Set([...stated, ...all.filter(({ replaces }) => replaces !== undefined)].map(({ key }) => nameOf(key)));
  const declared = new Set(
    states.flatMap(({ resources, unselected }) => [...resources, ...unselected].flatMap(({ id, key }) => [id, key])),
  );
  return { left: leavingAttributes(registry, states), granted, declared, isAccessStated: stated.length > 0 };
}

/** Leaves out what a plan names as accepted drift of connections. */
export function withoutAccepted(scope: WatchScope, accepted: Plan['accepted']): WatchScope {
  const named = (field: string): ReadonlySet<string> => {
    const found = accepted.filter(({ fields }) => fields.some(({ path }) => isPointerWithin(path, pointer(field))));
    return new Set(found.map((one) => nameOf(liveKeyOf(one))));
  };
  const [groups, attributes] = [named('access_groups'), named('attributes')];
  return {
    ...scope,
    granted: new Set([...scope.granted, ...groups]),
    left: new Set([...scope.left].filter((name) => !attributes.has(name))),
  };
}

/**
 * Returns the names of the connections whose manifests leave attributes to the gateway, and left them when they were applied last. Ostiary writes
 * the attributes of others, and a successor has those of its predecessor.
 */
function leavingAttributes(registry: Registry, states: readonly DesiredState[]): ReadonlySet<string> {
  const [first = new Set<string>(), ...others] = states.map(({ resources }) => {
    const leaving = resources.filter(
      ({ key, stated, replaces }) => !stated.has('attributes') && replaces === undefined && isConnection(key, registry),
    );
    return new Set(leaving.map(({ key }) => nameOf(key)));
  });
  return new Set([...first].filter((name) => others.every((other) => other.has(name))));
}

const text = (name: string): FieldRule => ({ name, shape: 'scalar', required: false, empty: '', omitted: 'empty' });
const links: FieldRule = { name: 'connections', shape: 'set', required: false, empty: [], omitted: 'empty' };
const managedBy = text('managed_by');

/**
 * Returns the fields of a column that are compared: beside the id and the name of an object, those that decide access, and its connections. The
 * rules of an attribute follow from other objects, and so do its connections, except those whose manifests leave attributes to the gateway.
 */
export function watchedFields(column: string, registry: Registry): readonly FieldRule[] {
  if (column === accessControlRows) return [text('id'), { ...links, name: 'access_groups' }];
  const decides = new Set(fieldsRead(column));
  const isWatched = watchedLists[column] !== undefined;
  const fields = registry.get(column)?.fields.filter(({ name, edge }) => isWatched || edge !== undefined || decides.has(name)) ?? [];
  return [text('id'), text('name'), ...fields, ...(hasLinks(column) ? [links] : []), managedBy];
}

/**
 * Returns the objects that no manifest declares, by column, with only those links of attributes to connections that count, and without the
 * groups of connections that Ostiary writes. Of an attribute with a manifest, only these links remain.
 */
export function watchedColumns(live: LiveState, scope: WatchScope, registry: Registry): WatchedColumns {
  const { resources, watched, unread = [], rowFields = {} } = live;
  if (watched === undefined) return new Map();
  const unreadKinds = new Set(unread.map(({ kind }) => kind));
  const all = new Map<string, LiveResource[]>();
  for (const one of [...resources, ...fixedObjects(live)]) addToGroup(all, kindOf(one.id), one);
  const columns = decidingKinds.map((kind) => {
    if (unreadKinds.has(kind)) return [kind, 'unreadable'] as const;
    const fields = watchedFields(kind, registry);
    const found = (all.get(kind) ?? []).filter(({ id }) => hasLinks(kind) || !scope.declared.has(id));
    return [kind, found.toSorted(byName).map((one) => watchedForm(one, fields, scope))] as const;
  });
  const [state] = Object.values(rowFields);
  const fields = watchedFields(accessControlRows, registry);
  const rows = resources.filter(({ id }) => isConnection(id, registry) && !scope.granted.has(nameOf(id)));
  const groups = ({ uid, spec }: LiveResource): JsonObject =>
    normalizeObject(fields, { id: uid, access_groups: spec['access_groups'] ?? [] });
  return new Map([...(state === undefined ? [] : [[accessControlRows, state === 'on' ? rows.map(groups) : state] as const]), ...columns]);
}

function byName(one: LiveResource, other: LiveResource): number {
  return compareText(one.id, other.id) || compareText(one.uid, other.uid);
}

function watchedForm(one: LiveResource, fields: readonly FieldRule[], { left, declared }: WatchScope): JsonObject {
  const isOwn = declared.has(one.id);
  const connections = hasLinks(kindOf(one.id)) ? connectionsOf(one).filter((name) => left.has(name)) : connectionsOf(one);
  const values = fields.map(({ name, edge, empty }): readonly [string, Json] => {
    if (edge !== undefined || name === links.name) return [name, connections];
    return [name, isOwn ? empty : (one.spec[name] ?? empty)];
  });
  return normalizeObject(fields, { ...Object.fromEntries(values), id: one.uid, name: nameOf(one.id), managed_by: one.managedBy ?? '' });
}

/** Returns the live state after a complete apply, as far as manifests do not state it: the plan may have switched access control on. */
export function liveAfterPlan(live: LiveState, { changes }: Pick<Plan, 'changes'>): LiveState {
  const named = withNames(live, renamesOf(changes));
  const deleted = new Set(changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  const { rowFields = {}, watched } = live;
  const isGone = ({ id, edges }: LiveResource): boolean =>
    onDeletedConnection[kindOf(id)] === 'deletes' &&
    Object.values(edges)
      .flat()
      .every((end) => deleted.has(end));
  const isSwitchedOn = accessRowsOf(changes, live) !== undefined;
  return {
    ...named,
    resources: named.resources.flatMap((one) => (deleted.has(one.id) ? [] : [withoutAttributes(one, deleted)])),
    ...(watched === undefined
      ? {}
      : { watched: (named.watched ?? []).flatMap((one) => (isGone(one) ? [] : [withoutAttributes(one, deleted)])) }),
    ...(isSwitchedOn ? { rowFields: Object.fromEntries(Object.keys(rowFields).map((field) => [field, 'on' as const])) } : {}),
  };
}

/** Returns an object without deleted attributes, which the gateway takes from all that have them. */
function withoutAttributes(one: LiveResource, deleted: ReadonlySet<ResourceId>): LiveResource {
  const names = attributesIn(one.spec);
  const kept = names.filter((id) => !deleted.has(id));
  return kept.length === names.length ? one : { ...one, spec: { ...one.spec, attributes: kept.map(nameOf) } };
}

/** Returns whether an object of a column has no effect: a connection without groups, and an attribute without groups and links that count. */
export function grantsNothing(column: string, values: JsonObject): boolean {
  if (column !== accessControlRows && !hasLinks(column)) return false;
  return [values['access_groups'], values['connections']].every((value) => textsIn(value).length === 0);
}

/** Returns the length of a column in a record, which is ASCII. */
function lengthInRecord(column: RecordedAccess[string]): number {
  return JSON.stringify(column).replaceAll(/[^\x20-\x7e]/g, String.raw`\u0000`).length;
}

/** Returns an object without empty values. */
function recordedObject(object: JsonObject, fields: readonly FieldRule[]): JsonObject {
  return Object.fromEntries(fields.flatMap(({ name, empty }) => entryOf(object, name).filter(([, value]) => !equal(value, empty))));
}

/** Returns whether the objects of a column are linked by connections, which have their names: of those with a manifest, only these links are watched. */
export function hasLinks(column: string): boolean {
  return column === attachingKind;
}
