import type { PendingWrites } from '../../model/applied-record.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError } from '../../model/errors.ts';
import { isTracked } from '../project.ts';
import type { RecordedEnd } from './applied-record.ts';
import { leaseLostError, notRecorded, overridden, recordRefusal } from './record-findings.ts';
import { msSince, trustMs } from './record-lease.ts';
import {
  beginRecord,
  endRecord,
  openRecorderSession,
  type RecorderInput,
  type RecorderSession,
  type RecorderState,
  renewLease,
} from './recorder-states.ts';

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
  return repository instanceof AppError
    ? brokenRecorder(repository, input)
    : createRecorder(openRecorderSession({ ...input, repository }, input));
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

/** Returns a recorder that holds the state of one apply, and renews its lease once at a time. */
function createRecorder(session: RecorderSession): ApplyRecorder {
  let state: RecorderState = { is: 'waiting' };
  let renewing: Promise<void> | undefined;

  async function renewNow(): Promise<void> {
    if (state.is === 'writing') state = await renewLease(session, state);
  }

  function renew(): Promise<void> {
    renewing ??= renewNow().finally(() => (renewing = undefined));
    return renewing;
  }

  return {
    async begin(writes, approved) {
      const begun = await beginRecord(session, writes, approved);
      state = begun.state;
      return begun.warnings;
    },
    renew,
    async leaseLoss() {
      if (state.is === 'waiting') return undefined;
      if (state.lost?.by === undefined && msSince(state.renewed, session.input.now()) < trustMs) return undefined;
      await renew();
      return state.lost === undefined ? undefined : leaseLostError(state.lost);
    },
    end: (end) => endRecord(session, state, end),
  };
}
