import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { makeFolder } from './write.ts';
import { reasonOf } from './text-file.ts';
import type { Checked, SourceFile } from '../model/diagnostic.ts';

/** The default folder of caches below a project; git ignores it. */
export const cacheFolder = '.ostiary';

/** Returns the text of a cache; undefined if it cannot be read, because no command needs a cache. */
export function readCache(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Replaces a cache atomically, readable by its owner only. Returns the reason if it cannot be written. Adds a `.gitignore` to
 * a folder that Ostiary creates.
 */
export function writeCache(folder: string, name: string, text: string): string | undefined {
  const draft = join(folder, `${name}.${randomBytes(6).toString('hex')}`);
  try {
    const ours = basename(folder) === cacheFolder || !existsSync(folder);
    makeFolder(folder);
    const ignore = join(folder, '.gitignore');
    if (ours && !existsSync(ignore)) writeFileSync(ignore, '*\n');
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, join(folder, name));
    return undefined;
  } catch (error) {
    if (existsSync(draft)) rmSync(draft, { force: true });
    return reasonOf(error);
  }
}

const maxBytes = 64 * 1024 * 1024;

/** Reads a Terraform state, which may be larger than a manifest (64 MiB). */
export function readStateFile(path: string, cwd: string): Checked<SourceFile> {
  const reason = reasonWhyNot(resolve(cwd, path));
  const text = reason === undefined ? textOf(resolve(cwd, path)) : { reason };
  if (typeof text === 'string') return { value: { path, text }, diagnostics: [] };
  const message = `the state ${JSON.stringify(path)} cannot be read: ${text.reason}`;
  return { diagnostics: [{ code: 'terraform/unreadable', severity: 'error', message, hint: 'check the path and who may read it' }] };
}

function reasonWhyNot(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return 'it is not a regular file';
    return stats.size > maxBytes ? 'it is larger than 64 MiB' : undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function textOf(path: string): string | { readonly reason: string } {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
