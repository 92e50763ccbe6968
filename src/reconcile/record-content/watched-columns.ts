import { groupBy } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { asText, compareText, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { type FieldRule, isConnection, type Registry } from '../../model/kind.ts';
import { connectionsOf, fixedObjects, type LiveResource, type LiveState } from '../../model/live.ts';
import { liveKeyOf, type Plan } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import { decidingLists, isAttribute, watchedLists } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId, resourceId } from '../../model/resource.ts';
import { knownFields, normalizeObject } from '../../model/spec/normalize.ts';
import { attachingKind } from '../../protection/access/deciding-kinds.ts';
import { accessControlRows } from '../../protection/controls/control-row.ts';
import { fieldsRead } from '../../protection/controls/control-table.ts';

/** What manifests state of connections and of the objects that decide access to them. */
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

/** Returns what manifests state: the current ones, and those that were applied last. */
export function watchScope(registry: Registry, ...states: readonly DesiredState[]): WatchScope {
  const connections = states.map(({ resources }) => resources.filter(({ key }) => isConnection(key, registry)));
  const writing = (field: string): ReadonlySet<string> =>
    new Set(connections.flat().flatMap(({ key, stated, replaces }) => (stated.has(field) || replaces !== undefined ? [nameOf(key)] : [])));
  const [granted, attributed] = [writing('access_groups'), writing('attributes')];
  const [first = [], ...others] = connections.map((all) => all.map(({ key }) => nameOf(key)));
  const inAll = others.map((names) => new Set(names));
  return {
    left: new Set(first.filter((name) => !attributed.has(name) && inAll.every((names) => names.has(name)))),
    granted,
    declared: new Set(states.flatMap(({ resources, unselected }) => [...resources, ...unselected].flatMap(({ id, key }) => [id, key]))),
    isAccessStated: connections.flat().some(({ stated }) => stated.has('access_groups')),
  };
}

/** Leaves out what a plan names as accepted drift of connections. */
export function withoutAccepted(scope: WatchScope, accepted: Plan['accepted']): WatchScope {
  const named = (field: string): ReadonlySet<string> => {
    const found = accepted.filter(({ fields }) => fields.some(({ path }) => isPointerWithin(path, pointer(field))));
    return new Set(found.map((one) => nameOf(liveKeyOf(one))));
  };
  const attributes = named('attributes');
  return {
    ...scope,
    granted: new Set([...scope.granted, ...named('access_groups')]),
    left: new Set([...scope.left].filter((name) => !attributes.has(name))),
  };
}

/** A part of a state that no manifest states: one field of connections, or the objects of one kind. */
export type Column = {
  readonly name: string;
  /** The fields that are compared: those that decide access, and what identifies an object. */
  readonly fields: readonly FieldRule[];
  /** The field by which the record knows its objects again. */
  readonly key: 'id' | 'name';
  /** The objects are connections, which have no value where the record has none. */
  readonly ofConnections: boolean;
};

const text = (name: string): FieldRule => ({ name, shape: 'scalar', required: false, empty: '', omitted: 'empty' });
const set = (name: string): FieldRule => ({ name, shape: 'set', required: false, empty: [], omitted: 'empty' });

/** What has an attribute, where its own list of attributes does not say so. */
const links = set('connections');

const identifying: ReadonlySet<string> = new Set(['id', 'name', 'managed_by']);

/** Returns the fields of an object that a report shows if it was created or deleted. */
export function shownFields({ fields }: Column): readonly FieldRule[] {
  return fields.filter(({ name }) => name === 'managed_by' || !identifying.has(name));
}

/** What the attributes of connections are called among the columns. */
export const attributeColumn = 'attributes';

/** Returns the columns of the record, in the order of reports. */
export function recordColumns(registry: Registry): readonly Column[] {
  const kinds = [...Object.keys(decidingLists), ...Object.keys(watchedLists)].map((kind): Column => {
    const decides = new Set(fieldsRead(kind));
    const isWatched = watchedLists[kind] !== undefined;
    const fields = registry.get(kind)?.fields.filter(({ name, edge }) => isWatched || edge !== undefined || decides.has(name)) ?? [];
    const linked = kind === attachingKind ? [links] : [];
    return { name: kind, fields: [text('id'), text('name'), ...fields, ...linked, text('managed_by')], key: 'id', ofConnections: false };
  });
  return [
    { name: accessControlRows, fields: [text('id'), set('access_groups')], key: 'id', ofConnections: true },
    // A connection that is created again has the attributes that its creation states.
    { name: attributeColumn, fields: [text('name'), set('attributes')], key: 'name', ofConnections: true },
    ...kinds,
  ];
}

