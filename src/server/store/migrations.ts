import { idPattern } from '../../model/resource.ts';
import { type Kysely, type Migration, Migrator, sql, type ColumnType, type Generated, type GeneratedAlways } from 'kysely';
import { AppError, systemCodeOf } from '../../model/errors.ts';
import { beginAuditChain } from './begin-audit-chain.ts';
import { type EdgeTable, kindTables, type KindTables, type ObjectTable } from '../collections.ts';
import type { JsonObject } from '../../model/json.ts';

/** An object of a kind: `spec` has all fields but secrets and edges, `secrets` is sealed, `name` identifies the object. */
type ObjectRow = {
  readonly id: string;
  readonly name: string;
  readonly spec: ColumnType<JsonObject, string, string>;
  readonly secrets: string | null;
  readonly secrets_updated_at: Date | null;
  readonly managed_by: string;
  readonly revision: number;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly updated_at: Date;
};

type EdgeRow = { readonly connection_id: string; readonly rule_id: string };
/** An agent: `token_hash` is null until a token exists, `last_seen` until the first heartbeat. */
type AgentRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly token_hash: ColumnType<string | null, string | undefined, string>;
  readonly last_seen: ColumnType<Date | null, undefined, Date>;
  readonly hostname: Generated<string>;
  readonly version: Generated<string>;
  readonly platform: Generated<string>;
};

/** A group of connections, which name it in `resource_name`; `env_vars` is sealed. */
type ResourceRow = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly agent_id: string | null;
  readonly env_vars: string | null;
  readonly revision: number;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly updated_at: Date;
};

/** An API key; its groups determine the role. */
export type ApiKeyRow = {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly masked_key: string;
  readonly groups: ColumnType<readonly string[], string, string>;
  readonly manager: string;
  readonly status: 'active' | 'revoked';
  readonly revision: number;
  readonly created_by: string;
  readonly created_at: ColumnType<Date, Date, never>;
  readonly deactivated_by: string | null;
  readonly deactivated_at: Date | null;
  readonly last_used_at: Date | null;
};

/** An attempted write. Entries never change. */
type AuditRow = {
  readonly seq: GeneratedAlways<string>;
  readonly id: string;
  readonly created_at: Date;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly actor_email: string;
  readonly client_ip: string;
  readonly http_method: string;
  readonly http_path: string;
  readonly http_status: number;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly resource_name: string;
  readonly action: string;
  readonly payload: ColumnType<JsonObject, string, never>;
  readonly changed: ColumnType<readonly string[], string, never>;
  readonly outcome: boolean;
  readonly error_message: string;
  readonly hash: GeneratedAlways<string>;
};

type EncryptionKeyRow = { readonly id: string; readonly created_at: Date };

/** The database as Kysely sees it; `migrations.ts` creates it. */
export type Tables = Readonly<Record<ObjectTable, ObjectRow>> &
  Readonly<Record<EdgeTable, EdgeRow>> & {
    readonly agents: AgentRow;
    readonly api_keys: ApiKeyRow;
    readonly audit_logs: AuditRow;
    readonly resources: ResourceRow;
    readonly encryption_keys: EncryptionKeyRow;
  };

/** A column of sealed texts; `COLUMN_key` beside it holds the id of the key of each text. */
export type SealedColumn = { readonly table: ObjectTable | 'resources'; readonly column: 'secrets' | 'env_vars' };

/** All columns of sealed texts. */
export const sealedColumns: readonly SealedColumn[] = [
  ...kindTables.map(({ table }) => ({ table, column: 'secrets' as const })),
  { table: 'resources', column: 'env_vars' },
];

/** The text form of an id. */
export const uuidPattern: RegExp = idPattern;

/** The listed changes of the database schema, in the order of their names. A released one never changes again. */
const listedMigrations: Readonly<Record<string, Migration>> = {
  '0001-objects': {
    async up(db: Kysely<unknown>): Promise<void> {
      await createKindTables(db, tablesOf('0001-objects'));
      await sql`create table agents (id uuid primary key, name text collate "C" not null unique, created_at timestamptz not null)`.execute(
        db,
      );
      await sql`create table encryption_keys (id text primary key, created_at timestamptz not null)`.execute(db);
    },
  },
  '0002-agents-and-resources': { up: createResources },
  '0002-audit': { up: createAuditLog },
  '0002-identity': { up: createApiKeys },
  '0002-reviews': { up: createReviews },
  '0003-encryption-keys': {
    up: (db: Kysely<unknown>) =>
      linkSecretsToKeys(db, [...tablesOf('0001-objects').map(secretsColumn), { table: 'resources', column: 'env_vars' }]),
  },
  '0004-audit-retention': { up: allowAuditPruning },
  '0005-minimum-approvals': { up: addNeededApprovals },
  '0006-audit-chain': { up: beginAuditChain },
  '0007-review-sessions': { up: addReviewSessions },
  '0008-review-expiry': { up: addReviewExpiry },
};

