import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { FieldRule } from '../../model/kind.ts';
import { asText, type JsonObject } from '../../model/json.ts';
import { redactedPayload } from '../store/audit-log.ts';
import { isResourceReachable } from './connection-access.ts';
import { InvalidBody, Rejection } from '../rejection.ts';
import { type Author, entityTag, requireAllowedTag, type WriteTarget } from './versions.ts';
import { inWriteLock, type PageRequest, selectPage, type Store, withUniqueName } from '../store/store.ts';
import {
  changesSecrets,
  type GivenSecrets,
  openSecrets,
  readSecrets,
  resolveSecrets,
  sealSecrets,
  type Secrets,
  type Undecryptable,
} from '../secrets.ts';
import { type Tables, uuidPattern } from '../store/schema.ts';

/** A stored resource (a group of connections) with its secrets opened. */
export type StoredResource = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string;
  /** The environment, as the secret `env_vars`, if there is one. */
  readonly secrets: Secrets | Undecryptable;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** The filters of a resource list; an empty text matches everything. `search` matches a part of the name, type or subtype. */
export type ResourceFilter = {
  readonly search: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agentId: string;
};

type ResourceQueryRow = Omit<StoredResource, 'secrets'> & { readonly sealed: string | null };

const environmentField: FieldRule = {
  name: 'env_vars',
  shape: 'map',
  required: false,
  empty: {},
  omitted: 'empty',
  secret: 'base64',
};

/** The groups that decide which connections, and so which resources, a caller sees; null: all. */
type VisibleTo = readonly string[] | null;

/** Reads one page of the resources that a caller may see, sorted by name, and the number of matches, both from the same snapshot. */
export async function listResourcePage(
  store: Store,
  filter: ResourceFilter,
  { visibleTo, page }: { readonly visibleTo: VisibleTo; readonly page: PageRequest },
): Promise<{ readonly rows: readonly StoredResource[]; readonly total: number }> {
  const matching = sql`${resourceFilterSql(filter)} and ${isResourceReachable(visibleTo, sql`r.name`)}`;
  return selectPage(store.db, {
    page,
    from: sql`from resources r ${matching}`,
    select: (db, bounds) => selectResources({ ...store, db }, sql`${matching} order by r.name ${bounds}`),
  });
}

/**
 * Finds a resource that a caller may see by its id, else by its name; `text` may be any text. A name never replaces the id of another
 * resource.
 */
export async function findResource(
  store: Store,
  { text, visibleTo }: { readonly text: string; readonly visibleTo: VisibleTo },
): Promise<StoredResource | undefined> {
  if (text.includes('\0')) return undefined;
  const id = uuidPattern.test(text) ? text : null;
  const named = sql`coalesce((select one.id from resources one where one.id = ${id}::uuid), (select one.id from resources one where one.name = ${text}))`;
  const [found] = await selectResources(store, sql`where r.id = ${named} and ${isResourceReachable(visibleTo, sql`r.name`)}`);
  return found;
}

/** Returns the path (`table/id/column`) that the secrets of a resource are sealed for. */
function resourceSecretsPath(id: string): string {
  return `resources/${id}/env_vars`;
}

/** Returns a condition: one of the columns contains the text, ignoring case; the text has no wildcards. */
export function containsText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // Names have the collation "C", which lowers ASCII letters only.
  const tests = columns.map((column) => sql`strpos(lower(${column} collate "default"), lower(${text}::text collate "default")) > 0`);
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** Filters with one statement for all combinations: the embedded database keeps every text as a prepared statement. */
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
  return rows.map(({ sealed, ...row }) => {
    const secrets = openSecrets(cipher, sealed, { place: resourceSecretsPath(row.id), what: `resource ${row.name}` });
    return { ...row, secrets };
  });
}

/** The desired state of a resource. */
export type ResourceDraft = Pick<StoredResource, 'name' | 'type' | 'subtype' | 'agentId'> & { readonly secrets: GivenSecrets };

type ResourceColumns = Pick<StoredResource, 'name' | 'type' | 'subtype'> & { readonly agent_id: string | null };
type ConnectionName = { readonly name: string; readonly managed_by: string };

/** Reads a valid body. */
export function readResourceDraft(body: JsonObject): ResourceDraft {
  const text = (field: string): string => asText(body[field]);
  const secrets = readSecrets([environmentField], body);
  return { name: text('name'), type: text('type'), subtype: text('subtype'), agentId: text('agent_id').toLowerCase(), secrets };
}

/** Creates a resource without connections. */
export async function insertResource(store: Store, draft: ResourceDraft, author: Author): Promise<StoredResource> {
  const { now } = author;
  const id = randomUUID();
  const secrets = resolveSecrets(draft.secrets, {});
  return inWriteLock(store.db, async (trx) => {
    await requireAgent(trx, draft);
    const row = { id, ...resourceColumns(draft), env_vars: sealSecrets(store.cipher, secrets, resourceSecretsPath(id)), revision: 1 };
    const insert = trx.insertInto('resources').values({ ...row, created_at: now, updated_at: now });
    await withUniqueName(`resource ${draft.name}`, insert.execute());
    await author.record(trx, { id, name: draft.name, payload: resourcePayload(draft) });
    return { id, ...draft, secrets, revision: 1, createdAt: now, updatedAt: now };
  });
}

