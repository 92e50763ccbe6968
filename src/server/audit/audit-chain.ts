import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { AppError } from '../../model/errors.ts';
import { environmentPrincipal } from '../principal.ts';
import type { Log } from '../log.ts';
import { auditChainLock, auditEntryText } from '../store/begin-audit-chain.ts';
import type { Tables } from '../store/migrations.ts';
import { recordResult, type WriteAttempt } from '../store/audit-log.ts';

/** The last entry of a part of the chain. */
export type ChainEnd = { readonly seq: number; readonly hash: string };

/** The entries to remove: their number, and the last one. */
type PrunedPart = { readonly removed: number; readonly through: ChainEnd };

/** Removes the oldest entries up to those that are to be kept, at most `limit`; `record` writes the checkpoint that the rest verifies against. */
async function pruneAuditChain(
  trx: Transaction<Tables>,
  { before, limit }: { readonly before: Date; readonly limit: number },
  record: (part: PrunedPart) => Promise<void>,
): Promise<number> {
  await sql`select pg_advisory_xact_lock(${auditChainLock}), set_config('ostiary.prunes_audit_log', 'with checkpoint', true)`.execute(trx);
  const { rows } = await sql<{ readonly seq: string; readonly hash: string }>`
    select seq, hash from audit_logs
    where seq < coalesce((select seq from audit_logs where created_at >= ${before} order by seq limit 1), 9223372036854775807)
    order by seq limit ${limit}`.execute(trx);
  const last = rows.at(-1);
  if (last === undefined) return 0;
  // The checkpoint comes first: its hash continues the chain.
  await record({ removed: rows.length, through: { seq: Number(last.seq), hash: last.hash } });
  await sql`delete from audit_logs where seq <= ${last.seq}`.execute(trx);
  return rows.length;
}

type ChainedEntry = { readonly seq: string; readonly id: string; readonly hash: string; readonly text: string };

/** The result of a check: the number of entries, the first and the last one, and whether one of them has the wanted hash. */
export type VerifiedChain = {
  readonly entries: number;
  readonly first: number | undefined;
  readonly last: ChainEnd | undefined;
  readonly found: boolean;
};

const batchSize = 1000;

/** Computes the hash of every entry again. Throws `AppError` that names the first entry that does not continue the chain. */
export function verifyAuditChain(db: Kysely<Tables>, wantedHash?: string): Promise<VerifiedChain> {
  // Entries that are pruned in the meantime stay visible.
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute((trx) => verifyEntries(trx, wantedHash));
}

/** Verifies like `verifyAuditChain` in a statement per thousand entries: entries that are pruned meanwhile look like a broken chain. */
export async function verifyEntries(
  db: Kysely<Tables>,
  wantedHash: string | undefined,
  stopped: () => boolean = () => false,
): Promise<VerifiedChain> {
  let last: ChainEnd = { seq: 0, hash: await startOfChain(db) };
  let first: number | undefined;
  let [entries, found] = [0, wantedHash === undefined || last.hash === wantedHash];
  for (let batch = await readBatch(db, last.seq); batch.length > 0; batch = await readBatch(db, last.seq)) {
    for (const { seq, id, hash, text } of batch) {
      if (hash !== nextHash(last.hash, text)) throw brokenAt(seq, id, entries === 0);
      last = { seq: Number(seq), hash };
      first ??= last.seq;
      found ||= hash === wantedHash;
    }
    entries += batch.length;
    if (stopped()) throw new Error('the check was stopped');
  }
  return { entries, first, last: entries === 0 ? undefined : last, found };
}

function nextHash(previous: string, text: string): string {
  return createHash('sha256').update(`${previous}${text}`).digest('hex');
}

/** Returns the hash before the first entry: that of the last checkpoint, or an empty text. */
async function startOfChain(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ readonly hash: string | null }>`
    select payload #>> '{through,hash}' as hash from audit_logs
    where resource_type = 'audit_logs' and action = 'delete' order by seq desc limit 1`.execute(db);
  return rows[0]?.hash ?? '';
}

async function readBatch(db: Kysely<Tables>, after: number): Promise<readonly ChainedEntry[]> {
  const { rows } = await sql<ChainedEntry>`
    select seq, id, hash, ${auditEntryText('entry')} as text from audit_logs entry where seq > ${after} order by seq limit ${batchSize}`.execute(
    db,
  );
  return rows;
}

function brokenAt(seq: string, id: string, isFirst: boolean): AppError {
  const before = isFirst ? 'entries before it were removed without a checkpoint' : 'an entry before it was added or removed';
  return new AppError('serve/audit-broken', 2, `the audit log is broken at entry ${seq} (${id}): it was changed, or ${before}`, {
    hint: 'compare it with a backup; entries after it are not verified',
  });
}

type AuditRetention = {
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
