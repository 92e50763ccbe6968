import type { Diagnostic } from '../model/diagnostic.ts';
import { liveKeyOf, type Plan } from '../model/plan/plan.ts';
import { effectOfPart } from '../model/protection/part-effect.ts';
import type { Drift } from '../model/result/drift.ts';
import { selectAccepted } from '../reconcile/drift/filter-drift.ts';

/** The effect on protection of the parts of a drift that a person accepts apart from the others. */
export type SelectedEffect = 'strengthens' | 'weakens';

/** Returns the part of a drift with one effect on protection, and a warning about each part that no direction selects. */
export function selectDirection(
  { plan, protection: { parts: effects = [] } }: Pick<Drift, 'plan' | 'protection'>,
  direction: SelectedEffect,
): { readonly plan: Pick<Plan, 'changes' | 'edges'>; readonly mixed: readonly Diagnostic[] } {
  const parts = [
    ...plan.changes.flatMap((change) =>
      change.fields.map(({ path, held }) => {
        // What is held is provably stricter beside all else.
        const effect = held === true ? 'strengthens' : effectOfPart(effects, { id: liveKeyOf(change), path });
        return { what: path, key: `${change.id} ${path}`, isField: true, effect, resource: change.id, at: change.at };
      }),
    ),
    ...plan.edges.map(({ rule, connection, action }) => {
      const effect = action === 'held' ? 'strengthens' : effectOfPart(effects, { rule, connection });
      return {
        what: `the attachment to ${connection}`,
        key: `${rule} ${connection}`,
        isField: false,
        effect,
        resource: rule,
        at: undefined,
      };
    }),
  ];
  const keysOf = (isField: boolean): ReadonlySet<string> =>
    new Set(parts.filter((part) => part.isField === isField && part.effect === direction).map(({ key }) => key));
  const mixed = parts.filter(({ effect }) => effect === 'both' || effect === 'unknown');
  return {
    plan: selectAccepted(plan, { fields: keysOf(true), edges: keysOf(false) }),
    mixed: mixed.map(({ what, effect, resource, at }) => ({
      code: 'adopt/mixed',
      severity: 'warning',
      message: `${resource}: ${what} ${effect === 'both' ? 'weakens and strengthens protection' : 'cannot be compared'}, so --direction does not accept it`,
      hint: `accept it with all other drift of the object: drift --adopt --only ${resource}`,
      resource,
      at,
    })),
  };
}
