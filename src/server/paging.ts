import type { HonoRequest } from 'hono';
import type { PageRequest } from './store/paging.ts';
import { InvalidBody, type FieldProblem } from './http/rejection.ts';

const defaultPageSize = 50;
const maxPageSize = 100;
const maxPage = 1_000_000;

/** The page of a list that is never whole, where none is asked for. */
export const defaultPage: PageRequest = { page: 1, size: defaultPageSize };

/** Reads `page` and `page_size`; undefined where neither is given, which asks for the whole list. */
export function readPageRequest(request: HonoRequest): PageRequest | undefined {
  const [page, size] = [request.query('page'), request.query('page_size')];
  if (page === undefined && size === undefined) return undefined;
  const asked = { page: parseWholeNumber(page, 1), size: parseWholeNumber(size, defaultPageSize) };
  const problems: FieldProblem[] = [];
  if (!(asked.page >= 1 && asked.page <= maxPage)) problems.push({ field: 'page', reason: `must be 1 to ${maxPage}` });
  if (!(asked.size >= 1 && asked.size <= maxPageSize)) problems.push({ field: 'page_size', reason: `must be 1 to ${maxPageSize}` });
  if (problems.length > 0) throw new InvalidBody(problems);
  return asked;
}

function parseWholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