/** All migrations. Rows of kinds add a migration for each name that is not listed: it creates their tables and key columns. */
const migrations: Readonly<Record<string, Migration>> = {
  ...listedMigrations,
  ...Object.fromEntries(
    kindTables.flatMap(({ migration: name }) => {
      const migration: Migration = { up: (db: Kysely<unknown>) => addKinds(db, tablesOf(name)) };
      return name in listedMigrations ? [] : [[name, migration] as const];
    }),
  ),
};

/** Migrates the database to this version. Throws `AppError` when it belongs to a later version, or when the role may not create tables. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  // A role that only serves may not create the tables of the migrator.
  if (await isMigrated(db)) return;
  const error = await db.connection().execute(async (connection) => {
    // A migration may take longer than a request.
    await sql`set statement_timeout = 0`.execute(connection);
    const migrator = new Migrator({ db: connection, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
    const result = await migrator.migrateToLatest().catch((reason: unknown) => ({ error: reason }));
    await sql`reset statement_timeout`.execute(connection);
    return result.error;
  });
  if (error === undefined) return;
  const isForbidden = systemCodeOf(error) === '42501';
  throw new AppError('serve/migration', isForbidden ? 3 : 1, 'the migration of the database failed', {
    cause: error,
    hint: isForbidden ? 'run as the owner of the tables: ostiary serve --migrate --grant ROLE' : undefined,
  });
}

/** Returns whether the database has exactly the migrations of this version. */
export async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ readonly found: boolean }>`select to_regclass('kysely_migration') is not null as found`.execute(db);
  if (rows[0]?.found !== true) return false;
  const [done, names] = [await doneMigrations(db), Object.keys(migrations)];
  return done.size === names.length && names.every((name) => done.has(name));
}

/** Lists the migrations of this version that are missing from the database. */
export async function missingMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  const done = await doneMigrations(db);
  return Object.keys(migrations).filter((name) => !done.has(name));
}

async function doneMigrations(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ readonly name: string }>`select name from kysely_migration`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

async function createReviews(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table reviews (
      id uuid primary key,
      session uuid not null unique,
      connection_id uuid references connections on delete set null,
      type text not null,
      status text not null,
      access_duration bigint not null,
      time_window jsonb,
      groups jsonb not null,
      owner_id uuid not null,
      revision integer not null,
      created_at timestamptz not null,
      revoked_at timestamptz
    )`.execute(db);
  await sql`create index on reviews (connection_id)`.execute(db);
  await sql`create index on reviews (created_at desc, id)`.execute(db);
}

/** Adds how many groups must approve; null: all of them. */
async function addNeededApprovals(db: Kysely<unknown>): Promise<void> {
  await sql`alter table reviews add column needed integer`.execute(db);
}

/** Adds who asked for a review, and what is to be executed. */
async function addReviewSessions(db: Kysely<unknown>): Promise<void> {
  await sql`alter table reviews add column owner_name text not null default '', add column input text not null default ''`.execute(db);
  await sql`update reviews r set owner_name = k.name from api_keys k where k.id = r.owner_id`.execute(db);
}

/** Adds when an approval ends. Earlier approvals count from their last decision: a onetime review for a day, a jit review for its duration. */
async function addReviewExpiry(db: Kysely<unknown>): Promise<void> {
  await sql`alter table reviews add column expires_at timestamptz`.execute(db);
  await sql`
    update reviews r set expires_at = coalesce(
        (select max((one ->> 'review_date')::timestamptz) from jsonb_array_elements(r.groups) one where one ->> 'status' = 'APPROVED'),
        r.created_at) + case when r.type = 'jit' then r.access_duration / 1000 * interval '1 microsecond' else interval '1 day' end
    where r.status = 'APPROVED'`.execute(db);
}

async function createResources(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table agents add token_hash text unique, add last_seen timestamptz, add hostname text not null default '',
      add version text not null default '', add platform text not null default ''`.execute(db);
  await sql`
    create table resources (
      id uuid primary key,
      name text collate "C" not null unique,
      type text not null,
      subtype text not null,
      agent_id uuid references agents on delete set null,
      env_vars text,
      revision integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`create index on connections ((spec ->> 'resource_name'))`.execute(db);
  await sql`create index on connections ((spec ->> 'agent_id'))`.execute(db);
  // Earlier connections have no resource yet; the oldest connection of a name determines its type.
  await sql`
    insert into resources (id, name, type, subtype, agent_id, revision, created_at, updated_at)
    select distinct on (spec ->> 'resource_name') gen_random_uuid(), spec ->> 'resource_name', spec ->> 'type',
      spec ->> 'subtype', (spec ->> 'agent_id')::uuid, 1, created_at, created_at
    from connections order by spec ->> 'resource_name', created_at, id`.execute(db);
}

async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_logs (
      seq bigint generated always as identity primary key,
      id uuid not null,
      created_at timestamptz not null,
      actor_id uuid not null,
      actor_name text not null,
      actor_email text not null,
      client_ip text not null,
      http_method text not null,
      http_path text not null,
      http_status integer not null,
      resource_type text not null,
      resource_id uuid,
      resource_name text not null,
      action text not null,
      payload jsonb not null,
      changed jsonb not null,
      outcome boolean not null,
      error_message text not null
    )`.execute(db);
  await sql`create index on audit_logs (created_at)`.execute(db);
  // A path may be longer than an entry of a B-tree index.
  await sql`create index on audit_logs using hash (http_path)`.execute(db);
  await sql`
    create function refuse_change() returns trigger language plpgsql as
    $$ begin raise exception 'the audit log is append-only'; end $$`.execute(db);
  await sql`
    create trigger append_only before update or delete or truncate on audit_logs
    for each statement execute function refuse_change()`.execute(db);
}

