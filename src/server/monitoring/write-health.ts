import { sql } from 'kysely';
import { environmentPrincipal } from '../principal.ts';
import { recordResult, type WriteAttempt } from '../store/audit-log.ts';
import { databaseUnavailableReason } from '../store/database-unavailable.ts';
import type { Store } from '../store/store.ts';

/** Knows whether writes succeed. */
export type WriteHealth = {
  /** Notes the result of a write: why the database refused it, or undefined. */
  readonly observe: (reason: string | undefined) => void;
  /** Returns why writes fail; undefined while they succeed. Throws when the database fails in another way. */
  readonly problem: () => Promise<string | undefined>;
};

// A probe may succeed while other writes fail: on a full disk, a small one still has room.
const failureCountsMs = 10_000;
// Health checks need no key: they must not keep the database busy.
const probeCountsMs = 250;

/** Judges writes by those of requests, and by a small one of its own. */
export function createWriteHealth({ store, now }: { readonly store: Store; readonly now: () => Date }): WriteHealth {
  let failure: { readonly reason: string; readonly at: number } | undefined;
  let provedAt = Number.NEGATIVE_INFINITY;
  return {
    observe(reason) {
      failure = reason === undefined ? undefined : { reason, at: performance.now() };
      if (reason !== undefined) provedAt = Number.NEGATIVE_INFINITY;
    },
    async problem() {
      if (failure !== undefined && performance.now() - failure.at < failureCountsMs) return failure.reason;
      if (performance.now() - provedAt < probeCountsMs) return undefined;
      try {
        if (!(await probe(store, now()))) return 'the encryption key of this server is retired';
        provedAt = performance.now();
        return undefined;
      } catch (error) {
        const reason = databaseUnavailableReason(error);
        if (reason === undefined) throw error;
        return reason;
      }
    },
  };
}

/** Writes an audit entry, rolls it back, and writes a row, so that the commit reaches the disk; returns whether the row exists. */
function probe({ db, cipher }: Store, at: Date): Promise<boolean> {
  const actor = environmentPrincipal('ostiary serve', '');
  const attempt: WriteAttempt = { actor, address: '', method: 'GET', path: '/readyz', resourceType: 'readyz', at };
  return db.transaction().execute(async (trx) => {
    await sql`savepoint probe`.execute(trx);
    await recordResult(trx, attempt, { status: 200, error: '', payload: {} });
    await sql`rollback to savepoint probe`.execute(trx);
    const { rows } = await sql`update encryption_keys set created_at = created_at where id = ${cipher.keyId} returning id`.execute(trx);
    return rows.length === 1;
  });
}
