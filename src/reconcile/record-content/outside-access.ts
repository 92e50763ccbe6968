import type { RecordedAccess } from '../../model/applied-record.ts';
import { type DesiredState, emptyState } from '../../model/desired.ts';
import { resolveEdges } from '../../model/edge-ends.ts';
import { asText, type JsonObject, textsIn, defined } from '../../model/json.ts';
import { type FieldRule, isConnection, type Registry } from '../../model/kind.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import type { OutsideAccess, OutsideChange } from '../../model/plan/plan.ts';
import { accessControlId, bearsRoles, decidingLists, onDeletedConnection } from '../../model/protection/access-objects.ts';
import { sortHeadlines } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId, resourceId } from '../../model/resource.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { accessControlRows } from '../../protection/controls/control-row.ts';
import { protectionOfAccess } from '../../protection/protection.ts';
import { compareSpecs, wholeFields } from '../cells/compare-specs.ts';
import { type FormerColumn, liveAtRecord, type ObjectPair } from './live-at-record.ts';
import { roleHeadlines } from './role-headlines.ts';
import { grantsNothing, hasLinks, recordColumns, watchedColumns, watchedFields, type WatchScope } from './record-access.ts';

type OutsideInput = {
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

/** Finds what changed since the last apply of the objects that decide access and that no manifest declares; undefined if there is nothing to report. */
export function findOutsideAccess({
  recorded,
  live,
  registry,
  dialect,
  role,
  scope,
  applied = emptyState,
}: OutsideInput): OutsideAccess | undefined {
  const columns = watchedColumns(live, scope, registry);
  const unreadable = recordColumns.filter((column) => columns.get(column) === 'unreadable');
  const connections = connectionIds(live, registry);
  const compared = recordColumns.flatMap((column) => {
    const [before, now] = [recorded?.access?.[column], columns.get(column)];
    const isKnown = before !== undefined && before !== 'unreadable' && before !== 'omitted';
    if (!isKnown || now === undefined || now === 'unreadable') return [];
    return [compareColumn({ column, fields: watchedFields(column, registry), connections, scope }, before, now)];
  });
  const isCompared = new Set(compared.map(({ column }) => column));
  const unrecorded = recordColumns.filter((column) => recorded !== undefined && !isCompared.has(column) && hasObjects(column, columns));
  const changes = compared.flatMap((one) => one.changes);
  if (changes.length + unreadable.length + unrecorded.length === 0) return undefined;
  // That own rules are gone is drift of its own, which is judged beside what is live now.
  const missing = missingRules(live, { registry, applied });
  const complete = (state: LiveState): LiveState =>
    missing.length === 0 ? state : { ...state, resources: [...state.resources, ...missing] };
  const changed = compared.filter((one) => one.changes.length > 0);
  const before = liveAtRecord(live, changed, { scope, registry });
  const known = changes.length === 0 ? [] : protectionOfAccess(complete(before), complete(live), { registry, dialect }).headlines;
  const headlines = sortHeadlines([...known, ...roleHeadlines(changes)]);
  return { changes, headlines, unreadable, ...defined({ role }), unrecorded };
}

/** Returns the rules that were applied and are gone from the kinds that decide access, as they were applied. */
function missingRules(
  live: LiveState,
  { registry, applied }: { readonly registry: Registry; readonly applied: DesiredState },
): readonly LiveResource[] {
  const found = liveById(live.resources);
  const unread = new Set((live.unread ?? []).map(({ kind }) => kind));
  const gone = applied.resources.filter(
    ({ key }) => decidingLists[kindOf(key)] !== undefined && !hasLinks(kindOf(key)) && !unread.has(kindOf(key)) && !found.has(key),
  );
  if (gone.length === 0) return [];
  const edges = resolveEdges(applied.edges, { desired: applied, live, registry });
  return gone.map(({ key, spec }): LiveResource => {
    const connections = edges.flatMap(({ rule, connection }) => (rule === key ? [connection] : []));
    const fields = registry.get(kindOf(key))?.fields.filter(({ edge }) => edge === 'rule') ?? [];
    const ends = Object.fromEntries(fields.map(({ name }) => [name, connections]));
    return { id: key, uid: `missing ${key}`, spec, secrets: {}, edges: ends, raw: undefined, unknown: [] };
  });
}

/** Returns the connections, which are the objects that can be closed, by the gateway's ids. */
function connectionIds({ resources }: LiveState, registry: Registry): ReadonlyMap<string, ResourceId> {
  return new Map(resources.flatMap(({ id, uid }) => (isConnection(id, registry) ? [[uid, id] as const] : [])));
}

/** Access control that is on without groups still decides; an attribute without groups does not. */
function hasObjects(column: string, columns: ReturnType<typeof watchedColumns>): boolean {
  const found = columns.get(column) ?? [];
  if (typeof found === 'string' || column === accessControlRows) return typeof found === 'object' && columns.has(column);
  return found.some((one) => !grantsNothing(column, one));
}

/** A column, its fields, the connections by their ids, and what is watched of them. */
type ColumnContext = {
  readonly column: string;
  readonly fields: readonly FieldRule[];
  readonly connections: ReadonlyMap<string, ResourceId>;
  readonly scope: WatchScope;
};

/** The changes of a column, and the column as it was, for the comparison of its effect. */
type ComparedColumn = FormerColumn & { readonly changes: readonly OutsideChange[] };

function compareColumn(
  context: ColumnContext,
  recorded: readonly JsonObject[] | 'off',
  now: readonly JsonObject[] | 'off',
): ComparedColumn {
  const { column, scope } = context;
  // Where manifests state access groups, they switched access control on.
  const before = recorded === 'off' && now !== 'off' && scope.isAccessStated ? [] : recorded;
  if (before === 'off' || now === 'off') {
    const happened = now === 'off' ? 'switched off' : 'switched on';
    const changes = before === now ? [] : [{ id: accessControlId, happened, fields: [] } as const];
    return { column, changes, former: before === 'off' ? before : pairObjects(context, before, []) };
  }
  const pairs = pairObjects(context, before, now);
  return { column, changes: pairs.flatMap((pair) => changeOf(pair, context)), former: pairs };
}

/** Pairs objects by id, then by name: one that was created again is a change of its id. */
function pairObjects(context: ColumnContext, before: readonly JsonObject[], now: readonly JsonObject[]): readonly ObjectPair[] {
  const { column } = context;
  const isRow = column === accessControlRows;
  const known = stillWatched(context, before);
  const byId = new Map(known.map((one) => [asText(one['id']), one]));
  const byName = new Map(known.map((one) => [asText(one['name']), one]));
  const ids = new Set(now.map((one) => asText(one['id'])));
  const paired = new Set<JsonObject>();
  const pairs = now.flatMap((is): readonly ObjectPair[] => {
    const namesake = isRow ? undefined : byName.get(asText(is['name']));
    const isNamesake = namesake !== undefined && !ids.has(asText(namesake['id'])) && !paired.has(namesake);
    const was = byId.get(asText(is['id'])) ?? (isNamesake ? namesake : undefined);
    if (was !== undefined) paired.add(was);
    // Nothing else of it is watched.
    if (!isRow && isDeclared(is, context)) return [{ was: { ...is, connections: was?.['connections'] ?? [] }, is }];
    return was === undefined && grantsNothing(column, is) ? [] : [{ is, ...defined({ was }) }];
  });
  return [...pairs, ...known.filter((one) => !paired.has(one)).map((was) => ({ was }))];
}

/**
 * Returns what was recorded of a column and is watched now, too. What goes with a deleted connection is not a change of its own: Ostiary deletes
 * connections, too, and creates one again that others deleted, without what went with it.
 */
function stillWatched(context: ColumnContext, before: readonly JsonObject[]): readonly JsonObject[] {
  const { column, fields, connections, scope } = context;
  const live = new Set([...connections.values()].map(nameOf));
  const { refers = '' } = fields.find(({ edge }) => edge !== undefined) ?? {};
  const isKnown = (end: string): boolean => live.has(end) || scope.declared.has(resourceId(refers, end));
  const found = before.flatMap((one): readonly JsonObject[] => {
    const { id = '', name = '', connections: linked = [] } = one;
    if (column === accessControlRows) {
      const connection = connections.get(asText(id));
      return connection === undefined || scope.granted.has(nameOf(connection)) ? [] : [one];
    }
    if (isDeclared(one, context) && !hasLinks(column)) return [];
    const names = textsIn(linked);
    if (onDeletedConnection[column] === 'deletes' && !names.some(isKnown)) return [];
    if (onDeletedConnection[column] !== 'unlinks') return [one];
    const counted = names.filter((end) => live.has(end) && (!hasLinks(column) || scope.left.has(end)));
    return [{ ...(isDeclared(one, context) ? { id, name } : one), connections: counted }];
  });
  return found.map((one) => normalizeObject(fields, one));
}

/** Returns whether a manifest declares an object. */
function isDeclared({ name }: JsonObject, { column, scope }: ColumnContext): boolean {
  return scope.declared.has(resourceId(column, asText(name)));
}

function changeOf({ was, is }: ObjectPair, { column, fields, connections }: ColumnContext): readonly OutsideChange[] {
  const isRow = column === accessControlRows;
  // A connection without an entry is one without groups, and one who signs in without an entry has no role.
  const isPart = isRow || bearsRoles(column);
  const happened = isPart || (was !== undefined && is !== undefined) ? 'changed' : was === undefined ? 'created' : 'deleted';
  const shown = fields.filter(({ name }) => name !== 'id' && name !== 'name');
  const compared = was === undefined || is === undefined ? shown.filter(({ name }) => name !== 'managed_by') : fields;
  const changed =
    happened === 'changed'
      ? compareSpecs(compared, is ?? normalizeObject(fields, {}), was ?? {}, [])
      : wholeFields(shown, is ?? was ?? {}, is === undefined ? 'before' : 'after');
  if (happened === 'changed' && changed.length === 0) return [];
  const valueOf = (field: string): string => asText(is?.[field]) || asText(was?.[field]);
  const managedBy = valueOf('managed_by');
  const id = (isRow ? connections.get(valueOf('id')) : undefined) ?? resourceId(column, valueOf('name'));
  return [{ id, happened, ...(managedBy === '' || isRow ? {} : { managedBy }), fields: changed }];
}
