import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { readBounded } from './cache.ts';
import { isSystemPath, reasonOf, remedyOf } from './text-file.ts';
import { isUtf8 } from 'node:buffer';

/** An append-only file of JSON Lines. A line survives a crash of the process, but not a power failure. */
interface Journal {
  append(line: string): void;
  close(): void;
}

const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
// A repository could contain the path as a link to another file. Links of the system, such as /dev/stderr, are followed.
const noLink = constants.O_NOFOLLOW ?? 0;

/** Opens a journal; a new one is readable by its owner only. Throws AppError when it cannot be written. */
export function openJournal(path: string): Journal {
  const name = JSON.stringify(path);
  const file = orCannotWrite(() => open(path), `the journal ${name} cannot be opened`);
  return {
    append: (line) => orCannotWrite(() => write(file, `${line}\n`), `the journal ${name} cannot be written`),
    close: () => closeSync(file),
  };
}

/** Opens the file and ends a line that a crash cut short, so that the next line is complete. */
function open(path: string): number {
  const file = openSync(path, isSystemPath(path) ? flags : flags | noLink, 0o600);
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size > 0) {
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, stats.size - 1);
    if (last[0] !== 0x0a) write(file, '\n');
  }
  return file;
}

function write(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

function orCannotWrite<T>(action: () => T, failure: string): T {
  try {
    return action();
  } catch (error) {
    throw new AppError('journal/cannot-write', 3, `${failure}: ${reasonOf(error)}`, {
      cause: error,
      hint: remedyOf(error, 'check the path given to --journal'),
    });
  }
}

/** Reads a saved plan of at most `most` bytes. Throws AppError when it cannot be read, is larger, or is no text. */
export function readPlanFile(path: string, most: number): string {
  const bytes = readBounded(path, most);
  if (!Buffer.isBuffer(bytes)) throw unreadable(path, bytes.reason);
  if (!isUtf8(bytes)) throw unreadable(path, 'it is not UTF-8');
  return bytes.toString('utf8');
}

function unreadable(path: string, reason: string): AppError {
  return new AppError('plan/unreadable-file', 3, `the saved plan ${JSON.stringify(path)} cannot be read: ${reason}`, {
    hint: 'pass the file written by ostiary plan --out',
  });
}
