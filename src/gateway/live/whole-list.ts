import { appendAll } from '../../model/collections.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { ApiError } from '../../model/errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { ListRows, WireList } from '../dialect.ts';
import type { AnswerShare } from '../http/answer-budget.ts';
import { dialectHint, type GatewaySession } from '../session.ts';

/** A complete list: no two entries share a uid, or a name where names are unique. */
export type WholeList<Id> = {
  readonly entries: readonly JsonObject[];
  /** By uid, in the order of the list. */
  readonly ids: Map<string, Id>;
  readonly uids: Map<Id, string>;
};

/** Requests a list or a page of it. */
type ListFetch = (path: string, share?: AnswerShare) => Promise<unknown>;

type ListSource<Id> = {
  /** The URL, for messages. */
  readonly url: string;
  readonly list: WireList;
  readonly fetch: ListFetch;
  /** What the answers with the list may have. */
  readonly share: AnswerShare;
  readonly uidOf: (entry: JsonObject) => string | undefined;
  readonly idOf: (entry: JsonObject) => Id | undefined;
  /** Two entries may have the same name; two entries never have the same uid. */
  readonly namesakes?: boolean;
};

type ListAttempt<Id> =
  | WholeList<Id>
  | { readonly problem: string; readonly code: 'api/list-not-whole' | 'api/too-large' | 'api/unexpected-shape' };

/** The largest page that gateways send. */
export const pageSize = 100;
const pagesAtATime = 4;
/** Far more than the largest lists that gateways have. */
const maxEntries = 1_000_000;
const maxPages = maxEntries / pageSize;

/** Reads a list and proves that it is complete. Reads it a second time where it changed meanwhile; returns no value where it changed again. */
export async function readWholeList<Id>(read: ListSource<Id>): Promise<Checked<WholeList<Id>>> {
  let attempt = await readOnce(read);
  if ('problem' in attempt && attempt.code === 'api/list-not-whole') {
    read.share.release();
    attempt = await readOnce(read);
  }
  if (!('problem' in attempt)) return { value: attempt, diagnostics: [] };
  return { diagnostics: [diagnosticOf(read.url, attempt)] };
}

/** The hint for answers of another shape. */
const shapeHint = `check that the URL is the root of a gateway’s API; if the gateway is not recognized, ${dialectHint}`;

/** Returns the error of an answer of another shape. */
export function unexpectedShape(url: string, method = 'GET'): ApiError {
  return new ApiError('the response does not match the interface of the gateway', {
    code: 'api/unexpected-shape',
    method,
    url,
    retryable: false,
    ambiguous: method !== 'GET',
    hint: shapeHint,
  });
}

function diagnosticOf(url: string, { problem, code }: { readonly problem: string; readonly code: Diagnostic['code'] }): Diagnostic {
  const hint = code === 'api/list-not-whole' ? 'run again when no other writes are in progress' : shapeHint;
  return { code, severity: 'error', message: `GET ${url}: ${problem}`, hint };
}

async function readOnce<Id>(read: ListSource<Id>): Promise<ListAttempt<Id>> {
  const { list } = read;
  if (list.paged === true) return readPages(read);
  const first = list.rows(await read.fetch(list.path, read.share));
  if (first === undefined) return { code: 'api/unexpected-shape', problem: 'the response is neither a list nor a page of a list' };
  if (first.page === undefined || first.rows.length === first.page.total) return checkRows(read, first.rows);
  return readPages(read);
}