/** Replaces a resource. A new name is written to its connections; throws a 409 when the type changes and it has connections. */
export async function replaceResource(store: Store, target: WriteTarget, draft: ResourceDraft, author: Author): Promise<StoredResource> {
  return inWriteLock(store.db, async (trx) => {
    const stored = await requireWritableResource({ ...store, db: trx }, target);
    const secrets = resolveSecrets(draft.secrets, stored.secrets);
    await requireAgent(trx, draft);
    if (stored.type !== draft.type || stored.subtype !== draft.subtype) {
      requireNoConnections(await findConnections(trx, stored.name), `cannot change the type or subtype of the resource ${stored.name}`);
    }
    const revision = stored.revision + 1;
    const row = { ...resourceColumns(draft), env_vars: sealSecrets(store.cipher, secrets, resourceSecretsPath(stored.id)), revision };
    const update = trx.updateTable('resources').set({ ...row, updated_at: author.now });
    await withUniqueName(`resource ${draft.name}`, update.where('id', '=', stored.id).execute());
    if (stored.name !== draft.name) await renameInConnections(trx, { from: stored.name, to: draft.name }, author);
    await author.record(trx, {
      id: stored.id,
      name: draft.name,
      payload: resourcePayload(draft),
      changed: changedResourceFields(draft, stored, secrets),
    });
    return { ...stored, ...draft, secrets, revision, updatedAt: author.now };
  });
}

/** Removes a resource. Throws a 409 when it has connections. */
export async function deleteResource(store: Store, target: WriteTarget, author: Author): Promise<void> {
  await inWriteLock(store.db, async (trx) => {
    const stored = await requireWritableResource({ ...store, db: trx }, target);
    requireNoConnections(await findConnections(trx, stored.name), `cannot delete the resource ${stored.name}`);
    await trx.deleteFrom('resources').where('id', '=', stored.id).execute();
    await author.record(trx, { id: stored.id, name: stored.name, payload: {} });
  });
}

/** Returns a draft as the audit log stores it. */
function resourcePayload({ name, type, subtype, agentId, secrets }: ResourceDraft): JsonObject {
  return redactedPayload([environmentField], { name, spec: { type, subtype, agent_id: agentId }, secrets, edges: {} });
}

function changedResourceFields(draft: ResourceDraft, stored: StoredResource, secrets: Secrets): readonly string[] {
  const before: JsonObject = resourceColumns(stored);
  const changed = Object.entries(resourceColumns(draft)).filter(([column, value]) => value !== before[column]);
  return [...changed.map(([column]) => column), ...(changesSecrets(stored.secrets, secrets) ? [environmentField.name] : [])];
}

async function requireWritableResource(store: Store, { text, ...conditions }: WriteTarget): Promise<StoredResource> {
  const stored = await findResource(store, { text, visibleTo: null });
  if (stored === undefined) throw new Rejection(404, `unknown resource ${text}`);
  requireAllowedTag(`the resource ${text}`, entityTag(stored), conditions);
  return stored;
}

async function requireAgent(trx: Transaction<Tables>, { agentId }: ResourceDraft): Promise<void> {
  if (agentId === '') return;
  const known = await trx.selectFrom('agents').select('id').where('id', '=', agentId).executeTakeFirst();
  if (known === undefined) throw new InvalidBody([{ field: '/agent_id', reason: `is not an agent of this gateway: ${agentId}` }]);
}

function resourceColumns({ name, type, subtype, agentId }: Omit<ResourceDraft, 'secrets'>): ResourceColumns {
  return { name, type, subtype, agent_id: agentId === '' ? null : agentId };
}

async function findConnections(trx: Transaction<Tables>, name: string): Promise<readonly ConnectionName[]> {
  const { rows } = await sql<ConnectionName>`
    select name, managed_by from connections where spec ->> 'resource_name' = ${name} order by name limit 4`.execute(trx);
  return rows;
}

function requireNoConnections(members: readonly ConnectionName[], what: string): void {
  if (members.length === 0) return;
  const names = members.slice(0, 3).map(({ name }) => name);
  throw new Rejection(409, `${what}: connections belong to it (${names.join(', ')}${members.length > 3 ? ', …' : ''})`);
}

async function renameInConnections(
  trx: Transaction<Tables>,
  name: { readonly from: string; readonly to: string },
  author: Author,
): Promise<void> {
  const { rows } = await sql<ConnectionName>`
    update connections set spec = jsonb_set(spec, '{resource_name}', to_jsonb(${name.to}::text)),
      revision = revision + 1, updated_at = ${author.now}
    where spec ->> 'resource_name' = ${name.from} returning name, managed_by`.execute(trx);
  const managed = rows.find(({ managed_by: manager }) => manager !== '' && manager !== author.manager);
  if (managed !== undefined) throw new Rejection(409, `its connection ${managed.name} is managed by ${managed.managed_by}`);
}
