import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import { AppError } from '../model/errors.ts';
import type { EdgeTable, ObjectTable, Tables } from './tables.ts';

/** Every change of the database's shape, by name and in order; one that was released never changes again. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-objects': {
    async up(db: Kysely<unknown>): Promise<void> {
      await createObjects(db, 'connections');
      await createObjects(db, 'guardrails');
      await createObjects(db, 'datamasking_rules');
      await createObjects(db, 'runbook_configurations');
      await createEdges(db, 'guardrail_edges', 'guardrails');
      await createEdges(db, 'datamasking_edges', 'datamasking_rules');
      await sql`create table agents (id uuid primary key, name text collate "C" not null unique, created_at timestamptz not null)`.execute(
        db,
      );
      await sql`create table encryption_keys (id text primary key, created_at timestamptz not null)`.execute(db);
    },
  },
  '0002-reviews': {
    async up(db: Kysely<unknown>): Promise<void> {
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
    },
  },
};

/** Brings the database to the shape that this version needs; a database of a later version is refused. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw new AppError('serve/migration', 1, 'the database could not be brought to this version', { cause: error });
}

async function createObjects(db: Kysely<unknown>, table: ObjectTable): Promise<void> {
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
