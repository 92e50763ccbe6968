import { appliedRef } from '../../git/applied-refs.ts';
import { diskHint } from '../../git/run-git.ts';
import type { AppliedRecord } from '../../model/applied-record.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, RefusedError } from '../../model/errors.ts';
import type { Allowance, Refusal } from '../../model/plan/plan.ts';

/** Why the lease could not be renewed last; `by` is the run that took it over. */
export type LostLease = { readonly failure: AppError; readonly by?: string };

/** Refuses an apply beside one that runs. */
export function lockedRefusal({ run, until }: NonNullable<AppliedRecord['lease']>): Refusal {
  return {
    code: 'git/locked',
    message: `another apply to this target is running: ${run}, at most until ${until}`,
    hint: 'wait for it with --lock-timeout 10m; override only if that run has certainly ended',
    allowable: true,
  };
}

/** Refuses an apply that cannot be recorded. */
export function recordRefusal(failure: AppError): Refusal {
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
export function overridden(refusals: readonly Refusal[], allowed: readonly Allowance[]): readonly Diagnostic[] {
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

/** Reports a complete apply, and where its record is. */
export function recordedNotice(commit: string, { name, target, pushes, failure }: SavedNotice): Diagnostic {
  const short = commit.slice(0, 10);
  if (failure !== undefined)
    return notRecorded(`${short} is recorded in this clone, but not on origin: ${failure.message}`, pushHint(failure));
  const message = `${short} is recorded as completely applied to "${target}" (${appliedRef(name)})`;
  return { code: 'git/applied-recorded', severity: 'notice', message: pushes ? `${message}, here and on origin` : message };
}

/** Warns that no commit has what was applied. */
export function notApplied(commit: string | undefined): Diagnostic {
  if (commit === undefined) return notRecorded('nothing is committed yet', 'commit the manifests, then apply again');
  return notRecorded(`the applied manifests differ from HEAD (${commit.slice(0, 10)})`, 'commit them, then apply again');
}

/** Returns the error of a write that must not start, because this run has no lease any more. */
export function leaseLostError({ failure, by }: LostLease): AppError {
  const message =
    by === undefined
      ? `the lease of this apply cannot be renewed: ${failure.message}`
      : `another apply took over the lease of this one: ${by}`;
  return new AppError('apply/lease-lost', 5, message, { hint: 'plan and apply again', cause: failure });
}

/** Warns that another apply may have run at the same time. */
export function leaseLost({ message }: AppError): Diagnostic {
  const hint = 'another apply may have run at the same time; plan again to see what is live';
  return { code: 'git/locked', severity: 'warning', message, hint };
}

/** Returns what to do about a record that could not be written. */
export function pushHint({ code, message, hint }: AppError): string {
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

/** Warns that a complete apply is not recorded as one. */
export function notRecorded(why: string, hint: string | undefined): Diagnostic {
  const message = `not recorded as completely applied, so the next plan compares with an earlier commit: ${why}`;
  return { code: 'git/applied-not-recorded', severity: 'warning', message, hint };
}
