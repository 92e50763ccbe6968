import { sql, type RawBuilder } from 'kysely';
import type { FieldRule } from '../../model/field.ts';
import { uuidPattern, type Store } from '../objects/object-reader.ts';
import { openSecrets, type Secrets } from '../store/secrets.ts';
import { selectPage, type PageRequest } from '../store/paging.ts';

/** A grouping of connections as it is stored, opened. */
export type StoredResource = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string;
  /** Its environment under `env_vars`, where it has one. */
  readonly secrets: Secrets;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Which resources are asked for; an empty text asks for all. `search` is part of the name, the type or the subtype. */
export type ResourceFilter = {
  readonly search: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string;
};

type ResourceQueryRow = Omit<StoredResource, 'secrets'> & { readonly sealed: string | null };

/** The field that holds the secrets of a resource. */
export const environmentField: FieldRule = { name: 'env_vars', shape: 'map', required: false, empty: {}, omitted: 'empty', secret: 'base64' };

/** Reads one page, sorted by name, and the number of all that match, both as of one moment. */
export async function listResourcePage(
  store: Store,
  filter: ResourceFilter,
  page: PageRequest,
): Promise<{ readonly rows: readonly StoredResource[]; readonly total: number }> {
  const matching = resourceFilterSql(filter);
  return selectPage(store.db, {
    page,
    from: sql`from resources r ${matching}`,
    select: (db, bounds) => selectResources({ ...store, db }, sql`${matching} order by r.name ${bounds}`),
  });
}

/** Finds one resource by its name, else by its id, as no path can hold the name `..`; any text may be asked for. */
export async function findResource(store: Store, text: string): Promise<StoredResource | undefined> {
  if (text.includes('\0')) return undefined;
  const [named] = await selectResources(store, sql`where r.name = ${text}`);
  if (named !== undefined || !uuidPattern.test(text)) return named;
  const [found] = await selectResources(store, sql`where r.id = ${text}::uuid`);
  return found;
}

/** The place of a resource's secrets, which their seal is bound to. */
export function resourceSecretsPath(id: string): string {
  return `resources/${id}/env_vars`;
}

/** Tells whether one of the columns holds the text, capitals and small letters alike; no character of it means another. */
export function containsText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // Names are compared byte by byte, which knows the case of ASCII letters alone.
  const tests = columns.map((column) => sql`strpos(lower(${column} collate "default"), lower(${text}::text collate "default")) > 0`);
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** One statement for all filters: the embedded database keeps each text it has seen. */
function resourceFilterSql({ search, name, type, subtype, agentId }: ResourceFilter): RawBuilder<unknown> {
  return sql`where (${search} = '' or ${containsText(search, [sql`r.name`, sql`r.type`, sql`r.subtype`])})
    and (${name} = '' or r.name = ${name}) and (${type} = '' or r.type = ${type})
    and (${subtype} = '' or r.subtype = ${subtype}) and (${agentId} = '' or r.agent_id::text = ${agentId})`;
}

async function selectResources({ db, cipher }: Store, rest: RawBuilder<unknown>): Promise<readonly StoredResource[]> {
  const { rows } = await sql<ResourceQueryRow>`
    select r.id, r.name, r.type, r.subtype, coalesce(r.agent_id::text, '') as "agentId", r.env_vars as sealed, r.revision,
      r.created_at as "createdAt", r.updated_at as "updatedAt"
    from resources r ${rest}`.execute(db);
  return rows.map(({ sealed, ...row }) => ({ ...row, secrets: openSecrets(cipher, sealed, resourceSecretsPath(row.id)) }));
}
