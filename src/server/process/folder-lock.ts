import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../model/errors.ts';

/** A lock that this process holds; `release` removes it. */
export type FolderLock = { readonly release: () => Promise<void> };

// A takeover takes a millisecond; after a second, the process that started it is dead.
const attempts = 50;
const pauseMs = 20;

/** Creates the lock file for this process. Replaces the lock of a dead process; throws `AppError` when the process is alive. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const claim = `${path}.${randomUUID()}`;
  await writeFile(claim, `${process.pid} ${await startTime(process.pid)}\n`, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await succeeds(link(claim, path))) return { release: () => rm(path, { force: true }) };
      const holder = await textOf(path);
      if (holder === undefined) continue;
      await refuseLiving(path, holder);
      if (await takeOver(path, claim, holder)) return { release: () => rm(path, { force: true }) };
      await delay(pauseMs);
    }
  } finally {
    await rm(claim, { force: true });
  }
  throw new AppError('serve/locked', 3, `another process is taking over the database (${path}.takeover)`, {
    hint: 'if there is none, remove that file',
  });
}

async function refuseLiving(path: string, holder: string): Promise<void> {
  const [pid = '', start = ''] = holder.trim().split(' ');
  if (!(await isAlive(Number(pid), start))) return;
  throw new AppError('serve/locked', 3, `process ${pid} has the database open (${path})`, {
    hint: 'a folder serves one process; stop that one, or use PostgreSQL',
  });
}

/** Replaces the lock of a dead process. Only one process at a time may do so; otherwise it could replace a new lock. */
async function takeOver(path: string, claim: string, stale: string): Promise<boolean> {
  const takeoverPath = `${path}.takeover`;
  if (!(await succeeds(link(claim, takeoverPath)))) return false;
  try {
    if ((await textOf(path)) !== stale) return false;
    await rename(claim, path);
    return true;
  } finally {
    await rm(takeoverPath, { force: true });
  }
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return (await startTime(pid)) === start;
}

/** Returns when the process started, in kernel ticks; this distinguishes it from a later process with the same id. Only Linux has it. */
async function startTime(pid: number): Promise<string> {
  const stat = await textOf(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

async function succeeds(action: Promise<void>): Promise<boolean> {
  try {
    await action;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOENT')) return false;
    throw error;
  }
}
