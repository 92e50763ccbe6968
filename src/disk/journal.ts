import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
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

/** Reads a saved plan of at most `most` bytes. Throws AppError when it cannot be read. */
export function readPlanFile(path: string, most: number): string {
  return decodePlan(path, bytesOf(path, most), most);
}

/** Returns the text of a saved plan of at most `most` bytes. Throws AppError when it is larger or no text. */
export function decodePlan(path: string, bytes: Buffer, most: number): string {
  if (bytes.length > most) throw unreadable(path, `it is larger than ${Math.round(most / 1024 / 1024)} MiB`);
  if (!isUtf8(bytes)) throw unreadable(path, 'it is not UTF-8');
  return bytes.toString('utf8');
}

/** Reads at most one byte more than `most`, because a device has no end. */
function bytesOf(path: string, most: number): Buffer {
  const parts: Buffer[] = [];
  let left = most + 1;
  try {
    const file = openSync(path, 'r');
    try {
      while (left > 0) {
        const part = Buffer.allocUnsafe(Math.min(left, 1024 * 1024));
        const read = readSync(file, part, 0, part.length, null);
        if (read === 0) break;
        parts.push(part.subarray(0, read));
        left -= read;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(path, reasonOf(error), error);
  }
  return Buffer.concat(parts);
}

function unreadable(path: string, reason: string, cause?: unknown): AppError {
  return new AppError('plan/unreadable-file', 3, `the saved plan ${JSON.stringify(path)} cannot be read: ${reason}`, {
    hint: 'pass the file written by ostiary plan --out',
    cause,
  });
}
