import type { RecordedAccess } from '../../model/applied-record.ts';
import { equal, type JsonObject } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState } from '../../model/live.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { type Plan, renamesOf, withNames } from '../../model/plan/plan.ts';
import { onDeletedConnection } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { attributesIn } from '../../protection/access/deciding-kinds.ts';
import { entryOf } from '../cells/compare-specs.ts';
import { type Column, formOf, hasValues, watchedIn, type WatchScope } from './watched-columns.ts';

/** The longest text of all columns, in characters: 4 MiB. */
export const longestAccess: number = 4 * 1024 * 1024;

/**
 * Returns what no manifest states of a gateway as the record of an apply keeps it. A column that this token cannot read stays as it was recorded
 * `before`. Where all columns together are too long, the longest ones are omitted.
 */
export function recordAccess(
  live: LiveState,
  before: RecordedAccess | undefined,
  { scope, registry }: { readonly scope: WatchScope; readonly registry: Registry },
): RecordedAccess {
  const columns = watchedIn(live, scope, registry).map(({ column, objects }) => {
    const { name } = column;
    if (objects === 'unreadable') return [name, before?.[name] ?? objects] as const;
    return [
      name,
      objects === 'off' ? objects : objects.flatMap((one) => (hasValues(one, column) ? [recordedForm(one, column)] : [])),
    ] as const;
  });
  const lengths = columns.map(([name, entries]) => ({ name, length: lengthInRecord(entries) }));
  let rest = lengths.reduce((sum, { length }) => sum + length, 0);
  const omitted = new Set<string>();
  for (const { name, length } of lengths.toSorted((one, other) => other.length - one.length)) {
    if (rest <= longestAccess) break;
    omitted.add(name);
    rest -= length;
  }
  return Object.fromEntries(columns.map(([name, entries]) => [name, omitted.has(name) ? 'omitted' : entries]));
}

/** Returns an object without empty values. */
function recordedForm(one: LiveResource, column: Column): JsonObject {
  const form = formOf(one, column);
  return Object.fromEntries(column.fields.flatMap(({ name, empty }) => entryOf(form, name).filter(([, value]) => !equal(value, empty))));
}

/** Returns the length of a column in a record, which is ASCII. */
function lengthInRecord(column: RecordedAccess[string]): number {
  return JSON.stringify(column).replaceAll(/[^\x20-\x7e]/g, String.raw`\u0000`).length;
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
