import type { Position } from '../../model/diagnostic.ts';
import type { EdgeEnds } from '../../model/edges.ts';
import type { Change, FieldChange, Plan } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';

/** Something that is live and that manifests do not say. */
export type LiveDifference =
  | { readonly is: 'field'; readonly id: ResourceId; readonly field: FieldChange }
  /** `attached`: the edge is live; else it is declared, and gone. */
  | { readonly is: 'edge'; readonly ends: EdgeEnds; readonly attached: boolean };

/** What a plan says about live that manifests could say, and what they could not. */
export type LiveDifferences = {
  readonly differences: readonly LiveDifference[];
  /** Objects that are declared and are not live. */
  readonly removed: readonly { readonly id: ResourceId; readonly at?: Position }[];
};

/** Picks out of a plan what was changed on the gateway; `all`: whoever changed it. */
export function findDifferences({ changes, edges }: Pick<Plan, 'changes' | 'edges'>, which: 'drift' | 'all'): LiveDifferences {
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

/** Tells whether the change is between a manifest and what is live. */
function isCompared({ action }: Change): boolean {
  return action === 'update' || action === 'held' || action === 'blocked' || action === 'rename';
}
