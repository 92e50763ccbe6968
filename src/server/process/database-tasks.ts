import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { pruneAuditLog, verifyAuditChain, type VerifiedChain } from '../audit/audit-chain.ts';
import { openDatabase, type OpenOptions } from '../store/database.ts';
import { databasePaths } from '../store/database-folder.ts';
import { isMigrated, migrate, type Tables } from '../store/migrations.ts';
import { keyLength } from '../secrets.ts';

export type MigrateOptions = OpenOptions & {
  readonly now: () => Date;
  /** How many days the audit log keeps an entry; undefined keeps all. */
  readonly auditKeepDays?: number | undefined;
  /** A role of PostgreSQL that may serve afterwards, and may only read and extend the audit log. */
  readonly servingRole?: string | undefined;
};

/** Migrates a database and prunes its audit log without serving it. */
export function migrateDatabase(options: MigrateOptions): Promise<void> {
  const { auditKeepDays: days, servingRole, now, log } = options;
  return withDatabase(options, async (db) => {
    await migrate(db);
    if (servingRole !== undefined) await grantServing(db, servingRole);
    if (days !== undefined) await pruneAuditLog(db, { days, now, log }, () => false);
  });
}

/** Verifies the audit log of a database, and changes nothing. Throws `AppError` that names the first broken entry. */
export function verifyAuditLog(options: OpenOptions, wantedHash?: string): Promise<VerifiedChain> {
  const { database } = options;
  if ('folder' in database && !existsSync(databasePaths(database.folder).data)) {
    throw new AppError('serve/database-missing', 3, `no database in ${database.folder}`, { hint: 'check --database' });
  }
  return withDatabase(options, async (db) => {
    if (await isMigrated(db)) return verifyAuditChain(db, wantedHash);
    throw new AppError('serve/migration', 3, 'the database has another version, so its audit log cannot be verified', {
      hint: 'migrate it with: ostiary serve --migrate',
    });
  });
}

/** Opens a database for a task that reads no secret: any encryption key will do, and the database does not get it. */
async function withDatabase<T>(options: OpenOptions, act: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const { db, close } = await openDatabase({ ...options, encryptionKey: randomBytes(keyLength) });
  return act(db).finally(close);
}

/** Lets a role serve the tables of this user. */
async function grantServing(db: Kysely<Tables>, role: string): Promise<void> {
  const { rows: tables } = await sql<{ readonly name: string; readonly schema: string }>`
    select tablename as name, schemaname as schema from pg_tables
    where schemaname = current_schema() and tableowner = current_user order by tablename`.execute(db);
  const { rows: roles } = await sql<{ readonly own: boolean }>`
    select pg_has_role(rolname, current_user, 'member') or pg_has_role(rolname, nspowner, 'member') as own
    from pg_roles, pg_namespace where rolname = ${role} and nspname = current_schema()`.execute(db);
  const [schema, found] = [tables[0]?.schema, roles[0]];
  if (schema === undefined) throw roleError('this user owns no tables of the database', 'connect as the owner of the tables');
  if (found === undefined) throw roleError(`the database has no role ${JSON.stringify(role)}`, 'create it first: CREATE ROLE … LOGIN');
  if (found.own) {
    throw roleError(
      `the role ${JSON.stringify(role)} has the rights of the owner`,
      'use a role that is not a superuser, the owner or a member of the owner',
    );
  }
  const grantee = sql.id(role);
  await db.transaction().execute(async (trx) => {
    // A role that may create functions could replace those that compute hashes.
    await sql`revoke create on schema ${sql.id(schema)} from ${grantee}, public`.execute(trx);
    const { rows } = await sql<{ readonly may: boolean }>`select has_schema_privilege(${role}, ${schema}, 'create') as may`.execute(trx);
    if (rows[0]?.may === true) {
      throw roleError(
        `the role ${JSON.stringify(role)} may create objects in the schema ${schema}`,
        `as its owner: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`,
      );
    }
    await sql`grant usage on schema ${sql.id(schema)} to ${grantee}`.execute(trx);
    for (const { name } of tables) {
      await sql`revoke all on ${sql.id(name)} from ${grantee}, public`.execute(trx);
      await sql`grant ${sql.raw(rightsOf(name))} on ${sql.id(name)} to ${grantee}`.execute(trx);
    }
  });
}

function roleError(message: string, hint: string): AppError {
  return new AppError('serve/role', 3, message, { hint });
}

function rightsOf(table: string): string {
  if (table.startsWith('kysely_')) return 'select';
  return table === 'audit_logs' ? 'select, insert' : 'select, insert, update, delete';
}
