import { mayUse } from './auth.ts';
import { ok, type Call, type Reply } from './call.ts';
import { viewListed } from './connection-view.ts';
import { isUuid, ModelError } from './errors.ts';
import { byName, matchesLike } from './like.ts';
import { requestsPage, cutToPage, envelope, readPage } from './paging.ts';
import type { ConnectionRow } from './rows.ts';

type Filter = (row: ConnectionRow) => boolean;

/** `GET /connections`: all of them, or a page. */
export function listConnections(call: Call): Reply {
  const { store, context, caller } = call;
  const page = requestsPage(call) ? readPage(call) : undefined;
  const filters = readFilters(call);
  const rows = [...store.connections.values()]
    .filter((row) => mayUse(context, caller, row.name) && filters.every((filter) => filter(row)))
    .toSorted(byName);
  if (page === undefined) return ok(rows.map((row) => viewListed(context, row, false)));
  return ok(
    envelope(
      rows,
      page,
      cutToPage(rows, page).map((row) => viewListed(context, row, true)),
    ),
  );
}

function readFilters({ query, store }: Call): readonly Filter[] {
  const filters: Filter[] = [];
  const name = (query.get('name') ?? '').trimStart();
  if (name !== '') filters.push((row) => matchesLike(row.name, name));
  const resource = query.get('resource_name') ?? '';
  if (resource !== '') filters.push((row) => matchesLike(row.resourceName, resource));
  const tags = options(query, 'tags');
  if (tags.length > 0) filters.push((row) => tags.every((tag) => row.tags.includes(tag)));
  const attributes = options(query, 'attribute');
  if (attributes.length > 0) filters.push((row) => attributes.some((attribute) => store.connectionAttributes.has(attribute, row.name)));
  return [...filters, ...selectors(query), ...ids(query)];
}

function options(query: URLSearchParams, key: string): readonly string[] {
  const values = query.get(key)?.split(',') ?? [];
  for (const value of values) checkOption(value);
  return values;
}

function checkOption(value: string): void {
  if (!/^\w+(?:[-.]\w+)*$/.test(value) || value.replaceAll(/[-.]/g, '').length < 2)
    throw new ModelError(
      422,
      'option values must contain between 1 and 127 alphanumeric characters, it may include (-), (_) or (.) characters',
    );
}

function selectors(query: URLSearchParams): readonly Filter[] {
  const text = query.get('tag_selector') ?? '';
  if (text === '') return [];
  return text.split(',').map((selector) => {
    const [, key = '', operator, value = ''] = /^([^=!]*)(!=|=)(.*)$/.exec(selector) ?? [];
    if (operator === undefined)
      throw new ModelError(
        500,
        `failed listing connections: invalid tag selector "${selector}", could not find any valid operator, accepted values are '=', '!='`,
      );
    return (row) => {
      const held = row.connectionTags[key.trim()];
      return operator === '=' ? held === value.trim() : held !== undefined && held !== value.trim();
    };
  });
}

function ids(query: URLSearchParams): readonly Filter[] {
  const text = query.get('connection_ids') ?? '';
  if (text === '') return [];
  const wanted = text.split(',');
  const broken = wanted.find((id) => !isUuid(id));
  if (broken !== undefined) throw new ModelError(422, `invalid connection ID format: ${broken}`);
  return [(row) => wanted.includes(row.id)];
}
