import { randomBytes } from 'node:crypto';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { reasonOf } from './reason.ts';

/** The name of the file in messages, and its mode if it differs from the default. */
type Sort = { readonly what: string; readonly mode?: number };

/** Writes a saved plan like a report, readable by its owner only. */
export function writePlan(path: string, text: string): void {
  writeReport(path, text, { what: 'saved plan', mode: 0o600 });
}

/**
 * Writes a report atomically: afterwards the file has the complete text, or is unchanged. Its folder must exist. Throws
 * AppError when it cannot be written.
 */
export function writeReport(path: string, text: string, { what, mode }: Sort = { what: 'report' }): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) replace(path, text, mode ?? 0o666);
    else if (stats.isFile()) replace(realpathSync.native(path), text, mode ?? stats.mode);
    // A pipe or a device (/dev/stdout) is written to, never replaced.
    else writeFileSync(path, text);
  } catch (error) {
    throw new AppError('report/cannot-write', 3, `the ${what} ${JSON.stringify(path)} cannot be written: ${reasonOf(error)}`, {
      cause: error,
      hint: 'check that its folder exists and may be written to',
    });
  }
}

function replace(path: string, text: string, mode: number): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(draft, text, { mode, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
