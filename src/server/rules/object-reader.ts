import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { asText, type Json, type JsonObject } from '../../model/json.ts';
import { agentIdsSince, aliveSince } from './agents.ts';
import type { Collection, EdgeSide } from '../collections.ts';
import { isReachable, isResourceReachable } from './connection-access.ts';
import type { PageRequest, Store } from '../store/store.ts';
import { uuidPattern } from '../store/schema.ts';

/** An object as the database returns it: as JSON texts, which a response contains as they are. Reading ten columns of ten thousand rows takes three times as long. */
export type ObjectRow = {
  readonly id: string;
  /** The identity of the object among its kind. */
  readonly name: string;
  /** The values of all fields but secrets and edges. */
  readonly spec: string;
  /** The members of a response beside those of `spec` and secrets, without braces. */
  readonly members: string;
  readonly sealed: string | null;
};

/** The groups that decide what a caller sees, where a kind has access groups; null: it sees everything. */
export type VisibleTo = readonly string[] | null;

/**
 * Reads all objects of a kind that a caller may see, sorted, from one snapshot, in slices, and maps each. Reads a slice while the one before is mapped,
 * and yields to other requests between them.
 */
export function listObjects<T>(
  { db, now }: Store,
  collection: Collection,
  { visibleTo, make }: { readonly visibleTo: VisibleTo; readonly make: (slice: readonly ObjectRow[]) => T },
): Promise<readonly T[]> {
  const rest = sql`where ${isVisible(collection, visibleTo)} ${orderBy(collection)}`;
  const query = objectsQuery(collection, { rest }, aliveSince(now()));
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    await sql`declare objects no scroll cursor for ${query}`.execute(trx);
    const fetchSlice = (): Promise<{ readonly rows: readonly ObjectRow[] }> =>
      sql<ObjectRow>`fetch forward ${sql.lit(sliceSize)} from objects`.execute(trx);
    const made: T[] = [];
    let slice = fetchSlice();
    for (;;) {
      const { rows } = await slice;
      const isLast = rows.length < sliceSize;
      if (!isLast) slice = fetchSlice();
      try {
        if (rows.length > 0) made.push(make(rows));
      } catch (error) {
        await Promise.allSettled([slice]);
        throw error;
      }
      if (isLast) return made;
      await nextTurn();
    }
  });
}

/** Reads one page of the objects that a caller may see and their number, by one statement: both are of the same snapshot. */
export async function pageObjects(
  store: Store,
  collection: Collection,
  {
    visibleTo,
    filter = {},
    page: { page, size },
  }: { readonly visibleTo: VisibleTo; readonly filter?: ListFilter; readonly page: PageRequest },
): Promise<{ readonly rows: readonly ObjectRow[]; readonly total: number }> {
  const texts = ['search', ...(collection.filters ?? [])].map((field) => [field, asText(filter[field])] as const);
  const given = { ...Object.fromEntries(texts), visibleTo, limit: size, offset: (page - 1) * size };
  const rows = await run<PagedRow>(store, statementsOf(collection, store).page, given);
  return { rows: rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }])), total: rows[0]?.total ?? 0 };
}

