import { createHash } from 'node:crypto';
import { type ColumnType, type Generated, type GeneratedAlways, type Kysely, sql } from 'kysely';
import { AppError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { idPattern } from '../../model/resource.ts';
import { type EdgeTable, kindTables, type ObjectTable } from '../collections.ts';

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
};

type EncryptionKeyRow = { readonly id: string; readonly created_at: Date };

/** The database as Kysely sees it. */
export type Tables = Readonly<Record<ObjectTable, ObjectRow>> &
  Readonly<Record<EdgeTable, EdgeRow>> & {
    readonly agents: AgentRow;
    readonly api_keys: ApiKeyRow;
    readonly audit_logs: AuditRow;
    readonly encryption_keys: EncryptionKeyRow;
  };

/** The text form of an id. */
export const uuidPattern: RegExp = idPattern;

// An arbitrary number. Every version of the server must use the same one.
const schemaLock = 5_712_011;

/**
 * Creates the tables of a new database; servers that start at once create them once. A role without the right to create tables can serve
 * existing ones. Throws `AppError` when the tables are those of another version.
 */
export async function createSchema(db: Kysely<Tables>): Promise<void> {
  if (await hasSchema(db)) return;
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(schemaLock)})`.execute(trx);
    if (await hasSchema(trx)) return;
    for (const statement of statements) await sql.raw(statement).execute(trx);
    await sql`comment on table encryption_keys is ${sql.lit(version())}`.execute(trx);
  });
}

async function hasSchema(db: Kysely<Tables>): Promise<boolean> {
  // Unlike `to_regclass`, a query sees what another server committed while this one waited for the lock.
  const { rows } = await sql<{ readonly version: string | null }>`
    select obj_description(c.oid, 'pg_class') as version from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relname = 'encryption_keys'`.execute(db);
  const [table] = rows;
  if (table !== undefined && table.version !== version()) {
    throw new AppError('serve/database', 3, 'the database cannot be opened: its tables are those of another version of Ostiary', {
      hint: 'use an empty folder or database for --database, or the version that made it',
    });
  }
  return table !== undefined;
}

/** Returns what distinguishes this schema from every other one. */
function version(): string {
  return `Ostiary schema ${createHash('sha256').update(statements.join(';')).digest('hex').slice(0, 16)}`;
}

const statements: readonly string[] = [
  'create table encryption_keys (id text primary key, created_at timestamptz not null)',
  `create table agents (
    id uuid primary key,
    name text collate "C" not null unique,
    created_at timestamptz not null,
    token_hash text unique,
    last_seen timestamptz,
    hostname text not null default '',
    version text not null default '',
    platform text not null default ''
  )`,
  // The database refuses sealed texts whose key it does not know, and the removal of a key while a text needs it.
  ...kindTables.flatMap(({ table }) => [
    `create table ${table} (
      id uuid primary key,
      name text collate "C" not null unique,
      spec jsonb not null,
      secrets text,
      secrets_key text generated always as (split_part(secrets, ':', 1)) stored references encryption_keys (id),
      secrets_updated_at timestamptz,
      managed_by text not null,
      revision integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`,
    `create index on ${table} (secrets_key)`,
  ]),
  ...kindTables.flatMap(({ table, edges }) =>
    edges === undefined
      ? []
      : [
          `create table ${edges} (
            connection_id uuid not null references connections on delete cascade,
            rule_id uuid not null references ${table} on delete cascade,
            primary key (connection_id, rule_id)
          )`,
          `create index on ${edges} (rule_id)`,
        ],
  ),
  "create index on connections ((spec ->> 'resource_name'))",
  "create index on connections ((spec ->> 'agent_id'))",
  `create table reviews (
    id uuid primary key,
    session uuid not null unique,
    connection_id uuid references connections on delete set null,
    type text not null,
    status text not null,
    access_duration bigint not null,
    time_window jsonb,
    groups jsonb not null,
    needed integer,
    owner_id uuid not null,
    owner_name text not null,
    input text not null,
    revision integer not null,
    created_at timestamptz not null,
    revoked_at timestamptz,
    expires_at timestamptz
  )`,
  'create index on reviews (connection_id)',
  'create index on reviews (created_at desc, id)',
  `create table api_keys (
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
  )`,
  "create unique index on api_keys (name) where status = 'active'",
  `create table audit_logs (
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
  )`,
  'create index on audit_logs (created_at)',
  // A path may be longer than an entry of a B-tree index.
  'create index on audit_logs using hash (http_path)',
  // Entries never change; only a transaction that sets this removes some (`--audit-keep`).
  `create function refuse_change() returns trigger language plpgsql as
    $$ begin
      if tg_op = 'DELETE' and current_setting('ostiary.prunes_audit_log', true) = 'yes' then return null; end if;
      raise exception 'the audit log is append-only';
    end $$`,
  `create trigger append_only before update or delete or truncate on audit_logs
    for each statement execute function refuse_change()`,
];
