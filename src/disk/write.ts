import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  existsSync,
  mkdirSync,
  appendFileSync,
  readFileSync,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { AppError, systemCodeOf } from '../model/errors.ts';
import { reasonOf, remedyOf, isSystemPath } from './text-file.ts';

/**
 * Creates a folder and its parents with the mode. `mkdirSync` with `recursive` never returns on a file system that allows no
 * folders, such as /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  // Another process may create the folder first; if a file is in its place, writing into it reports the error.
  if (!existsSync(path)) mkdirSync(path, { mode });
}

/** The name of the file in messages, and its mode if it exists with another one. */
type Sort = { readonly what: string; readonly mode?: number };

/** Writes a saved plan like a report; a file that other users could read becomes readable by its owner only. */
export function writePlan(path: string, text: string): void {
  writeReport(path, text, { what: 'saved plan', mode: 0o600 });
}

/**
 * Writes a report atomically: afterwards the file has the complete text, or is unchanged. A new file is readable by its owner only.
 * Its folder must exist. Throws AppError when it cannot be written.
 */
export function writeReport(path: string, text: string | Iterable<string>, { what, mode }: Sort = { what: 'report' }): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    const pieces = typeof text === 'string' ? [text] : text;
    requireNoLink(path);
    if (stats === undefined) replace(path, pieces, 0o600);
    else if (stats.isFile()) replace(path, pieces, mode ?? stats.mode & 0o777);
    // A pipe or a device (/dev/stdout) is written to, never replaced.
    else writePieces(path, pieces, { flag: 'w' });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('report/cannot-write', 3, `the ${what} ${JSON.stringify(path)} cannot be written: ${reasonOf(error)}`, {
      cause: error,
      hint: remedyOf(error, 'check that its folder exists and is writable'),
    });
  }
}

/**
 * Throws AppError if a path to write is a link, or leads through a link below the folder: a repository can contain the link to any file.
 * The folders of a path that does not begin in the folder are the caller's own choice, and links of the system, such as /dev/stdout, are followed.
 */
export function requireNoLink(path: string, folder: string = dirname(path)): void {
  if (isSystemPath(path)) return;
  const top = join(folder, sep);
  const names = path.startsWith(top) ? path.slice(top.length).split(sep) : [];
  const steps = [...names.map((_, index) => join(top, ...names.slice(0, index + 1))), path];
  const link = steps.find((step) => lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  if (link === undefined) return;
  const message =
    link === path
      ? `${JSON.stringify(path)} is a symbolic link`
      : `${JSON.stringify(path)} leads through the symbolic link ${JSON.stringify(link)}`;
  throw new AppError('report/link', 3, `${message}, and Ostiary writes through none`, {
    hint: 'remove the link, or pass the path of its target',
  });
}

function writePieces(path: string, pieces: Iterable<string>, { flag, mode }: { readonly flag: string; readonly mode?: number }): void {
  const file = openSync(path, flag, mode);
  try {
    // The umask of this process takes nothing from the mode of the file that is replaced.
    if (mode !== undefined) fchmodSync(file, mode);
    for (const piece of pieces) writeFileSync(file, piece);
  } finally {
    closeSync(file);
  }
}

function replace(path: string, pieces: Iterable<string>, mode: number): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    writePieces(draft, pieces, { mode, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Creates a file and its folders; returns false, without a change, if the file exists. */
export function createFile(path: string, text: string, mode = 0o666): boolean {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: 'wx', mode });
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw new AppError('init/cannot-write', 3, `${JSON.stringify(path)} cannot be written: ${reasonOf(error)}`, {
      cause: error,
      hint: remedyOf(error, 'check its permissions, or use another folder'),
    });
  }
}

/** Returns whether a folder is at the path, as far as this process may see. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Reads a file that the runner of a job wrote, such as the payload of an event. Throws AppError. */
export function readRunnerFile(path: string): string {
  return attempt(path, 'read', () => readFileSync(path, 'utf8'));
}

/** Appends to a file that the runner of a job reads after the step. Throws AppError. */
export function appendRunnerFile(path: string, text: string): void {
  attempt(path, 'written', () => appendFileSync(path, text));
}

function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new AppError('forge/runner-file', 3, `the runner's file ${JSON.stringify(path)} cannot be ${verb}: ${reasonOf(error)}`, {
      cause: error,
      hint: 'check that the disk of the runner is not full',
    });
  }
}
