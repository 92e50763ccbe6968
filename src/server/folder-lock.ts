import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { AppError } from '../model/errors.ts';

/** A lock that is held; `release` removes it. */
export type FolderLock = { readonly release: () => Promise<void> };

/** Takes the lock file for this process; a lock that a dead process left is taken over, a living one refuses. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const own = `${process.pid} ${await startOf(process.pid)}\n`;
  const claim = `${path}.${randomUUID()}`;
  await writeFile(claim, own, { mode: 0o600 });
  try {
    while (!(await succeeds(link(claim, path)))) await removeStale(path);
  } finally {
    await rm(claim, { force: true });
  }
  return { release: () => rm(path, { force: true }) };
}

/** Moves a dead process's lock away; two processes that do so at once must not take each other's new lock for it. */
async function removeStale(path: string): Promise<void> {
  const seen = await textOf(path);
  if (seen === undefined) return;
  const [pid = 0, start = ''] = seen.trim().split(' ');
  if (await isAlive(Number(pid), start)) {
    throw new AppError('serve/locked', 3, `process ${pid} has the database open (${path})`, {
      hint: 'a folder serves one process; stop that one, or use PostgreSQL',
    });
  }
  const aside = `${path}.${randomUUID()}`;
  if (!(await succeeds(rename(path, aside)))) return;
  if ((await textOf(aside)) !== seen) await succeeds(link(aside, path));
  await rm(aside, { force: true });
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return (await startOf(pid)) === start;
}

/** When the process started, in the kernel's ticks: tells a process from a later one of the same number. Only Linux says. */
async function startOf(pid: number): Promise<string> {
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
