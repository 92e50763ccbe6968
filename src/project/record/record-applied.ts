import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { appliedRef, appliedRefName, pushAppliedRef, setAppliedRef, writeRecordCommit } from '../../git/applied-refs.ts';
import { hasOrigin } from '../../git/origin.ts';
import { headOf } from '../../git/repository.ts';
import type { AppliedRecord, ApplyLease, PendingWrites } from '../../model/applied-record.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, RefusedError, systemCodeOf } from '../../model/errors.ts';
import type { AuditMark } from '../../model/gateway.ts';
import type { Allowance, Refusal } from '../../model/plan/plan.ts';
import {
  commitsOf,
  completeRecord,
  incompleteRecord,
  isPlainRecord,
  readAppliedRecord,
  type RecordedEnd,
  recordMessage,
  type ReadRecord,
  withApply,
  unmergedRecord,
  withPending,
} from './applied-record.ts';
import { isSameTree, readCommittedTree } from '../committed-manifests.ts';
import { isTracked, type PlanBaseInput } from '../plan-base.ts';
import { cacheFolderOf, type CommittedProject, type OpenProject, readableRepository } from '../project.ts';
import { rememberSigned, type RecordProof } from './record-proof.ts';
import { readRecordSigner, recordHash, signRecord, type SignedHash } from './record-signature.ts';
import type { UnmergedHead } from '../reviewed-commits.ts';
import type { ProjectContext } from '../resolved-config.ts';

/** What recording an apply needs besides the project. */
type RecorderInput = PlanBaseInput & {
  /** The record that the plan was made with; read again if undefined. */
  readonly read?: ReadRecord | undefined;
  /** HEAD is not reviewed, and that was allowed. */
  readonly unmergedHead?: Pick<UnmergedHead, 'reviewed'> | undefined;
  /** How far record keys prove the record that the plan was made with. */
  readonly proof?: RecordProof | undefined;
  readonly allowed: readonly Allowance[];
  /** Reads where the gateway's audit log ends; undefined if it shows none. */
  readonly auditMark: () => Promise<AuditMark | undefined>;
  readonly now: () => Date;
  /** The name of this run. */
  readonly run: string;
};

/** Records one apply: what it is about to write, before its first write, and its end. */
export type ApplyRecorder = {
  /** Throws RefusedError if another apply runs, or if the writes cannot be recorded. Returns warnings about what was overridden. */
  readonly begin: (writes: PendingWrites) => Promise<readonly Diagnostic[]>;
  /** Extends the lease; a failure becomes a warning of `end`. */
  readonly renew: () => Promise<void>;
  /** Returns warnings instead of errors: the apply is done. */
  readonly end: (end: RecordedEnd) => Promise<readonly Diagnostic[]>;
};

const noRecorder: ApplyRecorder = { begin: () => Promise.resolve([]), renew: () => Promise.resolve(), end: () => Promise.resolve([]) };

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
    async end() {
      return [notRecorded(error.message, error.hint)];
    },
  };
}

/** Runs work, and renews the lease of its apply while it runs. */
export async function withLease<T>(recorder: ApplyRecorder, work: () => Promise<T>, intervalMs: number = leaseMs / 3): Promise<T> {
  let renewal = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(recorder.renew);
  }, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
  }
}

/** A record that this apply has written, with its pending writes; the record before them is that of `read`. */
type BegunApply = ReadRecord & { readonly pending: AppliedRecord };

type Head = { readonly commit: string | undefined; readonly isApplied: boolean };

