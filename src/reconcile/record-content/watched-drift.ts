import type { RecordedAccess } from '../../model/applied-record.ts';
import { addToGroup, groupBy } from '../../model/collections.ts';
import { type DesiredState, emptyState } from '../../model/desired.ts';
import { resolveEdges } from '../../model/edge-ends.ts';
import { asText, defined, type JsonObject, textsIn } from '../../model/json.ts';
import { isConnection, type Registry } from '../../model/kind.ts';
import { fixedObjects, liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import {
  attributeRenames,
  type Renames,
  withAttributeNames,
  type WatchedChange,
  type WatchedDrift,
  withNames,
} from '../../model/plan/plan.ts';
import { accessControlId, bearsRoles, decidingLists, onDeletedConnection, watchedLists } from '../../model/protection/access-objects.ts';
import { type Headline, sortHeadlines } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId, resourceId } from '../../model/resource.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { accessControlRows } from '../../protection/controls/control-row.ts';
import { protectionOfAccess } from '../../protection/protection.ts';
import { asCreated } from '../accepted/gateway-at-base.ts';
import { compareSpecs, wholeFields } from '../cells/compare-specs.ts';
import { roleHeadlines } from './role-headlines.ts';
import { type Column, type ColumnState, formOf, hasValues, shownFields, watchedIn, type WatchScope, withForm } from './watched-columns.ts';

type WatchedInput = {
  /** The record of the last complete apply; undefined if there was none, so that nothing can be compared. */
  readonly recorded: { readonly access?: RecordedAccess } | undefined;
  readonly live: LiveState;
  /** All kinds that are read. */
  readonly registry: Registry;
  readonly dialect: string;
  readonly role: string | undefined;
  readonly scope: WatchScope;
  /** The manifests that were applied last. */
  readonly applied?: DesiredState | undefined;
};

/** Finds what changed since the last apply of what decides access and no manifest states; undefined if there is nothing to report. */
export function findWatchedDrift(input: WatchedInput): WatchedDrift | undefined {
  const { recorded, live, registry, role, scope } = input;
  const columns = watchedIn(live, scope, registry);
  const known = columns.flatMap((one): readonly RecordedColumn[] => {
    const entries = recorded?.access?.[one.column.name];
    if (one.objects === 'unreadable' || (typeof entries !== 'object' && entries !== 'off')) return [];
    // Where manifests state access groups, they switched access control on.
    return [{ ...one, entries: entries === 'off' && one.objects !== 'off' && scope.isAccessStated ? [] : entries }];
  });
  const before = gatewayAtRecord(known, input);
  const former = before === live ? columns : watchedIn(before, scope, registry);
  const isKnown = new Set(known.map(({ column }) => column.name));
  const renames = renamesSince(former, columns, live);
  const attributes = attributeRenames(renames);
  const found = columns.flatMap((one, place) =>
    isKnown.has(one.column.name) ? changesOf(one, withAttributesOf(former[place]?.objects ?? [], attributes)) : [],
  );
  const changes = [...groupBy(found, (one) => (isConnection(one.id, registry) ? one.id : one)).values()].map(joinChanges);
  const unreadable = columns.flatMap(({ column, objects }) => (objects === 'unreadable' ? [column.name] : []));
  const others = recorded === undefined ? [] : columns.filter((one) => !isKnown.has(one.column.name) && hasObjects(one));
  if (changes.length + unreadable.length + others.length === 0) return undefined;
  const effects = changes.length === 0 ? [] : headlinesSince(withNames(before, renames), input);
  const headlines = sortHeadlines([...effects, ...roleHeadlines(changes)]);
  return { changes, headlines, unreadable, ...defined({ role }), unrecorded: others.map(({ column }) => column.name) };
}

/** Returns the names that objects have now, by those that the record has, unless others have these now. */
function renamesSince(former: readonly ColumnState[], columns: readonly ColumnState[], live: LiveState): Renames {
  const present = liveById(live.resources);
  return new Map(
    columns.flatMap(({ objects }, place) => {
      const was = former[place]?.objects;
      if (typeof objects === 'string' || typeof was !== 'object' || was === objects) return [];
      const names = new Map(objects.map(({ id, uid }) => [uid, id]));
      return was.flatMap(({ id, uid }) => {
        const name = names.get(uid) ?? id;
        return name === id || present.has(id) ? [] : [[id, name] as const];
      });
    }),
  );
}

