import type { GitContext } from './git-environment.ts';
import { runGit } from './run-git.ts';

// More paths do not fit in a command line.
const maxPaths = 500;

/**
 * Returns the files among the paths that git was asked to leave out of the working tree, or to never look at there: those outside a
 * sparse checkout (`skip-worktree`), and those of `git update-index --assume-unchanged`.
 */
export async function findLeftOut(context: GitContext, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const asked = paths.length > maxPaths ? [] : paths;
  const { stdout } = await runGit(context, ['ls-files', '-z', '-v', '--', ...asked]);
  const wanted = new Set(paths);
  // Each entry is a letter, a space and a path: `S` for skip-worktree, a small letter for assume-unchanged.
  const marked = stdout
    .toString()
    .split('\0')
    .filter((entry) => /^[Sa-z] /.test(entry))
    .map((entry) => entry.slice(2));
  return new Set(marked.filter((path) => wanted.has(path)));
}
