import { appliedRef } from '../../git/applied-refs.ts';
import { diskHint } from '../../git/run-git.ts';
import type { AppliedRecord, PendingWrites } from '../../model/applied-record.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, RefusedError } from '../../model/errors.ts';
import type { AuditMark } from '../../model/gateway.ts';
import type { Allowance, Refusal } from '../../model/plan/plan.ts';
import { isSameTree, readCommittedTree } from '../committed-manifests.ts';
import { type CommittedProject, isTracked, type OpenProject } from '../project.ts';
import type { UnmergedHead } from '../reviewed-commits.ts';
import {
  completeRecord,
  incompleteRecord,
  lateWrites,
  readAppliedRecord,
  type RecordedEnd,
  recordMessage,
  recordQueryOf,
  type ReadRecord,
  withApply,
  unmergedRecord,
  withLate,
  withPending,
} from './applied-record.ts';
import { proveRecord } from './record-proof.ts';
import { type Clocks, isHeldByOther, msSince, newLease, readClocks, trustMs } from './record-lease.ts';
import { createRecordWriter, type RecordWriterInput } from './record-writer.ts';

/** What recording an apply needs. */
type RecorderInput = RecordWriterInput &
  OpenProject & {
    readonly desired: DesiredState;
    /** The record that the plan was made with; read again if undefined. */
    readonly read?: ReadRecord | undefined;
    /** HEAD is not reviewed, and that was allowed. */
    readonly unmergedHead?: Pick<UnmergedHead, 'reviewed'> | undefined;
    readonly allowed: readonly Allowance[];
    /** Reads where the gateway's audit log ends; undefined if it shows none. */
    readonly auditMark: () => Promise<AuditMark | undefined>;
    /** Returns the time by which leases count: that of the gateway, which all applies to a target ask, while the clocks of machines differ. */
    readonly leaseNow: () => Date;
    /** The name of this run. */
    readonly run: string;
  };

/** Records one apply: what it is about to write, before its first write, and its end. */
export type ApplyRecorder = {
  /**
   * Throws RefusedError if another apply runs, or if the writes cannot be recorded. Returns warnings about what was overridden. An
   * approved plan is recorded until an apply is complete.
   */
  readonly begin: (writes: PendingWrites, approved?: string) => Promise<readonly Diagnostic[]>;
  /** Extends the lease; a failure becomes a warning of `end`. */
  readonly renew: () => Promise<void>;
  /** Returns why no further write may start: another apply took over, or the lease is past and cannot be renewed; renews it when it is. */
  readonly leaseLoss: () => Promise<AppError | undefined>;
  /** Returns warnings instead of errors: the apply is done. */
  readonly end: (end: RecordedEnd) => Promise<readonly Diagnostic[]>;
};

const noRecorder: ApplyRecorder = {
  begin: () => Promise.resolve([]),
  renew: () => Promise.resolve(),
  leaseLoss: () => Promise.resolve(undefined),
  end: () => Promise.resolve([]),
};

/** Returns the recorder of an apply; without a repository or a config file nothing is recorded. */
export function openRecorder(input: RecorderInput): ApplyRecorder {
  const { repository } = input;
  if (repository === undefined || !isTracked(input)) return noRecorder;
  return repository instanceof AppError ? brokenRecorder(repository, input) : createRecorder({ ...input, repository }, input);
}

/** Returns a recorder for a repository that cannot be read: it refuses to begin unless that is allowed. */
function brokenRecorder(error: AppError, { allowed }: RecorderInput): ApplyRecorder {
  return {
    async begin() {
      return overridden([recordRefusal(error)], allowed);
    },
    renew: noRecorder.renew,
    leaseLoss: noRecorder.leaseLoss,
    async end() {
      return [notRecorded(error.message, error.hint)];
    },
  };
}

/**
 * Where a recorder is: nothing is written yet, or the record with the writes to come is, under the ids that it has here and on origin.
 * `mark` is where the audit log ended before the first write.
 */
type RecorderState =
  | { readonly is: 'waiting'; readonly mark?: AuditMark | undefined }
  | {
      readonly is: 'writing';
      readonly mark?: AuditMark | undefined;
      /** The record before this apply, and the ids of the one that it wrote. */
      readonly found: ReadRecord;
      readonly record: AppliedRecord;
      /** Whether origin has the record: it was reachable before the first write, or there is none. */
      readonly isShared: boolean;
      /** What other applies added since, after they lost their leases. */
      readonly late: readonly PendingWrites[];
      /** The counter of the signature that they wrote, which the next one has to exceed. */
      readonly counter?: number | undefined;
      /** When the lease was last renewed. */
      readonly renewed: Clocks;
      /** Why the lease could not be renewed last; `by` is the run that took it over. */
      readonly lost?: { readonly failure: AppError; readonly by?: string };
    };