/** Returns objects with their attributes under other names: that these have them is no change of the objects. */
function withAttributesOf(objects: ColumnState['objects'], renames: ReadonlyMap<string, string>): ColumnState['objects'] {
  if (typeof objects === 'string' || renames.size === 0) return objects;
  return objects.map((one) => ({ ...one, spec: withAttributeNames(one.spec, renames) }));
}

/** Joins the changes of one connection, which several columns have. */
function joinChanges([first, ...others]: readonly [WatchedChange, ...WatchedChange[]]): WatchedChange {
  return others.length === 0 ? first : { ...first, fields: [first, ...others].flatMap(({ fields }) => fields) };
}

/** Returns what the changes did to connections. That own rules are gone is drift of its own, which is judged beside what is live now. */
function headlinesSince(before: LiveState, { live, registry, dialect, applied }: WatchedInput): readonly Headline[] {
  const missing = missingObjects({ live, registry, applied });
  const complete = (state: LiveState): LiveState => ({ ...state, resources: [...state.resources, ...missing] });
  return protectionOfAccess(complete(before), complete(live), { registry, dialect }).headlines;
}

/** Access control that is on without groups still decides. */
function hasObjects({ column, objects }: ColumnState): boolean {
  return typeof objects === 'object' && (column.name === accessControlRows || objects.some((one) => hasValues(one, column)));
}

/** Returns the objects that were applied and are gone from the kinds that decide access, as they were applied. */
function missingObjects({
  live,
  registry,
  applied = emptyState,
}: Pick<WatchedInput, 'live' | 'registry' | 'applied'>): readonly LiveResource[] {
  const found = liveById(live.resources);
  const unread = new Set((live.unread ?? []).map(({ kind }) => kind));
  const edges = resolveEdges(applied.edges, { desired: applied, live, registry });
  return applied.resources.flatMap((resource) => {
    const { key } = resource;
    const kind = registry.get(kindOf(key));
    const field = kind?.fields.find(({ edge }) => edge === 'rule');
    if (kind === undefined || found.has(key)) return [];
    if (decidingLists[kind.name] === undefined || unread.has(kind.name)) return [];
    const connections = edges.flatMap(({ rule, connection }) => (rule === key ? [connection] : []));
    return [{ ...asCreated(kind, resource, live), edges: field === undefined ? {} : { [field.name]: connections } }];
  });
}

/** A column of the gateway, and what the record has of it. */
type RecordedColumn = ColumnState & { readonly entries: readonly JsonObject[] | 'off' };

/** Returns the gateway as the record has it; what Ostiary writes, and what did not change, is as it is now. */
export function gatewayAtRecord(columns: readonly RecordedColumn[], input: Pick<WatchedInput, 'live' | 'registry' | 'scope'>): LiveState {
  const { live, registry } = input;
  const former = new Map<LiveResource, LiveResource | undefined>();
  const gone: LiveResource[] = [];
  for (const { column, objects, entries } of columns) {
    if (entries === 'off' || typeof objects === 'string') continue;
    const byKey = new Map(stillWatched(column, entries, input).map((one) => [asText(one[column.key]), one]));
    const names = new Set([...byKey.values()].map(({ name }) => name));
    for (const one of objects) {
      const key = column.key === 'id' ? one.uid : nameOf(one.id);
      const entry = byKey.get(key) ?? (column.ofConnections ? {} : undefined);
      // The record leaves out what has no values.
      const isLeftOut = entry === undefined && !hasValues(one, column) && !names.has(nameOf(one.id));
      const was = isLeftOut ? one : entry && withForm(former.get(one) ?? one, entry, column);
      if (was !== one) former.set(one, was);
      byKey.delete(key);
    }
    if (!column.ofConnections) for (const entry of byKey.values()) gone.push(withForm(undefined, entry, column));
  }
  const rows = columns.find(
    ({ column, objects, entries }) => column.name === accessControlRows && (objects === 'off') !== (entries === 'off'),
  );
  if (former.size + gone.length === 0 && rows === undefined) return live;
  const all = [...live.resources, ...fixedObjects(live)].flatMap((one) => (former.has(one) ? (former.get(one) ?? []) : [one]));
  const before = withSharedNames(live, [...all, ...gone]);
  return rows === undefined ? before : withSwitchedRows(before, rows, registry);
}

