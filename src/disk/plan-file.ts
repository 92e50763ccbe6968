import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { reasonOf } from './reason.ts';

/** Reads a saved plan of at most `most` bytes. Throws AppError when it cannot be read. */
export function readPlanFile(path: string, most: number): string {
  const bytes = bytesOf(path, most);
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
    hint: 'name the file that ostiary plan --out wrote',
    ...(cause === undefined ? {} : { cause }),
  });
}
