import { liveKeyOf, type Plan } from '../../model/plan/plan.ts';

/** What of a drift is meant: fields as `ID PATH`, edges as `RULE CONNECTION`. */
export type Part = { readonly fields: ReadonlySet<string>; readonly edges: ReadonlySet<string> };

/** Leaves of a plan only the fields and edges that are meant. */
export function acceptedPart(plan: Plan, { fields, edges }: Part): Plan {
  const kept = plan.edges.filter(({ rule, connection }) => edges.has(`${rule} ${connection}`));
  const writers = new Set(kept.flatMap(({ by }) => (by === undefined ? [] : [by])));
  const changes = plan.changes.flatMap((change) => {
    const own = change.fields.filter(({ path }) => fields.has(`${change.id} ${path}`));
    return own.length === 0 && !writers.has(liveKeyOf(change)) ? [] : [{ ...change, fields: own }];
  });
  const ids = new Set(changes.map(({ id }) => id));
  return {
    ...plan,
    changes: changes.map((change) => ({ ...change, needs: change.needs.filter((need) => ids.has(need)) })),
    edges: kept,
    unwatched: [],
    refusals: [],
  };
}
