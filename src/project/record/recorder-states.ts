import { type AppliedRecord, type PendingWrites, recordedKeyOf } from '../../model/applied-record.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, RefusedError } from '../../model/errors.ts';
import { defined } from '../../model/json.ts';
import type { AuditMark } from '../../model/gateway.ts';
import type { Allowance } from '../../model/plan/plan.ts';
import { isSameTree, readCommittedTree } from '../committed-manifests.ts';
import type { CommittedProject, OpenProject } from '../project.ts';
import type { UnmergedHead } from '../reviewed-commits.ts';
import {
  completeRecord,
  incompleteRecord,
  lateWrites,
  readAppliedRecord,
  type RecordedEnd,
  recordMessage,
  type ReadRecord,
  withApply,
  unmergedRecord,
  withLate,
  withPending,
} from './applied-record.ts';
import { proveRecord } from './record-proof.ts';
import {
  leaseLost,
  leaseLostError,
  lockedRefusal,
  type LostLease,
  notApplied,
  notRecorded,
  overridden,
  pushHint,
  recordedNotice,
  recordRefusal,
} from './record-findings.ts';
import { type Clocks, isHeldByOther, newLease, readClocks } from './record-lease.ts';
import { createRecordWriter, type RecordWriter, type RecordWriterInput, type WrittenRecord } from './record-writer.ts';

/** What recording an apply needs. */
export type RecorderInput = RecordWriterInput &
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

/** What stays the same while an apply is recorded. */
export type RecorderSession = {
  readonly site: CommittedProject;
  readonly input: RecorderInput;
  /** Returns the writer of the ref that the next apply moves, which is the same for the whole session. */
  readonly writerOf: (read: Pick<ReadRecord, 'ownName'>) => RecordWriter;
  /** Returns HEAD, and the same commit as `applied` if its manifests are those that are applied. */
  readonly readHead: () => Promise<{ readonly commit: string | undefined; readonly applied: string | undefined }>;
};

/** Opens the session of an apply. */
export function openRecorderSession(site: CommittedProject, input: RecorderInput): RecorderSession {
  const commit = site.repository.head;
  let isApplied: boolean | undefined;
  let writer: RecordWriter | undefined;
  return {
    site,
    input,
    writerOf: ({ ownName }) => (writer ??= createRecordWriter(site, input, ownName)),
    async readHead() {
      // A commit never changes, and what is applied was loaded before.
      isApplied ??= await isAppliedAt(site, input, commit);
      return { commit, applied: isApplied ? commit : undefined };
    },
  };
}

/** Returns whether the manifests of a commit are those that are applied. */
async function isAppliedAt(site: CommittedProject, { desired, target }: RecorderInput, commit: string | undefined): Promise<boolean> {
  if (commit === undefined) return false;
  const { value: tree } = await readCommittedTree(site, commit);
  const isOfGateway = tree !== undefined && tree.target.url === target.url;
  return isOfGateway && (await isSameTree(tree, desired));
}

/**
 * Where a recorder is: nothing is written yet, or the record with the writes to come is, under the ids that it has here and on origin.
 * `mark` is where the audit log ended before the first write.
 */
export type RecorderState =
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
      /** The lease is lost; another run has it, or the next renewal may succeed. */
      readonly lost?: LostLease;
    };

export type WritingState = Extract<RecorderState, { readonly is: 'writing' }>;

/** How often a record is read again that other applies move at the same time. */
const mostMoves = 5;

/**
 * Records what the apply is about to write: from `waiting` to `writing`, or still `waiting` if the writes cannot be recorded and that is
 * allowed. Throws RefusedError if another apply runs, or if they cannot be recorded.
 */
