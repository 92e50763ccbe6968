import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { onlineAgentIds } from '../agents/agents.ts';
import type { Collection } from '../collections.ts';
import { type PageRequest, selectPage, type Store } from '../store/store.ts';
import { type Cipher, openSecrets, type Secrets } from '../store/secrets.ts';
import { uuidPattern } from '../store/migrations.ts';

/** A stored object with its secrets opened. */
export type StoredObject = {
  readonly id: string;
  /** The identity of the object among its kind. */
  readonly name: string;
  /** The values of all fields but secrets and edges, as JSON text: a response contains them as they are stored. */
  readonly spec: string;
  readonly secrets: Secrets;
  /** The ids at the other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
  readonly secretsUpdatedAt: Date | null;
  readonly managedBy: string;
  /** Whether its agent is online; false when it has no agent. */
  readonly online: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A row as two texts, with times as text: reading ten columns of ten thousand rows takes three times as long. */
type ObjectJsonRow = Pick<StoredObject, 'spec'> & {
  readonly row: Omit<StoredObject, 'spec' | 'secrets' | 'secretsUpdatedAt' | 'createdAt' | 'updatedAt'> & {
    readonly sealed: string | null;
    readonly secretsUpdatedAt: string | null;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
};

/**
 * Reads all objects of a kind, sorted, from one snapshot, and maps them. Reads them in slices, each while the one before is mapped,
 * and yields to other requests between them.
 */
export function listObjects<T>(
  { db, cipher, now }: Store,
  collection: Collection,
  make: (object: StoredObject) => T,
): Promise<readonly T[]> {
  const query = objectsQuery(collection, { rest: orderBy(collection), now: now() });
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    await sql`declare objects no scroll cursor for ${query}`.execute(trx);
    const fetchSlice = (): Promise<{ readonly rows: readonly ObjectJsonRow[] }> =>
      sql<ObjectJsonRow>`fetch forward ${sql.lit(sliceSize)} from objects`.execute(trx);
    const made: T[] = [];
    let slice = fetchSlice();
    for (;;) {
      const { rows } = await slice;
      const isLast = rows.length < sliceSize;
      if (!isLast) slice = fetchSlice();
      try {
        for (const row of rows) made.push(make(openObject(row, collection, cipher)));
      } catch (error) {
        await Promise.allSettled([slice]);
        throw error;
      }
      if (isLast) return made;
      await nextTurn();
    }
  });
}

/** Reads one page of objects and the total number, both from the same snapshot. */
export function pageObjects(
  store: Store,
  collection: Collection,
  page: PageRequest,
): Promise<{ readonly rows: readonly StoredObject[]; readonly total: number }> {
  return selectPage(store.db, {
    page,
    from: sql`from ${sql.table(collection.table)}`,
    // The page is selected first, so that edges are read only for its rows.
    select(db, bounds) {
      const cut = sql`(select * from ${sql.table(collection.table)} o ${orderBy(collection)} ${bounds})`;
      return selectObjects({ ...store, db }, collection, { cut, rest: orderBy(collection) });
    },
  });
}

/** Finds an object by its id, or by its name if the kind allows that; `text` may be any text. */
export async function findObject(store: Store, collection: Collection, text: string): Promise<StoredObject | undefined> {
  const isId = uuidPattern.test(text);
  if (!isId && (!collection.byName || text.includes('\0'))) return undefined;
  const [found] = await selectObjects(store, collection, { rest: isId ? sql`where o.id = ${text}` : whereName(collection, text) });
  return found;
}

/** Returns the values of all fields of an object but secrets and edges. */
export function parseSpec({ spec }: StoredObject): JsonObject {
  return JSON.parse(spec);
}

/** Returns the path (`table/id/column`) that the secrets of an object are sealed for. */
export function secretsPath({ table }: Collection, id: string): string {
  return `${table}/${id}/secrets`;
}

/** The rows to read: the whole table, or the `cut` of it; `rest` names them `o`. */
type RowSelection = { readonly cut?: RawBuilder<unknown>; readonly rest: RawBuilder<unknown> };

async function selectObjects(
  { db, cipher, now }: Store,
  collection: Collection,
  selection: RowSelection,
): Promise<readonly StoredObject[]> {
  const { rows } = await sql<ObjectJsonRow>`${objectsQuery(collection, { ...selection, now: now() })}`.execute(db);
  return rows.map((row) => openObject(row, collection, cipher));
}

function objectsQuery(collection: Collection, { cut, rest, now }: RowSelection & { readonly now: Date }): RawBuilder<unknown> {
  const edges = edgeJoins(collection, cut !== undefined);
  const { agentField } = collection;
  const online = agentField === undefined ? sql`false` : sql`(o.spec ->> ${sql.lit(agentField)}) in ${onlineAgentIds(now)}`;
  return sql`
    select (${completeSpec(collection)})::text as spec, json_build_object('id', o.id, 'name', o.name, 'sealed', o.secrets, 'secretsUpdatedAt', o.secrets_updated_at,
      'managedBy', o.managed_by, 'revision', o.revision, 'createdAt', o.created_at, 'updatedAt', o.updated_at,
      'edges', json_build_object(${sql.join(edges.columns)}), 'online', ${online}) as row
    from ${cut ?? sql.table(collection.table)} o ${sql.join(edges.joins, sql` `)} ${rest}`;
}

function openObject({ row, spec }: ObjectJsonRow, collection: Collection, cipher: Cipher): StoredObject {
  return {
    id: row.id,
    name: row.name,
    spec,
    secrets: openSecrets(cipher, row.sealed, secretsPath(collection, row.id)),
    edges: row.edges,
    secretsUpdatedAt: row.secretsUpdatedAt === null ? null : new Date(row.secretsUpdatedAt),
    managedBy: row.managedBy,
    online: row.online,
    revision: row.revision,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}

/** Selects a spec with all fields: a row of an earlier version does not have later ones, so these get their empty values. */
function completeSpec({ fields }: Collection): RawBuilder<unknown> {
  const stored = fields.filter(({ secret, edge }) => secret === undefined && edge === undefined);
  const names = sql.join(stored.map(({ name }) => sql.lit(name)));
  const empty = JSON.stringify(Object.fromEntries(stored.map((field) => [field.name, field.empty])));
  return sql`case when o.spec ?& array[${names}] then o.spec else ${sql.lit(empty)}::jsonb || o.spec end`;
}

/** Joins the other ends of all listed edges, as one array per field; for few rows it looks them up row by row. */
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

/** Selects by name through the id, so that the database can use the id for the edges, too. */
function whereName({ table }: Collection, name: string): RawBuilder<unknown> {
  return sql`where o.id = (select named.id from ${sql.table(table)} named where named.name = ${name})`;
}

function orderBy({ identityField }: Collection): RawBuilder<unknown> {
  const identity = identityField === 'name' ? sql`o.name` : sql`o.spec ->> ${sql.lit(identityField)} collate "C"`;
  return sql`order by ${identity}, o.id`;
}

const sliceSize = 250;
