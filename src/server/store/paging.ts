import type { HonoRequest } from 'hono';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FieldProblem, requireNoProblems } from '../http/rejection.ts';
import type { Tables } from './migrations.ts';

/** A page of a list: its number, from 1, and its size. */
export type PageRequest = { readonly page: number; readonly size: number };

/** The rows to page through: `from` selects them, `select` reads those within the bounds. */
type PageQuery<T> = {
  readonly page: PageRequest;
  /** SQL: `from TABLE where …`. */
  readonly from: RawBuilder<unknown>;
  readonly select: (db: Kysely<Tables>, bounds: RawBuilder<unknown>) => Promise<readonly T[]>;
};

/** Reads one page and the total number of rows, both from the same snapshot. */
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

const defaultPageSize = 50;
const maxPageSize = 100;
const maxPage = 1_000_000;

/** The page of a list without paging parameters, for lists that are always paged. */
export const defaultPage: PageRequest = { page: 1, size: defaultPageSize };

/** Reads `page` and `page_size`; undefined when neither is given. Throws `InvalidBody` for values out of range. */
export function readPageRequest(request: HonoRequest): PageRequest | undefined {
  const [page, size] = [request.query('page'), request.query('page_size')];
  if (page === undefined && size === undefined) return undefined;
  const asked = { page: parseWholeNumber(page, 1), size: parseWholeNumber(size, defaultPageSize) };
  const problems: FieldProblem[] = [];
  if (!(asked.page >= 1 && asked.page <= maxPage)) problems.push({ field: 'page', reason: `must be 1 to ${maxPage}` });
  if (!(asked.size >= 1 && asked.size <= maxPageSize)) problems.push({ field: 'page_size', reason: `must be 1 to ${maxPageSize}` });
  requireNoProblems(problems);
  return asked;
}

function parseWholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
