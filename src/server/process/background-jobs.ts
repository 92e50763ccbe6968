import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { recordResult, type WriteAttempt } from '../audit/audit-log.ts';
import { environmentPrincipal } from '../auth/principal.ts';
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
  const idle = resealed?.catch((error: unknown) =>
    log({ level: 'error', message: `secrets could not be encrypted anew: ${String(error)}` }),
  );
  const retention = days === undefined ? undefined : startAuditRetention(store, { days, now, log });
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
      for (const place of done.unreadable) log({ level: 'warn', message: `cannot be opened, and stays as it is: ${place}` });
      after = done.last;
    }
  }
  const outcome = left === 0 ? 'OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS is not needed any more' : `${left} need an earlier key`;
  log({ level: 'info', message: `encrypted ${resealed} secrets anew; ${outcome}` });
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

export type AuditRetention = {
  /** How many days the audit log keeps an entry. */
  readonly days: number;
  readonly now: () => Date;
  readonly log: Log;
};

const dayMs = 86_400_000;
const auditBatchSize = 5000;

/** Removes audit entries that are older than the limit: at once, then daily until `stop`. */
export function startAuditRetention(store: Store, retention: AuditRetention): { readonly stop: () => Promise<void> } {
  let stopped = false;
  const run = (): Promise<void> =>
    pruneAuditLog(store, retention, () => stopped).catch((error: unknown) => {
      retention.log({ level: 'error', message: `the audit log could not be pruned: ${String(error)}` });
    });
  let underWay = run();
  const timer = setInterval(() => {
    underWay = underWay.then(run);
  }, dayMs);
  timer.unref();
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
      return underWay;
    },
  };
}

async function pruneAuditLog(store: Store, { days, now, log }: AuditRetention, stopped: () => boolean): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - days * dayMs);
  let removed = 0;
  for (let last = auditBatchSize; last === auditBatchSize && !stopped();) {
    last = await pruneAuditBatch(store, { at, before, days });
    removed += last;
    await nextTurn();
  }
  if (removed > 0)
    log({ level: 'info', message: `removed ${removed} of the audit log's entries: all from before ${before.toISOString()}` });
}

/** Removes a batch of the oldest entries and records how many; returns their number. */
function pruneAuditBatch(
  { db }: Store,
  { at, before, days }: { readonly at: Date; readonly before: Date; readonly days: number },
): Promise<number> {
  const actor = environmentPrincipal('ostiary serve --audit-keep', '');
  const attempt: WriteAttempt = { actor, address: '', method: 'DELETE', path: '/audit/logs', resourceType: 'audit_logs', at };
  return db.transaction().execute(async (trx) => {
    await sql`select set_config('ostiary.prunes_audit_log', 'yes', true)`.execute(trx);
    const { numAffectedRows } = await sql`
      delete from audit_logs where seq in (
        select seq from audit_logs where created_at < ${before} order by created_at limit ${auditBatchSize} for update skip locked)`.execute(
      trx,
    );
    const removed = Number(numAffectedRows ?? 0);
    const payload = { removed, older_than: before.toISOString(), keep_days: days };
    if (removed > 0) await recordResult(trx, attempt, { status: 204, error: '', payload });
    return removed;
  });
}
