import { sql } from 'kysely';
import { startAuditRetention } from '../audit/audit-retention.ts';
import type { Log } from '../http/request-context.ts';
import { type Store, inWriteLock } from '../store/store.ts';
import { type SealedColumn, sealedColumns } from '../store/migrations.ts';

type BackgroundJobOptions = { readonly log: Log; readonly now: () => Date; readonly auditKeepDays?: number | undefined };

/** Starts the jobs beside requests: encrypting secrets of earlier keys again, and pruning the audit log. */
export function startBackgroundJobs(
  store: Store,
  { log, now, auditKeepDays: days }: BackgroundJobOptions,
): { readonly stop: () => Promise<void> } {
  let stopped = false;
  const resealed = store.cipher.keyIds.length === 1 ? undefined : resealAll(store, { log, stopped: () => stopped });
  const idle = resealed?.catch((error: unknown) => log({ level: 'error', message: `re-encryption of secrets failed: ${String(error)}` }));
  const retention = days === undefined ? undefined : startAuditRetention(store.db, { days, now, log });
  return {
    async stop() {
      stopped = true;
      await Promise.all([idle, retention?.stop()]);
    },
  };
}

type ResealOptions = { readonly log: Log; readonly stopped: () => boolean };
type SealedRow = { readonly id: string; readonly sealed: string };

const resealBatchSize = 100;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Encrypts all texts of earlier keys with the current key, a hundred per transaction. Objects keep their versions. Logs whether
 * the earlier keys are still needed.
 */
export async function resealAll(store: Store, { log, stopped }: ResealOptions): Promise<void> {
  let resealed = 0;
  let left = 0;
  for (const column of sealedColumns) {
    for (let after: string | undefined = firstId; after !== undefined;) {
      if (stopped()) return;
      const done: ResealedBatch = await resealBatch(store, column, after);
      resealed += done.resealed;
      left += done.unreadable.length;
      for (const place of done.unreadable) log({ level: 'warn', message: `cannot be decrypted and is kept unchanged: ${place}` });
      after = done.last;
    }
  }
  const outcome = left === 0 ? 'OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS is no longer needed' : `${left} need an earlier key`;
  log({ level: 'info', message: `re-encrypted ${resealed} secrets; ${outcome}` });
}

type ResealedBatch = { readonly resealed: number; readonly unreadable: readonly string[]; readonly last: string | undefined };

function resealBatch({ db, cipher }: Store, { table, column }: SealedColumn, after: string): Promise<ResealedBatch> {
  const [target, sealed, key] = [sql.table(table), sql.ref(column), sql.ref(`${column}_key`)];
  return inWriteLock(db, async (trx) => {
    const { rows } = await sql<SealedRow>`
      select id, ${sealed} as sealed from ${target} where ${key} <> ${cipher.keyId} and id > ${after}::uuid
      order by id limit ${resealBatchSize}`.execute(trx);
    const unreadable: string[] = [];
    for (const row of rows) {
      const place = `${table}/${row.id}/${column}`;
      const text = tryOpen(() => cipher.open(row.sealed, place));
      if (text === undefined) unreadable.push(place);
      else await sql`update ${target} set ${sealed} = ${cipher.seal(text, place)} where id = ${row.id}`.execute(trx);
    }
    return { resealed: rows.length - unreadable.length, unreadable, last: rows.length < resealBatchSize ? undefined : rows.at(-1)?.id };
  });
}

function tryOpen(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