function createRecorder(site: CommittedProject, input: RecorderInput): ApplyRecorder {
  const { repository, target } = site;
  const name = appliedRefName(repository.prefix, target.name);
  const pushes = input.options.origin && hasOrigin(repository);
  const signer = readRecordSigner(input.context);
  const subject = { name, url: target.url };
  let last: SignedHash | undefined;
  let begun: BegunApply | undefined;
  let lost: Diagnostic | undefined;
  let mark: AuditMark | undefined;
  let lastHead: Head | undefined;
  const readHead = async (): Promise<Head> => {
    const commit = await headOf(repository);
    // A commit never changes, and what is applied was loaded before.
    if (lastHead === undefined || lastHead.commit !== commit) lastHead = { commit, isApplied: await isAppliedAt(site, input, commit) };
    return lastHead;
  };
  /** Writes a record, signed if there is a key. */
  const write = async (record: AppliedRecord): Promise<string> => {
    if (typeof signer !== 'object') return writeRecord(site, record, { name, now: input.now() });
    const counter = Math.max(1 + (last?.counter ?? input.proof?.counter ?? 0), input.now().getTime());
    last = signRecord(signer, subject, { counter, content: recordHash(record) });
    return writeRecord(site, record, { name, now: input.now(), signed: last });
  };
  /** Keeps that the last record was written where others read it. */
  const remember = (): void => {
    if (last !== undefined) rememberSigned(cacheFolderOf(input, input.options.cache), subject, last);
  };
  const read = async (): Promise<ReadRecord> => {
    const found = input.read ?? (await readAppliedRecord(repository, { target: target.name, origin: input.options.origin })).read;
    return found.name === name ? found : { ...found, name, localId: '', originId: '' };
  };
  return {
    async begin(writes) {
      let warnings: readonly Diagnostic[] = [];
      try {
        const found = await read();
        const { record } = found;
        if (isHeldByOther(record.lease, input.run, input.now())) warnings = overridden([lockedRefusal(record.lease)], input.allowed);
        const { commit, isApplied } = await readHead();
        mark = await input.auditMark();
        const next = withPending(withApply(record, mark), { ...(isApplied && commit !== undefined ? { commit } : {}), ...writes });
        const commitId = await write({ ...next, lease: newLease(input.run, input.now()) });
        const failure = pushes ? await pushAppliedRef(repository, name, { id: commitId, expected: found.originId }) : undefined;
        if (failure !== undefined) warnings = [...warnings, ...overridden([recordRefusal(failure)], input.allowed)];
        await setAppliedRef(repository, name, commitId, found.localId);
        if (failure === undefined) remember();
        begun = { ...found, pending: next, localId: commitId, originId: pushes && failure === undefined ? commitId : found.originId };
        return warnings;
      } catch (error) {
        if (!(error instanceof AppError) || error instanceof RefusedError) throw error;
        return [...warnings, ...overridden([recordRefusal(error)], input.allowed)];
      }
    },
    async renew() {
      if (begun === undefined) return;
      try {
        const { pending, localId, originId } = begun;
        const id = await write({ ...pending, lease: newLease(input.run, input.now()) });
        // Origin was not reachable before the first write, and that was allowed.
        const failure = pushes && originId === localId ? await pushAppliedRef(repository, name, { id, expected: originId }) : undefined;
        if (failure !== undefined) throw failure;
        await setAppliedRef(repository, name, id, localId);
        remember();
        begun = { ...begun, localId: id, originId: originId === localId ? id : originId };
        lost = undefined;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        lost = leaseLost(error);
      }
    },
    async end(end) {
      const [notices, warnings] = [await endRecord(end), lost === undefined ? [] : [lost]];
      return [...warnings, ...notices];
    },
  };

  function endedRecord(before: AppliedRecord, end: RecordedEnd, commit: string): AppliedRecord {
    const { unmergedHead } = input;
    if (unmergedHead === undefined) return completeRecord(before, end, commit);
    return unmergedRecord(before, end, { commit, reviewed: unmergedHead.reviewed });
  }

  async function endRecord(end: RecordedEnd): Promise<readonly Diagnostic[]> {
    try {
      const { commit, isApplied } = await readHead();
      const { record: before, localId, originId, isRepaired } = begun ?? (await read());
      const record = withApply(before, mark, mark === undefined ? undefined : await input.auditMark());
      const applied = isApplied ? commit : undefined;
      const completes = end.complete && applied !== undefined;
      const next = completes ? endedRecord(record, end, applied) : incompleteRecord(record, end, applied);
      const isSigned = typeof signer !== 'object' || input.proof?.signedBy === signer.key;
      const isRead = begun === undefined && isRepaired !== true && isSigned && (!pushes || originId === localId);
      const isSaved = isRead && isSameRecord(next, before);
      const id = isSaved ? localId : await write(next);
      if (!isSaved) await setAppliedRef(repository, name, id, localId);
      const failure = pushes && !isSaved ? await pushAppliedRef(repository, name, { id, expected: originId }) : undefined;
      if (failure === undefined) remember();
      if (completes) return [recordedNotice(applied, { name, target: target.name, pushes, failure })];
      const unpushed = failure === undefined ? [] : [notRecorded(failure.message, pushHint(failure))];
      return end.complete ? [notApplied(commit), ...unpushed] : unpushed;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [notRecorded(error.message, error.hint)];
    }
  }
}

