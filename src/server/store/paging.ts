import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from './tables.ts';

/** A page of a list, counted from 1. */
export type PageRequest = { readonly page: number; readonly size: number };

/** What there is to page through: `from` says which rows count, `select` reads those within the bounds. */
type PageQuery<T> = {
  readonly page: PageRequest;
  /** `from TABLE where …`. */
  readonly from: RawBuilder<unknown>;
  readonly select: (db: Kysely<Tables>, bounds: RawBuilder<unknown>) => Promise<readonly T[]>;
};

/** Reads one page and how many rows there are in all, both as of one moment, whatever is written meanwhile. */
export function selectPage<T>(
  db: Kysely<Tables>,
  { page: { page, size }, from, select }: PageQuery<T>,
): Promise<{ readonly rows: readonly T[]; readonly total: number }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    const rows = await select(trx, sql`limit ${size} offset ${(page - 1) * size}`);
    const { rows: counted } = await sql<{ readonly total: number }>`select count(*)::integer as total ${from}`.execute(trx);
    return { rows, total: counted[0]?.total ?? 0 };
  });
}