/** Reads the first page, then the others, four at a time. The pages are one list only if the total stays the same in all of them. */
async function readPages<Id>(read: ListSource<Id>): Promise<ListAttempt<Id>> {
  const first = await readPage(read, 1);
  if (first?.page === undefined) return missingPage(1);
  const { total } = first.page;
  // The first page is full unless it is the only one.
  if (total > maxEntries) return notWhole(`the gateway reports ${total} entries, more than the ${maxEntries} that Ostiary reads`);
  const last = first.rows.length === 0 ? 1 : Math.ceil(total / first.rows.length);
  const parts: (ListRows | undefined)[] = [first];
  if (last > maxPages) return notWhole(`the gateway announces ${last} pages, and Ostiary reads at most ${maxPages}`);
  while (parts.length < last) {
    const numbers = Array.from({ length: Math.min(pagesAtATime, last - parts.length) }, (_, index) => parts.length + 1 + index);
    const pages = await Promise.all(numbers.map((number) => readPage(read, number)));
    appendAll(parts, pages);
    // Pages that are empty, or none, prove a hole: the rest would not close it.
    if (pages.some((page) => page === undefined || page.rows.length === 0)) break;
  }
  const rows: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    const number = index + 1;
    if (part?.page === undefined) return missingPage(number);
    if (part.page.total !== total) return notWhole(`the total changed from ${total} to ${part.page.total} during the read`);
    if (part.page.number !== number) return notWhole(`received page ${part.page.number} instead of page ${number}`);
    if (part.rows.length === 0 && rows.length < total) return notWhole(`received only ${rows.length} of ${total} entries`);
    appendAll(rows, part.rows);
  }
  return rows.length === total ? checkRows(read, rows) : notWhole(`received ${rows.length} entries, but the total is ${total}`);
}

async function readPage<Id>({ list, fetch, share }: ListSource<Id>, number: number): Promise<ListRows | undefined> {
  return list.rows(await fetch(`${list.path}${list.path.includes('?') ? '&' : '?'}page=${number}&page_size=${pageSize}`, share));
}

function missingPage(number: number): ListAttempt<never> {
  return { code: 'api/unexpected-shape', problem: `page ${number} is not a page of a list` };
}

function checkRows<Id>(read: ListSource<Id>, rows: readonly unknown[]): ListAttempt<Id> {
  if (rows.length > maxEntries)
    return { code: 'api/too-large', problem: `the list has ${rows.length} entries, and Ostiary reads at most ${maxEntries}` };
  const listing = { entries: new Array<JsonObject>(), ids: new Map<string, Id>(), uids: new Map<Id, string>() };
  for (const entry of rows) {
    const uid = isObject(entry) ? read.uidOf(entry) : undefined;
    const id = isObject(entry) ? read.idOf(entry) : undefined;
    if (!isObject(entry) || uid === undefined || id === undefined) {
      return { code: 'api/unexpected-shape', problem: `entry ${listing.entries.length + 1} of the list has no ID or no name` };
    }
    listing.entries.push(entry);
    listing.ids.set(uid, id);
    listing.uids.set(id, uid);
  }
  if (listing.ids.size < rows.length) return notWhole('duplicate ID');
  if (listing.uids.size < rows.length && read.namesakes !== true) return notWhole('duplicate name');
  return listing;
}

function notWhole(problem: string): ListAttempt<never> {
  return { code: 'api/list-not-whole', problem: `incomplete listing: ${problem}` };
}

/** Returns what fetches a list, or a page of it: null where a 404 means an empty list; it throws an ApiError for any other 404. */
export function listFetcher(session: Pick<GatewaySession, 'client' | 'url'>, list: WireList): ListFetch {
  return async (path, share) => {
    const shared = share === undefined ? {} : { share };
    const { status, body } = await session.client.send({ method: 'GET', path, accept: [404], ...shared });
    if (status !== 404) return body;
    if (list.isEmpty?.(body) === true) return null;
    throw new ApiError('the gateway has no such list (404)', {
      code: 'api/not-a-gateway',
      method: 'GET',
      url: `${session.url}${path}`,
      status,
      retryable: false,
      ambiguous: false,
      hint: `check that ${session.url} is the root of the gateway’s API; it may need a path such as /api. If the gateway is not recognized, ${dialectHint}`,
    });
  };
}