type WritingState = Extract<RecorderState, { readonly is: 'writing' }>;

/** How often a record is read again that other applies move at the same time. */
const mostMoves = 5;

function createRecorder(site: CommittedProject, input: RecorderInput): ApplyRecorder {
  const writer = createRecordWriter(site, input);
  let isHeadApplied: boolean | undefined;
  let state: RecorderState = { is: 'waiting' };

  /** Returns HEAD, and whether its manifests are those that are applied: a commit never changes, and what is applied was loaded before. */
  async function readHead(): Promise<{ readonly commit: string | undefined; readonly isApplied: boolean }> {
    const commit = site.repository.head;
    return { commit, isApplied: (isHeadApplied ??= await isAppliedAt(site, input, commit)) };
  }

  async function readRecord(): Promise<ReadRecord> {
    const { name } = writer;
    const found = input.read ?? (await readAppliedRecord(site.repository, recordQueryOf(site, input.options.origin))).read;
    return found.name === name ? found : { ...found, name, localId: '', originId: '' };
  }

  function leased(record: AppliedRecord, above?: number): Promise<string> {
    return writer.write({ ...record, lease: newLease(input.run, input.leaseNow()) }, above);
  }

  /** Reads the record that another apply moved. Throws AppError when its signature does not count: this run must not sign it. */
  async function readMoved(): Promise<ReadRecord> {
    const { read } = await readAppliedRecord(site.repository, recordQueryOf(site, input.options.origin));
    const { refusals } = await proveRecord(site, read, { ...input.options, applies: true });
    const [refusal] = refusals;
    if (refusal !== undefined) throw new AppError('git/not-recorded', 6, refusal.message, { hint: refusal.hint });
    return read;
  }

  /** Accepts the record that another apply moved, if the lease of this one is still in it: returns false, and remembers who has it, if not. */
  async function acceptMoved(writing: WritingState, failure: AppError): Promise<boolean> {
    const read = await readMoved();
    const { lease } = read.record;
    const { lost: _, ...kept } = writing;
    const ids = { localId: read.localId, originId: read.originId };
    if (lease?.run === input.run)
      state = { ...kept, found: { ...kept.found, ...ids }, late: lateWrites(read.record, kept.record), counter: read.signature?.counter };
    else state = { ...writing, lost: { failure, by: lease?.run ?? 'a run that has ended' } };
    return lease?.run === input.run;
  }

  async function tryRenew(writing: WritingState): Promise<void> {
    const { lost: _, ...kept } = writing;
    const renewed = readClocks(input.now());
    const id = await leased(withLate(kept.record, kept.late), kept.counter);
    await writer.setHere(id, kept.found.localId);
    const here = { ...kept, found: { ...kept.found, localId: id } };
    state = here;
    const failure = kept.isShared ? await writer.push(id, kept.found.originId) : undefined;
    if (failure !== undefined) throw failure;
    writer.remember();
    state = { ...here, renewed, found: { ...here.found, originId: kept.isShared ? id : kept.found.originId } };
  }

  /** Renews the lease. The refs may have moved because an apply that lost its lease added what it had written. */
  async function renew(): Promise<void> {
    for (let move = 0; state.is === 'writing' && state.lost?.by === undefined; move += 1) {
      try {
        await tryRenew(state);
        return;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const failure = await catchAppError(async () => {
          if (error.code !== 'git/locked' || move === mostMoves || state.is === 'waiting') throw error;
          await acceptMoved(state, error);
        });
        if (failure === undefined) continue;
        state = { ...state, lost: { failure } };
        return;
      }
    }
  }

  let renewing: Promise<void> | undefined;

  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => (renewing = undefined));
    return renewing;
  }

  return {
    async begin(writes, approved) {
      let warnings: readonly Diagnostic[] = [];
      try {
        const found = await readRecord();
        const { lease } = found.record;
        if (isHeldByOther(lease, input.run, input.leaseNow())) warnings = overridden([lockedRefusal(lease)], input.allowed);
        const { commit, isApplied } = await readHead();
        const mark = await input.auditMark();
        state = { is: 'waiting', mark };
        const of = isApplied && commit !== undefined ? { commit } : {};
        const before = approved === undefined ? found.record : { ...found.record, approved };
        const record = withPending(withApply(before, mark), { ...of, ...writes });
        const renewed = readClocks(input.now());
        const id = await leased(record);
        // First here, where a damaged clone fails: a failure afterwards would leave the lease on origin.
        await writer.setHere(id, found.localId);
        const failure = await writer.push(id, found.originId);
        try {
          if (failure !== undefined) warnings = [...warnings, ...overridden([recordRefusal(failure)], input.allowed)];
        } catch (error) {
          await writer.setHere(found.localId, id);
          throw error;
        }
        if (failure === undefined) writer.remember();
        const originId = writer.pushes && failure === undefined ? id : found.originId;
        const isShared = originId === id || !writer.pushes;
        const kept = { ...found, record: before, localId: id, originId };
        state = { is: 'writing', mark, found: kept, record, isShared, late: [], renewed };
        return warnings;
      } catch (error) {
        if (!(error instanceof AppError) || error instanceof RefusedError) throw error;
        return [...warnings, ...overridden([recordRefusal(error)], input.allowed)];
      }
    },
    renew: renewOnce,
    async leaseLoss() {
      if (state.is === 'waiting') return undefined;
      if (state.lost?.by === undefined && msSince(state.renewed, input.now()) < trustMs) return undefined;
      await renewOnce();
      return state.lost === undefined ? undefined : leaseLostError(state.lost);
    },
    async end(end) {
      const { lost } = state.is === 'writing' ? state : {};
      try {
        const ended = await endRecord(end);
        const found = state.is === 'writing' ? (state.lost ?? lost) : undefined;
        return [...(found === undefined ? [] : [leaseLost(leaseLostError(found))]), ...ended];
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return [...(lost === undefined ? [] : [leaseLost(leaseLostError(lost))]), notRecorded(error.message, error.hint)];
      }
    },
  };

  /** Records the end, also where another apply moved the record. */
  async function endRecord(end: RecordedEnd): Promise<readonly Diagnostic[]> {
    for (let move = 0; ; move += 1) {
      if (state.is === 'writing' && state.lost?.by !== undefined) return addWrites(end);
      try {
        return await tryEnd(end);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'git/locked' || state.is === 'waiting' || move === mostMoves) throw error;
        await acceptMoved(state, error);
      }
    }
  }

  /** Adds what this apply wrote to the record of the apply that took over its lease, and leaves everything else in it. */
  async function addWrites({ complete, writes, deleted }: RecordedEnd): Promise<readonly Diagnostic[]> {
    const { commit, isApplied } = await readHead();
    const objects = writes.objects.filter(({ id, key = id }) => !deleted.has(key));
    const added = { ...(isApplied && commit !== undefined ? { commit } : {}), objects, edges: writes.edges };
    const unfinished = complete ? [notRecorded('another apply ran at the same time', 'plan again to see what is live')] : [];
    for (let move = 0; ; move += 1) {
      const read = await readMoved();
      const next = withLate(read.record, [added]);
      if (next === read.record) return unfinished;
      try {
        const id = await writer.write(next, read.signature?.counter);
        await writer.setHere(id, read.localId);
        const failure = await writer.push(id, read.originId);
        if (failure !== undefined) throw failure;
        writer.remember();
        return unfinished;
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'git/locked' || move === mostMoves) throw error;
      }
    }
  }

  async function tryEnd(end: RecordedEnd): Promise<readonly Diagnostic[]> {
    const { mark } = state;
    const { commit, isApplied } = await readHead();
    const { record: before, localId, originId, isRepaired } = state.is === 'writing' ? state.found : await readRecord();
    const record = withApply(before, mark, mark === undefined ? undefined : await input.auditMark());
    const applied = isApplied ? commit : undefined;
    const completes = end.complete && applied !== undefined;
    const ended = completes ? endedRecord(record, end, applied) : incompleteRecord(record, end, applied);
    const next = state.is === 'writing' ? withLate(ended, state.late) : ended;
    const isAsRead = state.is === 'waiting' && isRepaired !== true && writer.isSigned && (!writer.pushes || originId === localId);
    const isSaved = isAsRead && recordMessage('', next) === recordMessage('', before);
    const id = isSaved ? localId : await writer.write(next, state.is === 'writing' ? state.counter : undefined);
    if (!isSaved) await writer.setHere(id, localId);
    const failure = isSaved ? undefined : await writer.push(id, originId);
    // Another apply moved the record of origin: it is read again.
    if (failure?.code === 'git/locked' && state.is === 'writing' && state.isShared) throw failure;
    if (failure === undefined) writer.remember();
    if (completes) return [recordedNotice(applied, { name: writer.name, target: site.target.name, pushes: writer.pushes, failure })];
    const unpushed = failure === undefined ? [] : [notRecorded(failure.message, pushHint(failure))];
    return end.complete ? [notApplied(commit), ...unpushed] : unpushed;
  }

  function endedRecord(before: AppliedRecord, end: RecordedEnd, commit: string): AppliedRecord {
    const { unmergedHead } = input;
    if (unmergedHead === undefined) return completeRecord(before, end, commit);
    return unmergedRecord(before, end, { commit, reviewed: unmergedHead.reviewed });
  }
}

