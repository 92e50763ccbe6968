import { textsIn } from '../json.ts';
import { liveById, type LiveState, type GrantRow, rowFieldsOf } from '../live.ts';
import { kindOf, type ResourceId } from '../resource.ts';
import { type Change, isWritten, liveKeyOf } from './plan.ts';

/** One live object and the row that a plan gives it. */
export type PlannedRow = GrantRow & { readonly change: Change };

/** The rows of one kind with which a plan switches access control on, and all objects to which it gives one: new ones get theirs later. */
type PlannedRows = { readonly kind: string; readonly rows: readonly PlannedRow[]; readonly stating: ReadonlySet<ResourceId> };

/**
 * Returns the rows of live objects with which a plan switches the access control of a gateway on; undefined where the plan leaves it as it is. No
 * row can be written while it is off, so all of them are written in one request before everything else.
 */
export function accessRowsOf(changes: readonly Change[], live: Pick<LiveState, 'resources' | 'rowFields'>): PlannedRows | undefined {
  const [kind] = Object.entries(live.rowFields ?? {}).flatMap(([field, state]) => (state === 'off' ? field.split('.').slice(0, 1) : []));
  if (kind === undefined) return undefined;
  const paths = new Set(rowFieldsOf(live, kind).map(({ path }) => path));
  const found = liveById(live.resources);
  const written = changes.filter((change) => kindOf(change.id) === kind && isWritten(change) && change.action !== 'delete');
  const stated = written.flatMap((change) =>
    change.fields.flatMap(({ path, after, held }) => {
      const isRow = held !== true && paths.has(path) && 'value' in after && Array.isArray(after.value);
      return isRow ? [{ change, uid: found.get(liveKeyOf(change))?.uid, groups: textsIn(after.value) }] : [];
    }),
  );
  if (stated.length === 0) return undefined;
  const rows = stated.flatMap(({ uid, ...row }) => (uid === undefined ? [] : [{ ...row, uid }]));
  return { kind, rows, stating: new Set(stated.map(({ change }) => change.id)) };
}
