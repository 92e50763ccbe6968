import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { reasonOf } from './reason.ts';

/** An append-only file of JSON Lines. A line survives a crash of the process, but not a power failure. */
export interface Journal {
  append(line: string): void;
  close(): void;
}

const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Opens a journal; a new one is readable by its owner only. Throws AppError when it cannot be written. */
export function openJournal(path: string): Journal {
  const name = JSON.stringify(path);
  const file = attempt(() => open(path), `the journal ${name} cannot be opened`);
  return {
    append: (line) => attempt(() => write(file, `${line}\n`), `the journal ${name} cannot be written`),
    close: () => closeSync(file),
  };
}

/** Opens the file and ends a line that a crash cut short, so that the next line is complete. */
function open(path: string): number {
  const file = openSync(path, flags, 0o600);
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

function attempt<T>(action: () => T, failure: string): T {
  try {
    return action();
  } catch (error) {
    throw new AppError('journal/cannot-write', 3, `${failure}: ${reasonOf(error)}`, {
      cause: error,
      hint: 'check the path given to --journal',
    });
  }
}
