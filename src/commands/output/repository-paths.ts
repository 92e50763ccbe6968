import { posix, relative, resolve, sep } from 'node:path';
import type { CliContext } from '../context/cli-context.ts';

/** Makes a function that returns a file's path in the repository, undefined outside it; `prefix` is the working directory below its top. */
export function repositoryPaths(prefix: string, { cwd }: Pick<CliContext, 'cwd'>): (file: string) => string | undefined {
  return (file) => {
    const below = relative(cwd, resolve(cwd, file));
    const path = posix.join(...[prefix, below].map((one) => one.split(sep).join(posix.sep)));
    return path === '.' || path === '..' || path.startsWith('../') ? undefined : path;
  };
}
