import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { environmentPrincipal } from '../auth/principal.ts';
import type { Log } from '../http/request-context.ts';
import type { Tables } from '../store/migrations.ts';
import { pruneAuditChain } from './audit-chain.ts';
import { recordResult, type WriteAttempt } from './audit-log.ts';

export type AuditRetention = {
  /** How many days the audit log keeps an entry. */
  readonly days: number;
  readonly now: () => Date;
  readonly log: Log;
};

const dayMs = 86_400_000;
const auditBatchSize = 5000;

/** Throws `AppError` when the role of this database connection may not remove entries. */
export async function requireRightToPrune(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ readonly allowed: boolean }>`select has_table_privilege('audit_logs', 'delete') as allowed`.execute(db);
  if (rows[0]?.allowed === true) return;
  throw new AppError('serve/audit-keep', 3, 'the database role of this server cannot delete audit entries', {
    hint: 'remove --audit-keep here, and run daily as the owner of the tables: ostiary serve --migrate --audit-keep DAYS',
  });
}

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

/** Removes audit entries that are older than the limit, in batches. */
export async function pruneAuditLog(db: Kysely<Tables>, { days, now, log }: AuditRetention, stopped: () => boolean): Promise<void> {
  const at = now();
  const before = new Date(at.getTime() - days * dayMs);
  let removed = 0;
  for (let last = auditBatchSize; last === auditBatchSize && !stopped();) {
    last = await pruneAuditBatch(db, { at, before, days });
    removed += last;
    await nextTurn();
  }
  if (removed > 0)
    log({ level: 'info', message: `removed ${removed} of the audit log's entries: all from before ${before.toISOString()}` });
}

/** Removes a batch of the oldest entries and records how many; returns their number. */
function pruneAuditBatch(
  db: Kysely<Tables>,
  { at, before, days }: { readonly at: Date; readonly before: Date; readonly days: number },
): Promise<number> {
  const actor = environmentPrincipal('ostiary serve --audit-keep', '');
  const attempt: WriteAttempt = { actor, address: '', method: 'DELETE', path: '/audit/logs', resourceType: 'audit_logs', at };
  return db.transaction().execute((trx) =>
    pruneAuditChain(trx, { before, limit: auditBatchSize }, ({ removed, through }) => {
      const payload = { removed, older_than: before.toISOString(), keep_days: days, through };
      return recordResult(trx, attempt, { status: 204, error: '', payload });
    }),
  );
}
