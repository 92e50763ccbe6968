import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { makeFolder } from './write.ts';
import { reasonOf } from './text-file.ts';
import type { Checked, SourceFile } from '../model/diagnostic.ts';

/** The default folder of caches below a project; git ignores it. */
export const cacheFolder = '.ostiary';

const maxBytes = 64 * 1024 * 1024;

/** Returns the text of a cache; undefined if it cannot be read, because no command needs a cache. */
export function readCache(folder: string, name: string): string | undefined {
  try {
    if (reasonNotOwn(folder) !== undefined) return undefined;
    // A pipe would never end, a link may lead elsewhere.
    const file = openSync(join(folder, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(file);
      return stats.isFile() && stats.size <= maxBytes ? readFileSync(file, 'utf8') : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Returns the names of the caches in a folder; empty if it cannot be read. */
export function listCaches(folder: string): readonly string[] {
  return existsSync(folder) && reasonNotOwn(folder) === undefined ? readdirSync(folder).toSorted() : [];
}

/**
 * Replaces a cache atomically, readable by its owner only. Returns the reason if it cannot be written. Adds a `.gitignore` to
 * a folder that Ostiary creates.
 */
export function writeCache(folder: string, name: string, text: string): string | undefined {
  const draft = join(folder, `${name}.${randomBytes(6).toString('hex')}`);
  const reason = makeFolderOf(folder);
  if (reason !== undefined) return reason;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, join(folder, name));
    return undefined;
  } catch (error) {
    if (existsSync(draft)) rmSync(draft, { force: true });
    return reasonOf(error);
  }
}

/** Creates a folder for files of Ostiary alone, which git ignores. Throws AppError when it is a link or belongs to another user. */
export function makeOwnFolder(folder: string): void {
  const reason = makeFolderOf(folder);
  if (reason === undefined) return;
  throw new AppError('cli/cache-folder', 3, `the folder ${JSON.stringify(folder)} cannot be used: ${reason}`, {
    hint: 'remove it or check its owner, or name another place with --database',
  });
}

/** Creates the folder of a cache; returns the reason if it cannot be used. */
function makeFolderOf(folder: string): string | undefined {
  try {
    const isNew = !existsSync(folder);
    if (isNew) makeFolder(folder, 0o700);
    const reason = reasonNotOwn(folder);
    if (reason !== undefined) return reason;
    const ignore = join(folder, '.gitignore');
    if ((isNew || basename(folder) === cacheFolder) && !existsSync(ignore)) writeFileSync(ignore, '*\n', { flag: 'wx' });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Returns why a folder may contain files of another user; undefined if it cannot. */
function reasonNotOwn(folder: string): string | undefined {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) return 'it is a link';
  if (!stats.isDirectory()) return 'it is not a folder';
  if (process.getuid === undefined) return undefined;
  if (stats.uid !== process.getuid()) return 'it belongs to another user';
  // The user, or a job that restores caches, may have created it.
  if ((stats.mode & 0o022) !== 0) chmodSync(folder, stats.mode & 0o755);
  return undefined;
}

/** Reads a Terraform state. */
export function readStateFile(path: string, cwd: string): Checked<SourceFile> {
  const content = readBounded(resolve(cwd, path));
  if (Buffer.isBuffer(content)) return { value: { path, text: content.toString('utf8').replace(/^\ufeff/, '') }, diagnostics: [] };
  const message = `the state ${JSON.stringify(path)} cannot be read: ${content.reason}`;
  return { diagnostics: [{ code: 'terraform/unreadable', severity: 'error', message, hint: 'check the path and its permissions' }] };
}

/** Returns the bytes of a file of at most `most` bytes (64 MiB), or the reason why it cannot be read. */
export function readBounded(path: string, most: number = maxBytes): Buffer | { readonly reason: string } {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { reason: 'it is not a regular file' };
    return stats.size > most ? { reason: `it is larger than ${Math.round(most / 1024 / 1024)} MiB` } : readFileSync(path);
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
