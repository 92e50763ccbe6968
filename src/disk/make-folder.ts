import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

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
