import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder and those that it lies in; Node's own way never ends where a file system takes none, such as /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  // Somebody else may have been faster; where a file stands instead, whoever writes into it tells.
  if (!existsSync(path)) mkdirSync(path);
}
