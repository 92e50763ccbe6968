import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { reasonOf } from './reason.ts';

/** The folder of caches below a project, where no other is asked for; never under version control. */
export const cacheFolder = '.ostiary';

/** The text of a cache; undefined where there is none that can be read: a cache is never needed. */
export function readCache(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return undefined;
  }
}

/** Replaces a cache whole, for its owner alone, and tells why where that cannot be; git ignores a folder that is ours. */
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
