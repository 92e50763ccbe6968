import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isProcessAlive, processPlace, processStart } from '../../machine/processes.ts';
import { largestOf } from '../../model/collections.ts';
import { AppError, systemCodeOf } from '../../model/errors.ts';
import type { Log } from '../log.ts';

/** A lock that this process holds. */
export type FolderLock = {
  /** Throws `LockLost` unless this process certainly holds the lock. */
  readonly confirm: () => void;
  readonly release: () => Promise<void>;
};

/** The folder belongs to another server, or the lock file cannot be written. */
export class LockLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LockLost';
  }
}

/** How often a holder writes its lock file, how long it trusts that, and how long a lock file must rest until another server uses the folder. */
export type LockTimes = { readonly beatMs: number; readonly trustMs: number; readonly takeoverMs: number };

const defaultTimes: LockTimes = { beatMs: 2000, trustMs: 8000, takeoverMs: 15_000 };

type LockOptions = { readonly log: Log; readonly times?: LockTimes };

/**
 * Locks a database folder. The lock is the file with the highest number in its own folder: a server creates the next number, which
 * only one can do, if the holder of the highest one released it or is dead. A holder writes its file every few seconds: so a server
 * in another container or on another host recognizes it. Throws `AppError` when the holder is alive.
 */
export async function lockFolder(folder: string, { log, times = defaultTimes }: LockOptions): Promise<FolderLock> {
  await mkdir(folder, { mode: 0o700, recursive: true });
  const holder: Holder = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    start: processStart(process.pid),
    place: processPlace(),
  };
  for (;;) {
    const highest = largestOf(await numbersIn(folder), 0);
    if (highest > 0) await waitForRelease(join(folder, String(highest)), { place: holder.place, log, times });
    const path = join(folder, String(highest + 1));
    if (!(await createLockFile(path, holder))) continue;
    const numbers = await numbersIn(folder);
    // This number was in use before: its lock file was removed because a higher one exists.
    if (largestOf(numbers, 0) !== highest + 1) {
      await rm(path, { force: true });
      continue;
    }
    for (const number of numbers) if (number <= highest) await rm(join(folder, String(number)), { force: true });
    return holdLock(path, holder.id, { log, times });
  }
}

/** The process that holds a lock; `place` identifies the running kernel and the process namespace, empty where that is unknown. */
type Holder = { readonly id: string; readonly host: string; readonly pid: number; readonly start: string; readonly place: string };

// A lock file starts with a counter of fixed length, which the holder changes in place: that needs no room on the disk.
const counterLength = 12;
const released = 'released'.padEnd(counterLength);

function counterText(counter: number): string {
  return String(counter).padStart(counterLength, '0');
}

async function createLockFile(path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(`${counterText(0)} ${JSON.stringify(holder)}\n`).finally(() => file.close());
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function numbersIn(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).filter((name) => /^\d{1,15}$/.test(name)).map(Number);
}

type WaitOptions = { readonly place: string; readonly log: Log; readonly times: LockTimes };

/** Returns when no process holds the lock of this file. Throws `AppError` when one does. */
async function waitForRelease(path: string, { place, log, times }: WaitOptions): Promise<void> {
  const first = await readIfExists(path);
  if (first === undefined || first.startsWith(released)) return;
  const holder = parseHolder(first);
  if (holder !== undefined && place !== '' && holder.place === place) {
    if (isProcessAlive(holder.pid, holder.start)) throw lockedBy(`process ${holder.pid}`, path);
    return;
  }
  const where = holder === undefined ? 'an unknown host' : holder.host;
  log({
    level: 'warn',
    message: `a server on ${where} did not release the database folder: waiting ${times.takeoverMs / 1000} s for its heartbeat`,
  });
  for (let waited = 0; waited < times.takeoverMs; waited += times.beatMs / 4) {
    await delay(times.beatMs / 4);
    const text = await readIfExists(path);
    if (text === undefined || text.startsWith(released)) return;
    if (text !== first) throw lockedBy(`a server on ${where}`, path);
  }
}

function lockedBy(holder: string, path: string): AppError {
  return new AppError('serve/locked', 3, `${holder} has the database open (${path})`, {
    hint: 'a folder can be used by only one process; stop the other process, or use PostgreSQL',
  });
}

function parseHolder(text: string): Holder | undefined {
  try {
    return JSON.parse(text.slice(counterLength));
  } catch {
    return undefined;
  }
}

/** Writes the lock file regularly until `release`. */
function holdLock(path: string, id: string, { log, times }: Required<LockOptions>): FolderLock {
  let counter = 0;
  let confirmed = readClocks();
  let isLost = false;
  const beat = (): void => {
    if (!isLost && writeState(path, id, counterText((counter += 1)))) {
      confirmed = readClocks();
      return;
    }
    if (!isLost) log({ level: 'error', message: 'another server uses the database folder now: this server no longer writes; stop it' });
    isLost = true;
  };
  const timer = setInterval(() => {
    try {
      beat();
    } catch (error) {
      log({ level: 'warn', message: `the lock of the database folder cannot be written: ${String(error)}` });
    }
  }, times.beatMs);
  timer.unref();
  return {
    confirm() {
      if (!isLost && msSince(confirmed) > times.trustMs) tryBeat(beat);
      if (isLost) throw new LockLost('another server uses the database folder now');
    },
    async release() {
      clearInterval(timer);
      if (!isLost) writeState(path, id, released);
    },
  };
}

function tryBeat(beat: () => void): void {
  try {
    beat();
  } catch (error) {
    throw new LockLost(`the lock of the database folder cannot be written: ${String(error)}`);
  }
}

/** Changes the first word of a lock file in place; returns false when the file is not of this holder any more. */
function writeState(path: string, id: string, state: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(4096);
    const holder = parseHolder(bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)));
    if (holder?.id !== id) return false;
    writeSync(file, state, 0);
    return true;
  } finally {
    closeSync(file);
  }
}

type Clocks = { readonly wall: number; readonly steady: number };

/** Reads both clocks: the steady one pauses while the machine sleeps, and the other one can be set. */
function readClocks(): Clocks {
  return { wall: Date.now(), steady: performance.now() };
}

function msSince({ wall, steady }: Clocks): number {
  return Math.max(Date.now() - wall, performance.now() - steady);
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