/** A column of a state: `off` and `unreadable` are those of a gateway that does not have it, or does not show it. */
export type ColumnState = { readonly column: Column; readonly objects: readonly LiveResource[] | 'off' | 'unreadable' };

/** Returns what no manifest states of a gateway; a column that the gateway does not have is left out. */
export function watchedIn(live: LiveState, scope: WatchScope, registry: Registry): readonly ColumnState[] {
  const { resources, watched, unread = [], rowFields = {} } = live;
  if (watched === undefined) return [];
  const unreadKinds = new Set(unread.map(({ kind }) => kind));
  const connections = resources.filter(({ id }) => isConnection(id, registry));
  const all = groupBy([...resources, ...fixedObjects(live)], ({ id }) => kindOf(id));
  const [rows] = Object.values(rowFields);
  return recordColumns(registry).flatMap((column): readonly ColumnState[] => {
    if (column.name === attributeColumn)
      return [{ column, objects: connections.filter(({ id }) => scope.left.has(nameOf(id)) || !scope.declared.has(id)) }];
    if (column.name !== accessControlRows) {
      if (unreadKinds.has(column.name)) return [{ column, objects: 'unreadable' }];
      const found = (all.get(column.name) ?? []).filter((one) => !scope.declared.has(one.id));
      return [{ column, objects: found.toSorted(compareObjects) }];
    }
    if (rows === undefined) return [];
    return [{ column, objects: rows === 'on' ? connections.filter(({ id }) => !scope.granted.has(nameOf(id))) : rows }];
  });
}

function compareObjects(one: LiveResource, other: LiveResource): number {
  return compareText(one.id, other.id) || compareText(one.uid, other.uid);
}

/** Returns whether an object is an attribute without groups, which the gateway also creates where others name it. */
function grantsNothing(one: LiveResource): boolean {
  return isAttribute(one.id) && textsIn(one.spec['access_groups']).length === 0 && linkedTo(one).length === 0;
}

/** Connections list their own attributes, except those that the gateway manages: these list their connections. */
function linkedTo(one: LiveResource): readonly string[] {
  return isAttribute(one.id) && one.managedBy === undefined ? [] : connectionsOf(one);
}

/** Returns the compared fields of an object as one value. */
export function formOf(one: LiveResource, { fields }: Column): JsonObject {
  const { id, uid, spec, managedBy = '' } = one;
  const apart: JsonObject = { id: uid, name: nameOf(id), managed_by: managedBy };
  const values = fields.map(({ name, edge, empty }): readonly [string, Json] => {
    if (identifying.has(name)) return [name, apart[name] ?? empty];
    return [name, edge !== undefined || name === links.name ? linkedTo(one) : (spec[name] ?? empty)];
  });
  return normalizeObject(fields, Object.fromEntries(values));
}

/** Returns whether an object has a value of a column, beside what identifies it. Of objects of a kind, only a label has none. */
export function hasValues(one: LiveResource, column: Column): boolean {
  if (!column.ofConnections) return !grantsNothing(one);
  const form = formOf(one, column);
  return shownFields(column).some(({ name, empty }) => !equal(form[name], empty));
}

/** Returns an object with the recorded values of a column: the same one if it has them, and a new one if there is none. */
export function withForm(one: LiveResource | undefined, recorded: JsonObject, column: Column): LiveResource {
  const { name: kind, fields, ofConnections } = column;
  const { id, uid } = one ?? { id: resourceId(kind, asText(recorded['name'])), uid: asText(recorded['id']) };
  const form = normalizeObject(fields, ofConnections ? { id: uid, name: nameOf(id), ...recorded } : recorded);
  if (one !== undefined && equal(formOf(one, column), knownFields(fields, form))) return one;
  const { links: _, managedBy: __, ...rest } = one ?? { spec: {}, edges: {}, secrets: {}, raw: undefined, unknown: [] };
  const own = fields.filter(({ name }) => !identifying.has(name));
  const ends = own.flatMap(({ name, edge, refers = '' }) =>
    edge === undefined ? [] : [[name, textsIn(form[name]).map((end) => resourceId(refers, end))] as const],
  );
  const values = own.flatMap((field) =>
    field.edge === undefined && field !== links ? [[field.name, form[field.name] ?? field.empty]] : [],
  );
  const changed = { spec: { ...rest.spec, ...Object.fromEntries(values) }, edges: { ...rest.edges, ...Object.fromEntries(ends) } };
  if (one !== undefined && ofConnections) return { ...one, ...changed };
  const managedBy = asText(form['managed_by']);
  return {
    ...rest,
    ...changed,
    id: resourceId(kind, asText(form['name'])),
    uid,
    links: fields.includes(links) ? textsIn(form[links.name]) : [],
    ...(managedBy === '' ? {} : { managedBy }),
  };
}
