import type { HonoRequest } from 'hono';
import type { Page } from './select-page.ts';
import { InvalidBody, type Problem } from './rejection.ts';

const usualSize = 50;
const largestSize = 100;
const largestPage = 1_000_000;

/** The page of a list that is never whole, where none is asked for. */
export const usualPage: Page = { page: 1, size: usualSize };

/** Reads `page` and `page_size`; undefined where neither is given, which asks for the whole list. */
export function readPage(request: HonoRequest): Page | undefined {
  const [page, size] = [request.query('page'), request.query('page_size')];
  if (page === undefined && size === undefined) return undefined;
  const asked = { page: wholeNumber(page, 1), size: wholeNumber(size, usualSize) };
  const problems: Problem[] = [];
  if (!(asked.page >= 1 && asked.page <= largestPage)) problems.push({ field: 'page', reason: `must be 1 to ${largestPage}` });
  if (!(asked.size >= 1 && asked.size <= largestSize)) problems.push({ field: 'page_size', reason: `must be 1 to ${largestSize}` });
  if (problems.length > 0) throw new InvalidBody(problems);
  return asked;
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