/** Returns whether the manifests of a commit are those that are applied. */
async function isAppliedAt(site: CommittedProject, { desired, target }: RecorderInput, commit: string | undefined): Promise<boolean> {
  if (commit === undefined) return false;
  const { value: tree } = await readCommittedTree(site, commit);
  const isOfGateway = tree !== undefined && tree.target.url === target.url;
  return isOfGateway && (await isSameTree(tree, site, { commit, desired }));
}

/** Writes a record as an object of git, and returns its id. An unsigned record of nothing but one commit is that commit. */
async function writeRecord(
  { repository }: CommittedProject,
  record: AppliedRecord,
  { name, now, signed }: { readonly name: string; readonly now: Date; readonly signed?: SignedHash },
): Promise<string> {
  const { commit } = record;
  if (signed === undefined && isPlainRecord(record) && commit !== undefined) return commit;
  const { id } = await writeRecordCommit(repository, {
    message: recordMessage(name, record, signed),
    parents: commitsOf(record),
    at: now,
  });
  return id;
}

function isSameRecord(one: AppliedRecord, other: AppliedRecord): boolean {
  return recordMessage('', one) === recordMessage('', other);
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
  if (isStale(failure)) {
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

/** Returns whether another run changed the ref. */
function isStale({ message }: AppError): boolean {
  return /stale info|fetch first|but expected|failed to update ref|cannot lock ref|reference already exists|unable to resolve reference/.test(
    message,
  );
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

function leaseLost({ message }: AppError): Diagnostic {
  return {
    code: 'git/locked',
    severity: 'warning',
    message: `the lease of this apply could not be renewed, so another apply may have run at the same time: ${message}`,
    hint: 'plan again to see what is live',
  };
}

function pushHint({ message }: AppError): string {
  if (/stale info|rejected/.test(message)) return 'another apply ran at the same time, or origin rejected the ref; plan again';
  return 'the token needs write access (contents: write on GitHub); apply again, or pass --no-origin to skip the push';
}

function notRecorded(why: string, hint: string | undefined): Diagnostic {
  const message = `not recorded as completely applied, so the next plan compares with an earlier commit: ${why}`;
  return { code: 'git/applied-not-recorded', severity: 'warning', message, hint };
}

/** How long a lease lasts after it was taken or renewed. */
const leaseMs: number = 15 * 60_000;

/** Returns the name of this run. A job that runs again has the same name. */
export function runName({ env }: Pick<ProjectContext, 'env'>): string {
  const { GITHUB_RUN_ID: run, GITHUB_JOB: job = '', GITHUB_REPOSITORY: repository = '' } = env;
  return run === undefined || run === '' ? `${hostname()}:${process.pid}:${randomUUID()}` : `github:${repository}:${run}:${job}`;
}

/** Returns a lease that starts now. */
function newLease(run: string, now: Date): ApplyLease {
  return { run, until: new Date(now.getTime() + leaseMs).toISOString() };
}

// The clocks of two machines differ.
const clockSkewMs = 5 * 60_000;

/**
 * Returns whether another run holds the lease: its time has not passed, and it is no process of this machine that has ended. No apply
 * takes a lease that ends later than in 15 minutes, so one that does was forged, and blocks nothing.
 */
function isHeldByOther(lease: ApplyLease | undefined, run: string, now: Date): lease is ApplyLease {
  if (lease === undefined || lease.run === run || Date.parse(lease.until) <= now.getTime()) return false;
  if (!(Date.parse(lease.until) <= now.getTime() + leaseMs + clockSkewMs)) return false;
  const [host, pid] = lease.run.split(':');
  return host !== hostname() || isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) !== 'ESRCH';
  }
}

/** Returns whether another run holds the lease of a target now. */
export async function isLeased(
  project: OpenProject,
  { origin, run, now }: { readonly origin: boolean; readonly run: string; readonly now: Date },
): Promise<boolean> {
  const repository = readableRepository(project);
  if (repository === undefined) return false;
  const { read } = await readAppliedRecord(repository, { target: project.target.name, origin });
  return isHeldByOther(read.record.lease, run, now);
}
