import type { Call } from './call.ts';
import { ModelError } from './errors.ts';
import type { Json } from './json.ts';

export type PageRequest = { readonly page: number; readonly size: number };

/** Returns whether the query asks for a page. */
export function requestsPage(call: Call): boolean {
  return (call.query.get('page') ?? '') !== '' || (call.query.get('page_size') ?? '') !== '';
}

/** The page that the query asks for, or the first fifty. */
export function readPage(call: Call): PageRequest {
  const page = number(call, 'page', 1);
  const size = number(call, 'page_size', 50);
  if (page < 1) throw new ModelError(422, 'page must be >= 1');
  if (size < 1 || size > 100) throw new ModelError(422, 'page_size must be between 1 and 100');
  return { page, size };
}

function number(call: Call, name: string, fallback: number): number {
  const text = call.query.get(name) ?? '';
  if (text === '') return fallback;
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

export function cutToPage<T>(rows: readonly T[], { page, size }: PageRequest): readonly T[] {
  return rows.slice((page - 1) * size, page * size);
}

/** The envelope of a page whose total is counted over the rows of the page itself: past the end it is 0. */
export function envelope(rows: readonly unknown[], page: PageRequest, data: readonly Json[] | null): Json {
  const total = (page.page - 1) * page.size < rows.length ? rows.length : 0;
  return { pages: { total, page: page.page, size: page.size }, data };
}