export async function beginRecord(
  session: RecorderSession,
  writes: PendingWrites,
  approved: string | undefined,
): Promise<{ readonly state: RecorderState; readonly warnings: readonly Diagnostic[] }> {
  const { input, readHead } = session;
  const { allowed } = input;
  let state: RecorderState = { is: 'waiting' };
  let warnings: readonly Diagnostic[] = [];
  const begun = await resultOf(async () => {
    const found = await readRecord(session);
    const writer = session.writerOf(found);
    const { lease } = found.record;
    if (isHeldByOther(lease, input.run, input.leaseNow())) warnings = overridden([lockedRefusal(lease)], allowed);
    const { applied: commit } = await readHead();
    const mark = await input.auditMark();
    state = { is: 'waiting', mark };
    const before = approved === undefined ? found.record : { ...found.record, approved };
    const record = withPending(withApply(before, mark), { ...defined({ commit }), ...writes });
    const renewed = readClocks(input.now());
    const id = await writer.write(withLease(session, record), found);
    // First here, where a damaged clone fails: a failure afterwards would leave the lease on origin.
    await writer.setHere(id, found.localId);
    const failure = await writer.push(id, found.originId);
    try {
      if (failure !== undefined) warnings = [...warnings, ...overridden([recordRefusal(failure)], allowed)];
    } catch (error) {
      await writer.setHere(found.localId, id);
      throw error;
    }
    if (failure === undefined) writer.remember();
    const originId = writer.pushes && failure === undefined ? id : found.originId;
    const isShared = originId === id || !writer.pushes;
    state = { is: 'writing', mark, found: { ...found, record: before, localId: id, originId }, record, isShared, late: [], renewed };
  });
  if ('failure' in begun) warnings = [...warnings, ...overridden([recordRefusal(begun.failure)], allowed)];
  return { state, warnings };
}

/** Renews the lease. The refs may have moved because an apply that lost its lease added what it had written. */
export async function renewLease(session: RecorderSession, writing: WritingState): Promise<WritingState> {
  let state = writing;
  for (let move = 0; state.lost?.by === undefined; move += 1) {
    const extended = await extendLease(session, state);
    state = extended.state;
    const { failure } = extended;
    if (failure === undefined) return state;
    if (failure.code !== 'git/locked' || move === mostMoves) return { ...state, lost: { failure } };
    const moved = await resultOf(() => acceptMoved(session, state, failure));
    if ('failure' in moved) return { ...state, lost: moved };
    state = moved.value;
  }
  return state;
}

/** Writes the record with a new lease, here and then on origin; the state has the ids as far as that came. */
async function extendLease(
  session: RecorderSession,
  writing: WritingState,
): Promise<{ readonly state: WritingState; readonly failure?: AppError }> {
  const { lost: _, ...kept } = writing;
  const writer = session.writerOf(kept.found);
  const renewed = readClocks(session.input.now());
  const written = await resultOf(async () => {
    const made = await writer.write(withLease(session, withLate(kept.record, kept.late)), lastOf(kept));
    await writer.setHere(made, kept.found.localId);
    return made;
  });
  if ('failure' in written) return { state: writing, ...written };
  const { value: id } = written;
  const here = { ...kept, found: { ...kept.found, localId: id } };
  const failure = kept.isShared ? await writer.push(id, kept.found.originId) : undefined;
  if (failure !== undefined) return { state: here, failure };
  writer.remember();
  return { state: { ...here, renewed, found: { ...here.found, originId: kept.isShared ? id : kept.found.originId } } };
}

/** Accepts the record that another apply moved, if the lease of this one is still in it; remembers who has the lease, if not. */
async function acceptMoved(session: RecorderSession, writing: WritingState, failure: AppError): Promise<WritingState> {
  const { at, localId, originId, record, signature } = await readMoved(session);
  const { lost: _, ...kept } = writing;
  if (record.lease?.run !== session.input.run) return { ...kept, lost: { failure, by: record.lease?.run ?? 'a run that has ended' } };
  return {
    ...kept,
    found: { ...kept.found, at, localId, originId },
    late: lateWrites(record, kept.record),
    counter: signature?.counter,
  };
}

/** Records the end, also where another apply moved the record. Returns warnings instead of errors: the apply is done. */
export async function endRecord(session: RecorderSession, state: RecorderState, end: RecordedEnd): Promise<readonly Diagnostic[]> {
  let current = state;
  const ended = await resultOf(async () => {
    for (let move = 0; ; move += 1) {
      if (lostLeaseOf(current)?.by !== undefined) return addWrites(session, end);
      const tried = await resultOf(() => tryEnd(session, current, end));
      if ('value' in tried) return tried.value;
      if (tried.failure.code !== 'git/locked' || current.is === 'waiting' || move === mostMoves) throw tried.failure;
      current = await acceptMoved(session, current, tried.failure);
    }
  });
  const lost = lostLeaseOf(current) ?? lostLeaseOf(state);
  return [
    ...(lost === undefined ? [] : [leaseLost(leaseLostError(lost))]),
    ...('value' in ended ? ended.value : [notRecorded(ended.failure.message, ended.failure.hint)]),
  ];
}

function lostLeaseOf(state: RecorderState): LostLease | undefined {
  return state.is === 'writing' ? state.lost : undefined;
}