/** Returns whether the manifests of a commit are those that are applied. */
async function isAppliedAt(site: CommittedProject, { desired, target }: RecorderInput, commit: string | undefined): Promise<boolean> {
  if (commit === undefined) return false;
  const { value: tree } = await readCommittedTree(site, commit);
  const isOfGateway = tree !== undefined && tree.target.url === target.url;
  return isOfGateway && (await isSameTree(tree, site, { commit, desired }));
}

function lockedRefusal({ run, until }: NonNullable<AppliedRecord['lease']>): Refusal {
  return {
    code: 'git/locked',
    message: `another apply to this target is running: ${run}, at most until ${until}`,
    hint: 'wait for it with --lock-timeout 10m; override only if that run has certainly ended',
    allowable: true,
  };
}

function recordRefusal(failure: AppError): Refusal {
  if (failure.code === 'git/locked') {
    return {
      code: 'git/locked',
      message: 'another apply to this target changed its record since this plan',
      hint: 'plan again, or pass --lock-timeout 10m to wait and plan again',
      allowable: false,
    };
  }
  return {
    code: 'git/not-recorded',
    message: `the record of this apply cannot be written: ${failure.message}`,
    hint: pushHint(failure),
    allowable: true,
  };
}

/** Returns a warning for each overridden refusal. Throws RefusedError for the others. */
function overridden(refusals: readonly Refusal[], allowed: readonly Allowance[]): readonly Diagnostic[] {
  const reasonOf = ({ code, allowable }: Refusal): string | undefined =>
    allowable ? allowed.find((one) => one.code === code)?.reason : undefined;
  const refused = refusals.filter((refusal) => reasonOf(refusal) === undefined);
  if (refused.length > 0) throw new RefusedError(refused);
  return refusals.map((refusal) => ({
    code: refusal.code,
    severity: 'warning',
    message: `${refusal.message}; allowed: ${reasonOf(refusal)}`,
  }));
}

