import type { HonoRequest } from 'hono';
import { type FieldProblem, requireNoProblems } from '../rejection.ts';
import type { PageRequest } from '../store/store.ts';

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
