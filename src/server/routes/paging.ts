import type { PageRequest } from '../store/store.ts';
import type { Parameter, Query } from './api-section.ts';

const defaultPageSize = 50;

/** The parameters that select one page of a list. */
export const pagingParameters: readonly Parameter[] = [
  { name: 'page', in: 'query', description: 'The page number, from 1.', schema: { type: 'integer', minimum: 1, maximum: 1_000_000 } },
  { name: 'page_size', in: 'query', description: `Default: ${defaultPageSize}.`, schema: { type: 'integer', minimum: 1, maximum: 100 } },
];

/** The page of a list without paging parameters, for lists that are always paged. */
export const defaultPage: PageRequest = { page: 1, size: defaultPageSize };

/** Returns the page that a query asks for; undefined when it has no paging parameter. */
export function pageOf({ page, page_size: size }: Query): PageRequest | undefined {
  if (page === undefined && size === undefined) return undefined;
  return { page: Number(page ?? 1), size: Number(size ?? defaultPageSize) };
}