/** Returns a state whose access control was on or off; of connections whose groups Ostiary writes, no groups are known from before. */
function withSwitchedRows(state: LiveState, { entries }: RecordedColumn, registry: Registry): LiveState {
  const byUid = typeof entries === 'object' ? new Map(entries.map((one) => [asText(one['id']), one])) : undefined;
  const resources = state.resources.map((one) => {
    if (!isConnection(one.id, registry)) return one;
    const groups = byUid === undefined ? null : (byUid.get(one.uid)?.['access_groups'] ?? []);
    return { ...one, spec: { ...one.spec, access_groups: groups } };
  });
  const rowFields = Object.fromEntries(
    Object.keys(state.rowFields ?? {}).map((field) => [field, byUid === undefined ? 'off' : 'on'] as const),
  );
  return { ...state, resources, rowFields };
}

/**
 * Returns what was recorded of a column and is watched now, too. What goes with a deleted connection is not a change of its own: Ostiary deletes
 * connections, too, and creates one again that others deleted, without what went with it.
 */
function stillWatched(
  { name: kind, fields }: Column,
  before: readonly JsonObject[],
  { live, registry, scope }: Pick<WatchedInput, 'live' | 'registry' | 'scope'>,
): readonly JsonObject[] {
  const onDelete = onDeletedConnection[kind];
  const undeclared = before.filter(({ name }) => !scope.declared.has(resourceId(kind, asText(name))));
  if (onDelete === undefined) return undeclared;
  const { name: field = 'connections', refers = '' } = fields.find(({ edge }) => edge !== undefined) ?? {};
  const connections = new Set(live.resources.flatMap(({ id }) => (isConnection(id, registry) ? [nameOf(id)] : [])));
  const isKnown = (end: string): boolean => connections.has(end) || scope.declared.has(resourceId(refers, end));
  return undeclared.flatMap((one) => {
    const linked = textsIn(one[field]);
    if (onDelete === 'deletes') return linked.some(isKnown) ? [one] : [];
    return [{ ...one, [field]: linked.filter((end) => connections.has(end)) }];
  });
}

/** Returns what changed of a column. An object that was created again is a change of its id, one under another name of its name. */
function changesOf({ column, objects: now }: ColumnState, before: ColumnState['objects']): readonly WatchedChange[] {
  if (now === before) return [];
  if (typeof now === 'string' || typeof before === 'string')
    return [{ id: accessControlId, happened: now === 'off' ? 'switched off' : 'switched on', fields: [] }];
  const uids = new Set(now.map(({ uid }) => uid));
  const byUid = new Map(before.map((one) => [one.uid, one]));
  const gone = new Set(before.filter(({ uid }) => !uids.has(uid)));
  const byId = liveById([...gone]);
  const pairs = now.flatMap((is) => {
    const namesake = byId.get(is.id);
    const was = byUid.get(is.uid) ?? (namesake !== undefined && gone.delete(namesake) ? namesake : undefined);
    return was === undefined && !hasValues(is, column) ? [] : [{ is, was }];
  });
  return [...pairs, ...[...gone].map((was) => ({ is: undefined, was }))].flatMap(({ is, was }) =>
    is === was ? [] : changeOf(is, was, column),
  );
}

function changeOf(is: LiveResource | undefined, was: LiveResource | undefined, column: Column): readonly WatchedChange[] {
  const { id = '/', managedBy } = { ...was, ...is };
  const shown = shownFields(column);
  const blank = normalizeObject(shown, {});
  const [after, before] = [is, was].map((side) => (side === undefined ? blank : formOf(side, column)));
  const isThere = is !== undefined && was !== undefined;
  // One who signs in without an entry has no role.
  const isChanged = isThere || bearsRoles(column.name);
  const fields = isChanged
    ? compareSpecs(isThere ? column.fields : shown, after ?? blank, before ?? blank, [])
    : wholeFields(shown, (is === undefined ? before : after) ?? blank, is === undefined ? 'before' : 'after');
  if (isChanged && fields.length === 0) return [];
  const happened = isChanged ? 'changed' : was === undefined ? 'created' : 'deleted';
  return [{ id, happened, ...(column.ofConnections ? {} : defined({ managedBy })), fields }];
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
