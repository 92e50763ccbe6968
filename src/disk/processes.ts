import { readFileSync, readlinkSync } from 'node:fs';
import { systemCodeOf } from '../model/errors.ts';

/** Identifies the running kernel and the process namespace: within them, a process id names one process. Empty where that is unknown: only Linux has it. */
export function processPlace(): string {
  const boot = readSystemFile('/proc/sys/kernel/random/boot_id');
  const namespace = readIfPossible(() => readlinkSync('/proc/self/ns/pid'));
  return boot === undefined || namespace === undefined ? '' : `${boot.trim()} ${namespace}`;
}

/**
 * Returns when a process of this place started, in kernel ticks; this distinguishes it from a later process with the same id. `-` where that is
 * unknown, and for a process that has ended and whose parent does not ask for its status, as the first process of many containers.
 */
export function processStart(pid: number): string {
  const stat = readSystemFile(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? '-' : (fields[19] ?? '-');
}

/** Returns whether the process with this id and start still runs in this place. */
export function isProcessAlive(pid: number, start: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCodeOf(error) === 'ESRCH') return false;
  }
  return processStart(pid) === start;
}

function readSystemFile(path: string): string | undefined {
  return readIfPossible(() => readFileSync(path, 'utf8'));
}

function readIfPossible(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
