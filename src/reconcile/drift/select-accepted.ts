import { liveKeyOf, type Change, type EdgeChange } from '../../model/plan/plan.ts';

/** The accepted parts of a drift: fields as `ID PATH`, edges as `RULE CONNECTION`. */
export type AcceptedSelection = { readonly fields: ReadonlySet<string>; readonly edges: ReadonlySet<string> };

/** Keeps only the fields and edges that are accepted, and the changes that write them. */
export function selectAccepted<C extends Change>(
  whole: { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] },
  { fields, edges }: AcceptedSelection,
): { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] } {
  const kept = whole.edges.filter(({ rule, connection }) => edges.has(`${rule} ${connection}`));
  const writers = new Set(kept.flatMap(({ by }) => (by === undefined ? [] : [by])));
  const changes = whole.changes.flatMap((change) => {
    const own = change.fields.filter(({ path }) => fields.has(`${change.id} ${path}`));
    return own.length === 0 && !writers.has(liveKeyOf(change)) ? [] : [{ ...change, fields: own }];
  });
  const ids = new Set(changes.map(({ id }) => id));
  return { changes: changes.map((change) => ({ ...change, needs: change.needs.filter((need) => ids.has(need)) })), edges: kept };
}
