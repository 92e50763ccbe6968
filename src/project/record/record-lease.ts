import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApplyLease } from '../../model/applied-record.ts';
import { systemCodeOf } from '../../model/errors.ts';
import { type OpenProject, readableRepository } from '../project.ts';
import type { ProjectContext } from '../resolved-config.ts';
import { readAppliedRecord } from './applied-record.ts';

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

// The clocks of two machines differ.
const clockSkewMs = 5 * 60_000;

/**
 * Returns whether another run holds the lease: its time has not passed, and it is no process of this machine that has ended. No apply
 * takes a lease that ends later than in 15 minutes, so one that does was forged, and blocks nothing.
 */
export function isHeldByOther(lease: ApplyLease | undefined, run: string, now: Date): lease is ApplyLease {
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

/** Renews a lease. */
type Renewable = { readonly renew: () => Promise<void> };

/** Runs work, and renews the lease of its apply while it runs. */
export async function withLease<T>(lease: Renewable, work: () => Promise<T>, intervalMs: number = leaseMs / 3): Promise<T> {
  let renewal = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(lease.renew);
  }, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
  }
}
