import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { onlineAgentIds } from '../agents/agents.ts';
import type { Collection } from '../collections.ts';
import { type PageRequest, selectPage } from '../store/paging.ts';
import { openSecrets, type Secrets } from '../store/secrets.ts';
import type { Store } from '../store/store.ts';
import { uuidPattern } from '../store/tables.ts';

/** An object as it is stored, opened. */
export type StoredObject = {
  readonly id: string;
  /** What identifies it among its kind. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: Secrets;
  /** The other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
  readonly secretsUpdatedAt: Date | null;
  readonly managedBy: string;
  /** Whether the agent that serves it is online; false where none does. */
  readonly online: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A row as one JSON text, times as text: ten columns of ten thousand rows cost three times as much. */
type ObjectJsonRow = Omit<StoredObject, 'secrets' | 'secretsUpdatedAt' | 'createdAt' | 'updatedAt'> & {
  readonly sealed: string | null;
  readonly secretsUpdatedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Reads all objects of a kind, sorted, in one query. */
export async function listObjects(store: Store, collection: Collection): Promise<readonly StoredObject[]> {
  return selectObjects(store, collection, { rest: orderBy(collection) });
}

/** Reads one page and the number of all objects, both as of one moment. */
export function pageObjects(
  store: Store,
  collection: Collection,
  page: PageRequest,
): Promise<{ readonly rows: readonly StoredObject[]; readonly total: number }> {
  return selectPage(store.db, {
    page,
    from: sql`from ${sql.table(collection.table)}`,
    // The page is cut out first: what rows hold besides is only read for those that are on it.
    select(db, bounds) {
      const cut = sql`(select * from ${sql.table(collection.table)} o ${orderBy(collection)} ${bounds})`;
      return selectObjects({ ...store, db }, collection, { cut, rest: orderBy(collection) });
    },
  });
}

/** Finds one object by its id, or by its name where the kind allows that; any text may be asked for. */
export async function findObject(store: Store, collection: Collection, text: string): Promise<StoredObject | undefined> {
  const isId = uuidPattern.test(text);
  if (!isId && (!collection.byName || text.includes('\0'))) return undefined;
  const [found] = await selectObjects(store, collection, { rest: isId ? sql`where o.id = ${text}` : whereName(collection, text) });
  return found;
}

/** The place of an object's secrets, which their seal is bound to. */
export function secretsPath({ table }: Collection, id: string): string {
  return `${table}/${id}/secrets`;
}

/** Which rows are read: all of a table, or the few that are cut out of it; `rest` names them `o`. */
type RowSelection = { readonly cut?: RawBuilder<unknown>; readonly rest: RawBuilder<unknown> };

async function selectObjects(
  { db, cipher, now }: Store,
  collection: Collection,
  { cut, rest }: RowSelection,
): Promise<readonly StoredObject[]> {
  const edges = edgeJoins(collection, cut !== undefined);
  const { agentField } = collection;
  const online = agentField === undefined ? sql`false` : sql`(o.spec ->> ${sql.lit(agentField)}) in ${onlineAgentIds(now())}`;
  const objects = sql`
    select o.id, o.name, o.spec, o.secrets as sealed, o.secrets_updated_at as "secretsUpdatedAt", o.managed_by as "managedBy",
      o.revision, o.created_at as "createdAt", o.updated_at as "updatedAt", json_build_object(${sql.join(edges.columns)}) as edges,
      ${online} as online
    from ${cut ?? sql.table(collection.table)} o ${sql.join(edges.joins, sql` `)}`;
  const { rows } = await sql<{ readonly row: ObjectJsonRow }>`select row_to_json(o) as row from (${objects}) o ${rest}`.execute(db);
  return mapYielding(rows, ({ row }) => ({
    id: row.id,
    name: row.name,
    spec: row.spec,
    secrets: openSecrets(cipher, row.sealed, secretsPath(collection, row.id)),
    edges: row.edges,
    secretsUpdatedAt: row.secretsUpdatedAt === null ? null : new Date(row.secretsUpdatedAt),
    managedBy: row.managedBy,
    online: row.online,
    revision: row.revision,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  }));
}

/** Joins the other ends of all edges that the collection lists, each field as one array; looks them up one by one for a few rows. */
function edgeJoins(
  { sides }: Collection,
  few: boolean,
): {
  readonly columns: readonly RawBuilder<unknown>[];
  readonly joins: readonly RawBuilder<unknown>[];
} {
  const listed = sides.flatMap(({ field, ...side }) => (field === undefined ? [] : [{ ...side, field }]));
  return {
    columns: listed.map(({ field }) => sql`${sql.lit(field)}, coalesce(${sql.ref(field)}.ends, '[]')`),
    joins: listed.map(({ field, table, own, other }) => {
      const [ends, id, ofField] = [sql.ref(other), sql.ref(own), sql.table(field)];
      const joined = sql`json_agg(${ends} order by ${ends}) as ends from ${sql.table(table)}`;
      if (few) return sql`left join lateral (select ${joined} where ${id} = o.id) ${ofField} on true`;
      return sql`left join (select ${id} as id, ${joined} group by ${id}) ${ofField} on ${ofField}.id = o.id`;
    }),
  };
}

/** Goes through the id, which the database can also look edges up by. */
function whereName({ table }: Collection, name: string): RawBuilder<unknown> {
  return sql`where o.id = (select named.id from ${sql.table(table)} named where named.name = ${name})`;
}

function orderBy({ identityField }: Collection): RawBuilder<unknown> {
  const identity = identityField === 'name' ? sql`o.name` : sql`o.spec ->> ${sql.lit(identityField)} collate "C"`;
  return sql`order by ${identity}, o.id`;
}

const sliceSize = 250;

/** Maps a list in parts; between them other requests have their turn. */
export async function mapYielding<From, To>(list: readonly From[], make: (one: From) => To): Promise<readonly To[]> {
  const made: To[] = [];
  for (let start = 0; start < list.length; start += sliceSize) {
    if (start > 0) await nextTurn();
    for (const one of list.slice(start, start + sliceSize)) made.push(make(one));
  }
  return made;
}
