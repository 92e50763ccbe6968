import type { Position } from '../../model/diagnostic.ts';
import type { EdgeEnds } from '../../model/edges.ts';
import type { Change, FieldChange, Diff } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';

/** A live field or edge that differs from the manifests. */
export type LiveDifference =
  | { readonly is: 'field'; readonly id: ResourceId; readonly field: FieldChange }
  /** `attached` means that the edge is live; otherwise only manifests declare it. */
  | { readonly is: 'edge'; readonly ends: EdgeEnds; readonly attached: boolean };

/** The differences that manifests could state, and the objects that are not live. */
export type LiveDifferences = {
  readonly differences: readonly LiveDifference[];
  /** Declared objects that are not live. */
  readonly removed: readonly { readonly id: ResourceId; readonly at?: Position }[];
};

/** Finds the differences in a plan that drift caused; with `all`, every difference. */
export function findDifferences({ changes, edges }: Pick<Diff, 'changes' | 'edges'>, which: 'drift' | 'all'): LiveDifferences {
  const isMeant = ({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): boolean =>
    which === 'all' || origin === 'drift' || held === true;
  const fields = changes.flatMap((change) =>
    isCompared(change) ? change.fields.filter(isMeant).map((field): LiveDifference => ({ is: 'field', id: change.id, field })) : [],
  );
  const ends = edges.flatMap(({ rule, connection, action, origin }): readonly LiveDifference[] => {
    const isOurs = action === 'attach' || action === 'detach' || action === 'held';
    if (!isOurs || !(which === 'all' || origin === 'drift')) return [];
    return [{ is: 'edge', ends: { rule, connection }, attached: action !== 'attach' }];
  });
  const removed = changes.filter(({ action, fields: given }) => action === 'create' && (which === 'all' || given.some(isMeant)));
  const gone = new Set(removed.flatMap(({ id, key }) => [id, key ?? id]));
  const isThere = (one: LiveDifference): boolean => one.is === 'field' || !(gone.has(one.ends.rule) || gone.has(one.ends.connection));
  return {
    differences: [...fields, ...ends].filter(isThere),
    removed: removed.map(({ id, at }) => ({ id, ...(at === undefined ? {} : { at }) })),
  };
}

/** Tells whether the change compares a manifest with a live object. */
function isCompared({ action }: Change): boolean {
  return action === 'update' || action === 'held' || action === 'blocked' || action === 'rename';
}
