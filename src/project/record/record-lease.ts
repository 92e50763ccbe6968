import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isProcessAlive, processPlace, processStart } from '../../disk/processes.ts';
import type { ApplyLease } from '../../model/applied-record.ts';
import { type OpenProject, readableRepository } from '../project.ts';
import type { ProjectContext } from '../resolved-config.ts';
import { readAppliedRecord } from './applied-record.ts';

/** How long a lease lasts after it was taken or renewed. */
export const leaseMs: number = 15 * 60_000;

/** How long a run trusts its lease after it was taken or renewed: the rest is for a write in flight, and for the clocks of other machines. */
export const trustMs: number = 10 * 60_000;

/** The time by two clocks: the steady one may pause while the machine sleeps, and the other one can be set. */
export type Clocks = { readonly wall: number; readonly steady: number };

/** Reads both clocks. */
export function readClocks(now: Date): Clocks {
  return { wall: now.getTime(), steady: performance.now() };
}

/** Returns the longest time that may have passed since both clocks were read. */
export function msSince({ wall, steady }: Clocks, now: Date): number {
  return Math.max(now.getTime() - wall, performance.now() - steady);
}

/** Returns the name of this run: the attempt of its job on GitHub, its process, and where that process id counts. */
export function runName({ env }: Pick<ProjectContext, 'env'>): string {
  const { GITHUB_RUN_ID: run = '', GITHUB_JOB: job = '', GITHUB_REPOSITORY: repository = '', GITHUB_RUN_ATTEMPT: attempt = '' } = env;
  const attemptName = run === '' ? [] : ['github', repository, run, job, attempt];
  return [...attemptName, hostname(), process.pid, placeName(), processStart(process.pid), randomUUID()].join(':');
}

/** Returns whether a run was an earlier attempt of the job: GitHub starts the next one when all processes of it have ended. A matrix has many in one attempt. */
function isEarlierAttempt(other: string, run: string): boolean {
  const [theirs, ours] = [other.split(':'), run.split(':')];
  return run.startsWith('github:') && ours.slice(0, 4).join() === theirs.slice(0, 4).join() && Number(theirs[4]) < Number(ours[4]);
}

/** Returns a short name of the place of this process: containers may share a host name, and each counts its processes from 1. */
function placeName(): string {
  const place = processPlace();
  return place === '' ? '' : createHash('sha256').update(place).digest('hex').slice(0, 12);
}

/** Returns a lease that starts now. */
export function newLease(run: string, now: Date): ApplyLease {
  return { run, until: new Date(now.getTime() + leaseMs).toISOString() };
}

// The clocks of two machines differ.
const clockSkewMs = 5 * 60_000;

/**
 * Returns whether another run holds the lease: its time has not passed, and it is no process of this place that has ended, and no
 * earlier attempt of this job. No apply takes a lease that ends later than in 15 minutes, so one that does was forged, and blocks nothing.
 */
export function isHeldByOther(lease: ApplyLease | undefined, run: string, now: Date): lease is ApplyLease {
  if (lease === undefined || lease.run === run || Date.parse(lease.until) <= now.getTime()) return false;
  if (!(Date.parse(lease.until) <= now.getTime() + leaseMs + clockSkewMs)) return false;
  if (isEarlierAttempt(lease.run, run)) return false;
  const [host, pid, place, start] = lease.run.replace(/^github:(?:[^:]*:){4}/, '').split(':');
  return host !== hostname() || place !== placeName() || start === undefined || isProcessAlive(Number(pid), start);
}

/** Returns whether another run holds the lease of a target now. */
export async function isLeased(
  project: OpenProject,
  { origin, run, now }: { readonly origin: boolean; readonly run: string; readonly now: Date },
): Promise<boolean> {
  const repository = readableRepository(project);
  if (repository === undefined) return false;
  const { read } = await readAppliedRecord({ ...project, repository }, origin);
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
