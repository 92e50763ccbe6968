import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { environmentPrincipal } from '../principal.ts';
import type { Log } from '../log.ts';
import type { Tables } from './schema.ts';
import { recordResult, type WriteAttempt } from './audit-log.ts';

type AuditRetention = {
  /** How many days the audit log keeps an entry. */
  readonly days: number;
  readonly now: () => Date;
  readonly log: Log;
};

const dayMs = 86_400_000;
const batchSize = 5000;

/** Removes audit entries that are older than the limit: at once, then daily until `stop`. */
export function startAuditRetention(db: Kysely<Tables>, retention: AuditRetention): { readonly stop: () => Promise<void> } {
  let stopped = false;
  const run = (): Promise<void> =>
    pruneAuditLog(db, retention, () => stopped).catch((error: unknown) => {
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

async function pruneAuditLog(db: Kysely<Tables>, { days, now, log }: AuditRetention, stopped: () => boolean): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - days * dayMs);
  let removed = 0;
  for (let last = batchSize; last === batchSize && !stopped();) {
    last = await pruneBatch(db, { at, before, days });
    removed += last;
    await nextTurn();
  }
  if (removed > 0)
    log({ level: 'info', message: `removed ${removed} of the audit log's entries: all from before ${before.toISOString()}` });
}

/** Removes a batch of the oldest entries, records how many in an entry, and returns their number. */
function pruneBatch(
  db: Kysely<Tables>,
  { at, before, days }: { readonly at: Date; readonly before: Date; readonly days: number },
): Promise<number> {
  const actor = environmentPrincipal('ostiary serve --audit-keep', '');
  const attempt: WriteAttempt = { actor, address: '', method: 'DELETE', path: '/audit/logs', resourceType: 'audit_logs', at };
  return db.transaction().execute(async (trx) => {
    await sql`select set_config('ostiary.prunes_audit_log', 'yes', true)`.execute(trx);
    const { rows } = await sql`
      delete from audit_logs where seq in (select seq from audit_logs where created_at < ${before} order by seq limit ${batchSize})
      returning seq`.execute(trx);
    const payload = { removed: rows.length, older_than: before.toISOString(), keep_days: days };
    if (rows.length > 0) await recordResult(trx, attempt, { status: 204, error: '', payload });
    return rows.length;
  });
}
