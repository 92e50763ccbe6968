import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { reasonOf } from './reason.ts';

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
