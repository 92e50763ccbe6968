import { addToGroup } from '../model/collections.ts';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix, sep } from 'node:path';
import { AppError, systemCodeOf } from '../model/errors.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { makeFolder } from './write.ts';
import { reasonOf } from './text-file.ts';

/** Writes files below one folder atomically; never follows a link out of the folder. */
export type TreeWriter = {
  /** Writes a new file; returns false, without a change, if the path exists. */
  readonly create: (path: string, text: string) => boolean;
  /** Writes new files. A new folder appears with all its files, or not at all. */
  readonly createAll: (files: readonly SourceFile[]) => void;
  /** Writes or replaces a file. With `before`, replaces it only if it still has that text. */
  readonly replace: (path: string, text: string, before?: string) => void;
};

/** Makes a writer for a folder, which need not exist yet; paths are relative, with `/`. */
export function treeWriter(root: string): TreeWriter {
  const folders = new Set<string>();

  function place(path: string): string {
    const full = join(root, path);
    const folder = dirname(full);
    if (!folders.has(folder)) placeFolder(root, folder);
    folders.add(folder);
    return full;
  }

  const create = (path: string, text: string): boolean => attempt(join(root, path), () => createWhole(place(path), text));
  return {
    create,
    createAll(files) {
      for (const [folder, group] of byAbsentFolder(root, files)) {
        const isMade = folder !== undefined && attempt(join(root, folder), () => createFolder(place(folder), relativeTo(folder, group)));
        if (!isMade) for (const { path, text } of group) create(path, text);
      }
    },
    replace: (path, text, before) => attempt(join(root, path), () => replaceWhole(realPlace(root, place(path)), text, before)),
  };
}

/** Makes a writer that writes nothing; `create` still returns whether it would. */
export function previewWriter(root: string): TreeWriter {
  return {
    create: (path) => lstatSync(join(root, path), { throwIfNoEntry: false }) === undefined,
    createAll: () => undefined,
    replace: () => undefined,
  };
}

/** Returns the paths in the folder and one level below it, in lower case; none if the folder does not exist. */
export function takenNames(folder: string): ReadonlySet<string> {
  const names = namesIn(folder);
  return new Set(
    names.flatMap((name) => [name, ...namesIn(join(folder, name)).map((below) => `${name}/${below}`)]).map((name) => name.toLowerCase()),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) return [];
    throw unwritable(folder, error);
  }
}

/** Throws AppError when nothing can be written below the folder, as far as that shows without writing. */
export function requireFolder(folder: string): void {
  attempt(folder, () => {
    let path = folder;
    while (statSync(path, { throwIfNoEntry: false }) === undefined && path !== dirname(path)) path = dirname(path);
    if (!statSync(path).isDirectory()) throw outside(path, 'is not a folder');
    accessSync(path, constants.W_OK | constants.X_OK);
  });
}

function placeFolder(root: string, folder: string): void {
  makeFolder(root);
  let path = root;
  for (const name of folder.slice(root.length).split(sep).filter(Boolean)) {
    path = join(path, name);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path);
    realPlace(root, path);
  }
}

/** Returns the path with links resolved; unchanged if nothing exists there. Throws AppError when it leads out of the root. */
function realPlace(root: string, path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  const top = realpathSync.native(root);
  const real = realpathSync.native(path);
  if (real === top || real.startsWith(top.endsWith(sep) ? top : `${top}${sep}`)) return real;
  throw outside(path, 'is a symbolic link out of the project');
}

function createWhole(path: string, text: string): boolean {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemCodeOf(error) ?? '')) throw error;
    // Some file systems have no hard links.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
    renameSync(draft, path);
    return true;
  } finally {
    discard(draft);
  }
}

/** Groups files by the topmost missing folder of their paths. */
function byAbsentFolder(root: string, files: readonly SourceFile[]): ReadonlyMap<string | undefined, readonly SourceFile[]> {
  const absent = new Map<string, string | undefined>();
  const groups = new Map<string | undefined, SourceFile[]>();
  for (const file of files) {
    const folder = posix.dirname(file.path);
    if (!absent.has(folder)) absent.set(folder, absentOn(root, folder));
    const top = absent.get(folder);
    addToGroup(groups, top, file);
  }
  return groups;
}

function absentOn(root: string, folder: string): string | undefined {
  const names = folder === '.' ? [] : folder.split('/');
  const steps = names.map((_, index) => names.slice(0, index + 1).join('/'));
  return steps.find((step) => lstatSync(join(root, step), { throwIfNoEntry: false }) === undefined);
}

function relativeTo(folder: string, files: readonly SourceFile[]): readonly SourceFile[] {
  return files.map(({ path, text }) => ({ path: path.slice(folder.length + 1), text }));
}

/** Creates a folder with its files; returns false, without a change, if something exists at its path. */
function createFolder(folder: string, files: readonly SourceFile[]): boolean {
  const draft = draftOf(folder);
  try {
    for (const below of new Set(files.map(({ path }) => posix.dirname(path)))) mkdirSync(join(draft, below), { recursive: true });
    for (const { path, text } of files) writeFileSync(`${draft}${sep}${path}`, text, { flag: 'wx' });
    renameSync(draft, folder);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) return false;
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function replaceWhole(path: string, text: string, before: string | undefined): void {
  const draft = draftOf(path);
  const stats = statSync(path, { throwIfNoEntry: false });
  const found = before === undefined ? undefined : readFileSync(path, 'utf8');
  const mark = found?.startsWith('\ufeff') === true ? '\ufeff' : '';
  if (found !== undefined && found !== `${mark}${before}`) throw outside(path, 'changed since Ostiary read it', 'run the command again');
  try {
    writeFileSync(draft, `${mark}${text}`, { flag: 'wx', ...(stats === undefined ? {} : { mode: stats.mode }) });
    renameSync(draft, path);
  } finally {
    discard(draft);
  }
}

/** Removes a draft; one that was renamed or never written is gone already. */
function discard(draft: string): void {
  try {
    unlinkSync(draft);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof AppError ? error : unwritable(path, error);
  }
}

/** Makes the error of a file that cannot be written. */
export function unwritable(path: string, error: unknown): AppError {
  return new AppError('project/cannot-write', 3, `${JSON.stringify(path)} cannot be written: ${reasonOf(error)}`, {
    cause: error,
    hint: 'check the folder and the disk, then run the command again; files that were written are kept',
  });
}

function outside(path: string, what: string, hint = 'use another folder'): AppError {
  return new AppError('project/cannot-write', 3, `${JSON.stringify(path)} ${what}`, { hint });
}