/** Adds what this apply wrote to the record of the apply that took over its lease, and leaves everything else in it. */
async function addWrites(session: RecorderSession, { complete, writes, deleted }: RecordedEnd): Promise<readonly Diagnostic[]> {
  const { applied: commit } = await session.readHead();
  const objects = writes.objects.filter((one) => !deleted.has(recordedKeyOf(one)));
  const added = { ...defined({ commit }), objects, edges: writes.edges };
  for (let move = 0; ; move += 1) {
    const read = await readMoved(session);
    const writer = session.writerOf(read);
    const next = withLate(read.record, [added]);
    const written = await resultOf(async () => {
      if (next === read.record) return;
      const id = await writer.write(next, { at: read.at, counter: read.signature?.counter });
      await writer.setHere(id, read.localId);
      const failure = await writer.push(id, read.originId);
      if (failure !== undefined) throw failure;
      writer.remember();
    });
    if ('value' in written) return complete ? [notRecorded('another apply ran at the same time', 'plan again to see what is live')] : [];
    if (written.failure.code !== 'git/locked' || move === mostMoves) throw written.failure;
  }
}

/** Writes the record of the end, unless it is the one that was read. Throws AppError if another apply moved it. */
async function tryEnd(session: RecorderSession, state: RecorderState, end: RecordedEnd): Promise<readonly Diagnostic[]> {
  const { site, input } = session;
  const { mark } = state;
  const { commit, applied } = await session.readHead();
  const found = state.is === 'writing' ? state.found : await readRecord(session);
  const writer = session.writerOf(found);
  const { record: before, localId, originId, isRepaired } = found;
  const record = withApply(before, mark, mark === undefined ? undefined : await input.auditMark());
  const completes = end.complete && applied !== undefined;
  const ended = completes ? completedRecord(input, record, end, applied) : incompleteRecord(record, end, applied);
  const next = state.is === 'writing' ? withLate(ended, state.late) : ended;
  const isAsRead =
    state.is === 'waiting' &&
    found.name === writer.name &&
    isRepaired !== true &&
    writer.isSigned &&
    (!writer.pushes || originId === localId);
  const isSaved = isAsRead && recordMessage('', next) === recordMessage('', before);
  const id = isSaved ? localId : await writer.write(next, state.is === 'writing' ? lastOf(state) : { at: found.at });
  if (!isSaved) await writer.setHere(id, localId);
  const failure = isSaved ? undefined : await writer.push(id, originId);
  // Another apply moved the record of origin: it is read again.
  if (failure?.code === 'git/locked' && state.is === 'writing' && state.isShared) throw failure;
  if (failure === undefined) writer.remember();
  if (completes) return [recordedNotice(applied, { name: writer.name, target: site.target.name, pushes: writer.pushes, failure })];
  const unpushed = failure === undefined ? [] : [notRecorded(failure.message, pushHint(failure))];
  return end.complete ? [notApplied(commit), ...unpushed] : unpushed;
}

/** Returns the record of a complete apply. */
function completedRecord({ unmergedHead }: RecorderInput, before: AppliedRecord, end: RecordedEnd, commit: string): AppliedRecord {
  if (unmergedHead === undefined) return completeRecord(before, end, commit);
  return unmergedRecord(before, end, { commit, reviewed: unmergedHead.reviewed });
}

async function readRecord({ site, input }: RecorderSession): Promise<ReadRecord> {
  return input.read ?? (await readAppliedRecord(site, input.options.origin)).read;
}

/** Reads the record that another apply moved. Throws AppError when its signature does not count: this run must not sign it. */
async function readMoved({ site, input: { options } }: RecorderSession): Promise<ReadRecord> {
  const { read } = await readAppliedRecord(site, options.origin);
  const { refusals } = await proveRecord(site, read, { ...options, applies: true });
  const [refusal] = refusals;
  if (refusal !== undefined) throw new AppError('git/not-recorded', 6, refusal.message, { hint: refusal.hint });
  return read;
}

function withLease({ input }: RecorderSession, record: AppliedRecord): AppliedRecord {
  return { ...record, lease: newLease(input.run, input.leaseNow()) };
}

function lastOf({ found: { at }, counter }: WritingState): WrittenRecord {
  return { at, counter };
}

/** Returns the result of the work, or the error that it throws, if that is one of Ostiary and no refusal. */
async function resultOf<T>(work: () => Promise<T>): Promise<{ readonly value: T } | { readonly failure: AppError }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof RefusedError) throw error;
    return { failure: error };
  }
}
