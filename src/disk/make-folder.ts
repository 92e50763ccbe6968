import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that it lies in, all for whom the mode lets in; Node's own way never ends where a file system
 * takes none, such as /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  // Somebody else may have been faster; where a file stands instead, whoever writes into it tells.
  if (!existsSync(path)) mkdirSync(path, { mode });
}
