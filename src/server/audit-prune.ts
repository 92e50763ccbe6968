import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { recordResult, type WriteAttempt } from './audit/audit-log.ts';
import { environmentPrincipal } from './auth/principal.ts';
import type { Log } from './process/log.ts';
import type { Store } from './objects/object-reader.ts';

export type AuditRetention = {
  /** How many days an entry stays. */
  readonly days: number;
  readonly now: () => Date;
  readonly log: Log;
};

const dayMs = 86_400_000;
const auditBatchSize = 5000;

/** Removes entries of the audit log that are older than they may become: now, and once a day until it is stopped. */
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

/** Removes the oldest entries, and leaves one that says how many; tells their number. */
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
        select seq from audit_logs where created_at < ${before} order by created_at limit ${auditBatchSize} for update skip locked)`.execute(trx);
    const removed = Number(numAffectedRows ?? 0);
    const payload = { removed, older_than: before.toISOString(), keep_days: days };
    if (removed > 0) await recordResult(trx, attempt, { status: 204, error: '', payload });
    return removed;
  });
}