/** Finds an object that a caller may see by its id, or by its name if the kind allows that; `text` may be any text. */
export async function findObject(
  store: Store,
  collection: Collection,
  { text, visibleTo }: { readonly text: string; readonly visibleTo: VisibleTo },
): Promise<ObjectRow | undefined> {
  if (text.includes('\0')) return undefined;
  const { byId, byName } = statementsOf(collection, store);
  for (const statement of [...(uuidPattern.test(text) ? [byId] : []), ...(collection.byName ? [byName] : [])]) {
    const [found] = await run<ObjectRow>(store, statement, { text, visibleTo });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the values of all fields of an object but secrets and edges. */
export function parseSpec({ spec }: Pick<ObjectRow, 'spec'>): JsonObject {
  return JSON.parse(spec);
}

/** A row of a page, with the number of all rows; a page behind the last one has one row without an object. */
type PagedRow = Omit<ObjectRow, 'id'> & { readonly id: string | null; readonly total: number };

/** The values of the query parameters of a list, by name; an empty one matches everything. */
type ListFilter = Readonly<Record<string, Json>>;

/** Returns a parameter of a statement whose value differs between two runs. */
function slot(of: string): symbol {
  return Symbol(of);
}

type Statements = Readonly<Record<'byId' | 'byName' | 'page', CompiledQuery>>;
const compiled = new WeakMap<Collection, Statements>();

/** Returns the statements of a collection. Making one takes longer than the rest of a request that reads one object. */
function statementsOf(collection: Collection, { db }: Store): Statements {
  const known = compiled.get(collection);
  if (known !== undefined) return known;
  const [table, order, visible] = [sql.table(collection.table), orderBy(collection), isVisible(collection, slot('visibleTo'))];
  const listed = sql`${visible} and ${matchesFilter(collection)}`;
  const made: Statements = {
    byId: objectsQuery(collection, { rest: sql`where o.id = ${slot('text')} and ${visible}` }).compile(db),
    // Selects through the id, so that the database can use the id for the edges, too.
    byName: objectsQuery(collection, {
      rest: sql`where o.id = (select named.id from ${table} named where named.name = ${slot('text')}) and ${visible}`,
    }).compile(db),
    // The ids of the page are selected first, so that neither whole rows are sorted nor texts made for other pages.
    page: objectsQuery(collection, {
      total: sql`, counted.total`,
      from: sql`(select count(*)::integer as total from ${table} o where ${listed}) counted
        left join (select * from ${table} where id in (
          select o.id from ${table} o where ${listed} ${order} limit ${slot('limit')} offset ${slot('offset')})) o on true`,
      rest: order,
    }).compile(db),
  };
  compiled.set(collection, made);
  return made;
}

/** Runs a statement with values for its slots. */
async function run<Row>({ db, now }: Store, statement: CompiledQuery, given: Readonly<Record<string, unknown>>): Promise<readonly Row[]> {
  const values: Readonly<Record<string, unknown>> = { ...given, aliveSince: aliveSince(now()) };
  const parameters = statement.parameters.map((value) => (typeof value === 'symbol' ? values[value.description ?? ''] : value));
  const { rows } = await db.executeQuery<Row>({ ...statement, parameters });
  return rows;
}

/** The rows to read, from the whole table by default; `rest` names them `o`. */
type RowSelection = { readonly total?: RawBuilder<unknown>; readonly from?: RawBuilder<unknown>; readonly rest: RawBuilder<unknown> };

function objectsQuery(
  collection: Collection,
  { total = sql``, from = sql`${sql.table(collection.table)} o`, rest }: RowSelection,
  since: unknown = slot('aliveSince'),
): RawBuilder<unknown> {
  return sql`
    select o.id, o.name, o.spec::text as spec, ${membersText(collection, since)} as members, o.secrets as sealed${total}
    from ${from} ${rest}`;
}

/** Selects the text of the members that are not in the spec. */
function membersText(collection: Collection, since: unknown): RawBuilder<unknown> {
  const { kind, sides, readOnly, hasSecrets, agentField } = collection;
  const online = agentField === undefined ? sql`false` : sql`(o.spec ->> ${sql.lit(agentField)}) in ${agentIdsSince(since)}`;
  const name = sql`to_json(o.name)::text`;
  const columns: readonly (readonly [string, RawBuilder<unknown>])[] = [
    ['id', sql`'"' || o.id || '"'`],
    ...(kind.named ? [['name', name] as const] : []),
    ...sides.flatMap(({ field, ...side }) => (field === undefined ? [] : [[field, endsText(side)] as const])),
    ...Object.entries(readOnly).flatMap(([field, { source }]) => {
      if (source === 'name') return [[field, name] as const];
      return source === 'status' ? [[field, sql`case when ${online} then '"online"' else '"offline"' end`] as const] : [];
    }),
    ...(hasSecrets ? [['secrets_updated_at', sql`coalesce(${timeText('secrets_updated_at')}, 'null')`] as const] : []),
    ['managed_by', sql`to_json(o.managed_by)::text`],
    ['revision', sql`o.revision`],
    ['created_at', timeText('created_at')],
    ['updated_at', timeText('updated_at')],
  ];
  return sql.join(
    columns.map(([field, text], index) => sql`${sql.lit(`${index === 0 ? '' : ','}"${field}":`)} || ${text}`),
    sql` || `,
  );
}

/** Selects the ids at the other ends of an edge. A lookup for each row takes the same time, however many rows and edges there are. */
function endsText({ table, own, other }: Pick<EdgeSide, 'table' | 'own' | 'other'>): RawBuilder<unknown> {
  const ends = sql.ref(other);
  return sql`coalesce((select json_agg(${ends} order by ${ends})::text from ${sql.table(table)} where ${sql.ref(own)} = o.id), '[]')`;
}

/** Selects a time as JSON text, in the form of `Date.toISOString`. */
function timeText(column: string): RawBuilder<unknown> {
  return sql`to_char(${sql.ref(`o.${column}`)} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`;
}

/** Returns a condition: a caller with these deciding groups sees the object; everybody sees objects of kinds without access groups. */
function isVisible({ accessField, memberField }: Collection, visibleTo: unknown): RawBuilder<boolean> {
  if (memberField !== undefined) return isResourceReachable(visibleTo, sql`o.name`);
  return accessField === undefined ? sql`true` : isReachable(visibleTo, sql`o.spec`);
}

/** Returns a condition: the fields have the values of the filter, and one of their texts contains the value of `search`. */
function matchesFilter({ filters, agentField }: Collection): RawBuilder<unknown> {
  if (filters === undefined) return sql`true`;
  const columns = filters.map((field) => (field === 'name' ? sql`o.name` : sql`o.spec ->> ${sql.lit(field)}`));
  const equal = filters.map(
    (field, index) =>
      sql`(${slot(field)}::text = '' or ${columns[index]} = ${field === agentField ? sql`lower(${slot(field)})` : slot(field)})`,
  );
  const searched = columns.filter((_, index) => filters[index] !== agentField);
  return sql.join([sql`(${slot('search')}::text = '' or ${containsText(slot('search'), searched)})`, ...equal], sql` and `);
}

/** Returns a condition: one of the columns contains the text, ignoring case; the text has no wildcards. */
export function containsText(text: unknown, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // Names have the collation "C", which lowers ASCII letters only.
  const tests = columns.map((column) => sql`strpos(lower((${column}) collate "default"), lower(${text}::text collate "default")) > 0`);
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** Sorts by the identity, which is unique. */
function orderBy({ identityField }: Collection): RawBuilder<unknown> {
  return identityField === 'name' ? sql`order by o.name` : sql`order by o.spec ->> ${sql.lit(identityField)} collate "C", o.id`;
}

const sliceSize = 250;
