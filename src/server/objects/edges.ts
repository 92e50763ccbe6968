import { sql, type RawBuilder, type Transaction } from 'kysely';
import { pointer } from '../../model/pointer.ts';
import type { Author } from '../http/request-context.ts';
import type { Collection, EdgeSide } from '../collections.ts';
import { InvalidBody, Rejection } from '../http/rejection.ts';
import type { Tables } from '../store/tables.ts';

type EdgeWrite = { readonly id: string; readonly before: EdgeIds; readonly after: EdgeIds; readonly author: Author };
type EdgeIds = Readonly<Record<string, readonly string[]>>;
type OtherEndWrite = { readonly ids: readonly string[]; readonly author: Author };
type NewEdges = { readonly id: string; readonly others: readonly string[] };
type OtherEnd = { readonly id: string; readonly name: string; readonly managed_by: string };

const endColumns = ['id', 'name', 'managed_by'] as const;

/** Replaces the edges that an object lists. The objects at the other end of a changed edge get a new revision if they list it. */
export async function replaceEdges(trx: Transaction<Tables>, { sides }: Collection, write: EdgeWrite): Promise<void> {
  for (const side of sides) {
    if (side.field === undefined) continue;
    const before = new Set(write.before[side.field]);
    const after = new Set(write.after[side.field]);
    const added = [...after].filter((id) => !before.has(id));
    const removed = [...before].filter((id) => !after.has(id));
    if (added.length + removed.length === 0) continue;
    const others = await bumpOtherEnds(trx, side, { ids: [...added, ...removed], author: write.author });
    checkKnown(side.field, write.after[side.field] ?? [], { added, others, kind: side.otherKind });
    checkManager(side, others, write.author);
    if (removed.length > 0)
      await trx.deleteFrom(side.table).where(side.own, '=', write.id).where(side.other, '=', anyId(removed)).execute();
    if (added.length > 0) await insertEdges(trx, side, { id: write.id, others: added });
  }
}

/** Gives the objects at the other ends a new revision before an object is removed; the database removes the edges. */
export async function releaseEdges(trx: Transaction<Tables>, { sides }: Collection, id: string, author: Author): Promise<void> {
  for (const side of sides) {
    const rows = await trx.selectFrom(side.table).select(side.other).where(side.own, '=', id).execute();
    const ids = rows.map((row) => row[side.other]).filter((other) => other !== undefined);
    if (ids.length === 0) continue;
    checkManager(side, await bumpOtherEnds(trx, side, { ids, author }), author);
  }
}

/** Gives the objects at the other ends a new revision if they list the edges; returns those that exist. */
async function bumpOtherEnds(trx: Transaction<Tables>, side: EdgeSide, { ids, author }: OtherEndWrite): Promise<readonly OtherEnd[]> {
  if (!side.listedThere) return trx.selectFrom(side.otherTable).select(endColumns).where('id', '=', anyId(ids)).execute();
  return trx
    .updateTable(side.otherTable)
    .set({ revision: sql`revision + 1`, updated_at: author.now })
    .where('id', '=', anyId(ids))
    .returning(endColumns)
    .execute();
}

function checkKnown(
  field: string,
  given: readonly string[],
  { added, others, kind }: { readonly added: readonly string[]; readonly others: readonly OtherEnd[]; readonly kind: string },
): void {
  const known = new Set(others.map(({ id }) => id));
  const unknown = added.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw new InvalidBody(
    unknown.map((id) => ({ field: pointer(field, String(given.indexOf(id))), reason: `is no ${kind} of this gateway: ${id}` })),
  );
}

/** Rejects a rule that would change what a connection of another manager lists. A connection may choose its own rules. */
function checkManager({ own, otherKind }: EdgeSide, others: readonly OtherEnd[], author: Author): void {
  const managed = own === 'rule_id' ? others.find(({ managed_by: manager }) => manager !== '' && manager !== author.manager) : undefined;
  if (managed !== undefined) throw new Rejection(409, `${otherKind} ${managed.name} is managed by ${managed.managed_by}`);
}

async function insertEdges(trx: Transaction<Tables>, { table, own, other }: EdgeSide, edges: NewEdges): Promise<void> {
  const columns = sql.join([sql.ref(own), sql.ref(other)]);
  await sql`insert into ${sql.table(table)} (${columns}) select ${edges.id}, unnest(${edges.others}::uuid[])`.execute(trx);
}

/** Passes all ids as one parameter, so that the text of the statement stays the same. */
function anyId(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${ids}::uuid[])`;
}
