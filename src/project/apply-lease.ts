import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { repositoryOf } from '../git/repository.ts';
import type { ApplyLease } from '../model/applied-record.ts';
import { readAppliedRecord } from './applied-record.ts';
import type { PlanBaseInput } from './plan-base.ts';
import type { ProjectContext } from './resolved-config.ts';

/** How long a lease lasts after it was taken or renewed. */
export const leaseMs: number = 15 * 60_000;

/** Returns the name of this run. A job that runs again has the same name. */
export function runName({ env }: Pick<ProjectContext, 'env'>): string {
  const { GITHUB_RUN_ID: run, GITHUB_JOB: job = '', GITHUB_REPOSITORY: repository = '' } = env;
  return run === undefined || run === '' ? `${hostname()}:${process.pid}:${randomUUID()}` : `github:${repository}:${run}:${job}`;
}

/** Returns a lease that starts now. */
export function newLease(run: string, now: Date): ApplyLease {
  return { run, until: new Date(now.getTime() + leaseMs).toISOString() };
}

/** Returns whether another run holds the lease: its time has not passed, and it is no process of this machine that has ended. */
export function isHeldByOther(lease: ApplyLease | undefined, run: string, now: Date): lease is ApplyLease {
  if (lease === undefined || lease.run === run || Date.parse(lease.until) <= now.getTime()) return false;
  const [host, pid] = lease.run.split(':');
  return host !== hostname() || isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Returns whether another run holds the lease of a target now. */
export async function isLeased(
  { config, target, context, options }: Omit<PlanBaseInput, 'desired'>,
  { run, now }: { readonly run: string; readonly now: Date },
): Promise<boolean> {
  const repository = await repositoryOf({ folder: config.root, env: context.env });
  if (repository === undefined) return false;
  const { read } = await readAppliedRecord(repository, { target: target.name, origin: options.origin });
  return isHeldByOther(read.record.lease, run, now);
}