type SavedNotice = { readonly name: string; readonly target: string; readonly pushes: boolean; readonly failure: AppError | undefined };

function recordedNotice(commit: string, { name, target, pushes, failure }: SavedNotice): Diagnostic {
  const short = commit.slice(0, 10);
  if (failure !== undefined)
    return notRecorded(`${short} is recorded in this clone, but not on origin: ${failure.message}`, pushHint(failure));
  const message = `${short} is recorded as completely applied to "${target}" (${appliedRef(name)})`;
  return { code: 'git/applied-recorded', severity: 'notice', message: pushes ? `${message}, here and on origin` : message };
}

function notApplied(commit: string | undefined): Diagnostic {
  if (commit === undefined) return notRecorded('nothing is committed yet', 'commit the manifests, then apply again');
  return notRecorded(`the applied manifests differ from HEAD (${commit.slice(0, 10)})`, 'commit them, then apply again');
}

/** Returns the error of a write that must not start, because this run has no lease any more. */
function leaseLostError({ failure, by }: NonNullable<WritingState['lost']>): AppError {
  const message =
    by === undefined
      ? `the lease of this apply cannot be renewed: ${failure.message}`
      : `another apply took over the lease of this one: ${by}`;
  return new AppError('apply/lease-lost', 5, message, { hint: 'plan and apply again', cause: failure });
}

function leaseLost({ message }: AppError): Diagnostic {
  const hint = 'another apply may have run at the same time; plan again to see what is live';
  return { code: 'git/locked', severity: 'warning', message, hint };
}

/** Returns the error that the work throws, if it is one of Ostiary. */
async function catchAppError(work: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error;
  }
}

function pushHint({ code, message, hint }: AppError): string {
  const ofDisk = diskHint(message);
  if (ofDisk !== undefined) return ofDisk;
  if ((code === 'git/not-recorded' || code === 'git/ref-damaged') && hint !== undefined) return hint;
  if (code === 'git/locked') return 'another apply ran at the same time; plan again';
  if (
    /Could not (?:read from remote|resolve host)|Failed to connect|Connection (?:refused|timed out)/i.test(message) &&
    !/denied/i.test(message)
  )
    return 'check that origin is reachable; apply again, or pass --no-origin to skip the push';
  return 'the token needs write access (contents: write on GitHub); apply again, or pass --no-origin to skip the push';
}

function notRecorded(why: string, hint: string | undefined): Diagnostic {
  const message = `not recorded as completely applied, so the next plan compares with an earlier commit: ${why}`;
  return { code: 'git/applied-not-recorded', severity: 'warning', message, hint };
}