/** Allows a transaction to remove entries if it sets `ostiary.prunes_audit_log`; changes stay forbidden. */
async function allowAuditPruning(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function refuse_change() returns trigger language plpgsql as
    $$ begin
      if tg_op = 'DELETE' and current_setting('ostiary.prunes_audit_log', true) = 'yes' then return null; end if;
      raise exception 'the audit log is append-only';
    end $$`.execute(db);
}

async function createApiKeys(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table api_keys (
      id uuid primary key,
      name text collate "C" not null,
      hash text not null unique,
      masked_key text not null,
      groups jsonb not null,
      manager text not null,
      status text not null check (status in ('active', 'revoked')),
      revision integer not null,
      created_by text not null,
      created_at timestamptz not null,
      deactivated_by text,
      deactivated_at timestamptz,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create unique index on api_keys (name) where status = 'active'`.execute(db);
}

/** Makes the database reject texts whose key it does not know, and the removal of a key while a text needs it. */
async function linkSecretsToKeys(db: Kysely<unknown>, columns: readonly SealedColumn[]): Promise<void> {
  for (const { table, column } of columns) {
    const key = sql.ref(`${column}_key`);
    await sql`
      alter table ${sql.table(table)} add column ${key} text
      generated always as (split_part(${sql.ref(column)}, ':', 1)) stored references encryption_keys (id)`.execute(db);
    await sql`create index on ${sql.table(table)} (${key})`.execute(db);
  }
}

async function addKinds(db: Kysely<unknown>, kinds: readonly KindTables[]): Promise<void> {
  await createKindTables(db, kinds);
  await linkSecretsToKeys(db, kinds.map(secretsColumn));
}

async function createKindTables(db: Kysely<unknown>, kinds: readonly KindTables[]): Promise<void> {
  for (const { table } of kinds) await createObjects(db, table);
  for (const { table, edges } of kinds) if (edges !== undefined) await createEdges(db, edges, table);
}

function tablesOf(migration: string): readonly KindTables[] {
  return kindTables.filter((kind) => kind.migration === migration);
}

function secretsColumn({ table }: KindTables): SealedColumn {
  return { table, column: 'secrets' };
}

async function createObjects(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`
    create table ${sql.table(table)} (
      id uuid primary key,
      name text collate "C" not null unique,
      spec jsonb not null,
      secrets text,
      secrets_updated_at timestamptz,
      managed_by text not null,
      revision integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
}

async function createEdges(db: Kysely<unknown>, table: EdgeTable, rules: ObjectTable): Promise<void> {
  await sql`
    create table ${sql.table(table)} (
      connection_id uuid not null references connections on delete cascade,
      rule_id uuid not null references ${sql.table(rules)} on delete cascade,
      primary key (connection_id, rule_id)
    )`.execute(db);
  await sql`create index on ${sql.table(table)} (rule_id)`.execute(db);
}
