import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { AppError } from '../../model/errors.ts';
import type { Log } from '../log.ts';
import type { Tables } from '../store/migrations.ts';
import { type ChainEnd, type VerifiedChain, verifyAuditChain, verifyEntries } from './audit-chain.ts';

/** The audit log at the end of the last check: whether it is no longer the chain that it was, and its number of entries. */
type ChainState = { readonly hasDrifted: boolean; readonly entries: number; readonly checkedAt: Date };

/** Checks the audit log when asked, in the background. */
export type AuditWatch = {
  /** Returns the state after the last check; undefined before the first one, and while the log cannot be read. */
  readonly state: () => Promise<ChainState | undefined>;
  readonly stop: () => Promise<void>;
};

// A short log is checked before the answer, a long one for the next.
const waitMs = 1000;
// Checks take at most a tenth of the time.
const restFactor = 9;

/** Watches the audit log of a running server. It notices changed entries, and removed ones that it saw before. */
export function watchAuditChain(db: Kysely<Tables>, { now, log }: { readonly now: () => Date; readonly log: Log }): AuditWatch {
  let [state, end]: [ChainState | undefined, ChainEnd | undefined] = [undefined, undefined];
  let underWay: Promise<void> | undefined;
  let dueAt = 0;
  let stopped = false;

  async function check(): Promise<void> {
    const started = performance.now();
    const checked = await verifyUnlessPruned(db, end?.hash, () => stopped).catch((error: unknown) => {
      if (!stopped) log({ level: 'error', message: `the audit log could not be checked: ${String(error)}` });
    });
    dueAt = performance.now() + restFactor * (performance.now() - started);
    const problem = checked === undefined || checked instanceof AppError ? checked?.message : removalProblem(checked, end);
    if (problem !== undefined && state?.hasDrifted !== true) log({ level: 'error', message: problem });
    if (checked === undefined || checked instanceof AppError) {
      state = checked === undefined ? undefined : { hasDrifted: true, entries: state?.entries ?? 0, checkedAt: now() };
      return;
    }
    if (problem === undefined) end = checked.last;
    state = { hasDrifted: problem !== undefined, entries: checked.entries, checkedAt: now() };
  }

  return {
    async state() {
      if (stopped) return state;
      if (performance.now() >= dueAt) {
        underWay ??= check().finally(() => {
          underWay = undefined;
        });
      }
      const over = new AbortController();
      await Promise.race([underWay, delay(waitMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined)]);
      over.abort();
      return state;
    },
    async stop() {
      stopped = true;
      await underWay;
    },
  };
}

/** Verifies without a long transaction, which would stop all other requests of an embedded database; returns the error of a broken chain. */
async function verifyUnlessPruned(
  db: Kysely<Tables>,
  wantedHash: string | undefined,
  stopped: () => boolean,
): Promise<VerifiedChain | AppError> {
  const chain = await verifyEntries(db, wantedHash, stopped).catch(asBrokenChain);
  return chain instanceof AppError ? verifyAuditChain(db, wantedHash).catch(asBrokenChain) : chain;
}

function asBrokenChain(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

/** Returns the problem of a chain without the last entry of the check before, unless that is older than all entries: then it was pruned. */
function removalProblem({ found, first }: VerifiedChain, end: ChainEnd | undefined): string | undefined {
  const isGone = end !== undefined && !found && (first === undefined || first <= end.seq);
  return isGone ? `the audit log no longer has the entry ${end.seq}, which was its last one` : undefined;
}
