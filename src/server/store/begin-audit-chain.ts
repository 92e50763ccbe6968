import { type Kysely, sql, type RawBuilder } from 'kysely';

/** The lock of a transaction that extends or prunes the chain. An arbitrary number: every version of the server must use the same one. */
export const auditChainLock: RawBuilder<number> = sql.lit(5_712_010);

/** Returns SQL for the text of an entry that its hash covers. It never changes: hashes of all earlier entries depend on it. */
export function auditEntryText(entry: 'new' | 'entry'): RawBuilder<string> {
  const column = (name: string): RawBuilder<unknown> => sql.raw(`${entry}.${name}`);
  const columns = [
    'seq',
    'id',
    "created_at at time zone 'UTC'",
    'actor_id',
    'actor_name',
    'actor_email',
    'client_ip',
    'http_method',
    'http_path',
    'http_status',
    'resource_type',
    'resource_id',
    'resource_name',
    'action',
    'payload',
    'changed',
    'outcome',
    'error_message',
  ];
  return sql<string>`pg_catalog.jsonb_build_array(${sql.join(columns.map(column))})::text`;
}

/** Makes the entries a hash chain: the hash of an entry is SHA-256 of the hash before it and of its own text. Includes all earlier entries. */
export async function beginAuditChain(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_logs add column hash text`.execute(db);
  await sql`alter table audit_logs disable trigger append_only`.execute(db);
  await sql`
    do $$ declare entry audit_logs%rowtype; previous text := '';
    begin
      for entry in select * from audit_logs order by seq loop
        previous := encode(sha256(convert_to(previous || ${auditEntryText('entry')}, 'UTF8')), 'hex');
        update audit_logs set hash = previous where seq = entry.seq;
      end loop;
    end $$`.execute(db);
  await sql`alter table audit_logs enable trigger append_only`.execute(db);
  await sql`alter table audit_logs alter column hash set not null`.execute(db);
  await sql`
    create function chain_audit_entry() returns trigger language plpgsql as
    $$ declare previous text; last_seq bigint;
    begin
      perform pg_advisory_xact_lock(${auditChainLock});
      select seq, hash into last_seq, previous from audit_logs order by seq desc limit 1;
      new.seq := coalesce(last_seq, 0) + 1;
      new.hash := encode(sha256(convert_to(coalesce(previous, '') || ${auditEntryText('new')}, 'UTF8')), 'hex');
      return new;
    end $$`.execute(db);
  // A temporary table of the same name must not replace the audit log here.
  await sql`
    do $$ begin execute format('alter function chain_audit_entry() set search_path to %I, pg_temp', current_schema()); end $$`.execute(db);
  await sql`create trigger chained before insert on audit_logs for each row execute function chain_audit_entry()`.execute(db);
  // Earlier versions set another value: they remove entries without a checkpoint.
  await sql`
    create or replace function refuse_change() returns trigger language plpgsql as
    $$ begin
      if tg_op = 'DELETE' and current_setting('ostiary.prunes_audit_log', true) = 'with checkpoint' then return null; end if;
      raise exception 'the audit log is append-only';
    end $$`.execute(db);
}
