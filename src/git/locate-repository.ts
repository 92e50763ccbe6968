import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AppError } from '../model/errors.ts';
import type { GitContext } from './git-environment.ts';

/** The location of a repository; both folders are paths without symbolic links. */
type RepositoryLocation = {
  /** The folder with the entry `.git`. */
  readonly top: string;
  /** The folder of git's own files. */
  readonly gitFolder: string;
  /** The path from `top` to the folder where the search started; empty at the top. */
  readonly prefix: string;
};

/**
 * Finds the repository of a folder by its entry `.git`, without git; undefined outside a repository. Git itself also accepts a
 * folder that only has `HEAD`, `objects` and `refs`, which a pull request can add, but no commit can contain an entry `.git`. The
 * search has the limits of git's own search: `GIT_CEILING_DIRECTORIES` and the border of the file system. Throws AppError when the
 * folder is in a bare repository, or when `.git` points to files that are checked out.
 */
export function locateRepository({ folder, env }: GitContext): RepositoryLocation | undefined {
  const start = realPath(folder);
  if (start === undefined) return undefined;
  for (const top of searchFolders(start, env)) {
    const found = readGitEntry(top);
    if (found === 'give up') return undefined;
    if (found === 'go on') continue;
    const { gitFolder } = found;
    if (isInside(start, gitFolder)) throw noWorkingTreeError(folder);
    return { top, gitFolder, prefix: relative(top, start).split(sep).join('/') };
  }
  if ([...ancestors(start)].some(isGitFolder)) throw noWorkingTreeError(folder);
  return undefined;
}

function noWorkingTreeError(folder: string): AppError {
  const message = `${folder} is in a bare repository or inside a .git folder`;
  return new AppError('git/no-working-tree', 3, message, { hint: 'run in a clone of the repository' });
}

/** Returns the error for a layout that git does not create: the entry `.git` may point to files of other people. */
export function untrustedRepositoryError(top: string, problem: string): AppError {
  return new AppError('git/untrusted-repository', 4, `Ostiary does not trust ${join(top, '.git')}: ${problem}`, {
    hint: 'clone the repository again, or plan without a base: --base none',
  });
}

function* ancestors(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}

/** Yields the folders in which git searches, from the start upwards. */
function* searchFolders(start: string, env: GitContext['env']): Generator<string> {
  const ceilings = ceilingsOf(env['GIT_CEILING_DIRECTORIES'] ?? '');
  const crosses = /^(?:1|true|yes|on)$/i.test(env['GIT_DISCOVERY_ACROSS_FILESYSTEM'] ?? '');
  const device = statOf(start)?.dev;
  for (const at of ancestors(start)) {
    if (at !== start && (ceilings.has(at) || (!crosses && statOf(at)?.dev !== device))) return;
    yield at;
  }
}

/** Parses `GIT_CEILING_DIRECTORIES`; as in git, symbolic links are resolved only in the paths before the first empty one. */
function ceilingsOf(text: string): ReadonlySet<string> {
  const paths = text.split(delimiter);
  const literal = paths.includes('') ? paths.indexOf('') : paths.length;
  return new Set(
    paths.flatMap((path, index) => (isAbsolute(path) ? [(index < literal ? realPath(path) : undefined) ?? resolve(path)] : [])),
  );
}

/** Returns the git folder that `.git` is or names. As in git, a file that names no git folder ends the search. */
function readGitEntry(top: string): { readonly gitFolder: string } | 'go on' | 'give up' {
  const entry = join(top, '.git');
  const found = statOf(entry);
  if (found === undefined || (found.isDirectory() && !isGitFolder(entry))) return 'go on';
  const named = found.isDirectory() ? entry : readGitFile(top);
  const gitFolder = isGitFolder(named) ? realPath(named) : undefined;
  if (gitFolder === undefined) return 'give up';
  if (gitFolder !== entry) requireOutsideCheckout(top, gitFolder);
  requireOwnCommonFolder(top, gitFolder);
  return { gitFolder };
}

// Git's own limit is one megabyte, but no system accepts a path longer than this.
const maxPathLength = 4096;

/** Reads the path from a file `.git`, `gitdir: PATH`. Throws AppError when the file has no such line. */
function readGitFile(top: string): string {
  const text = readFileSync(join(top, '.git'), 'utf8');
  const [, path = ''] = /^gitdir: ([^\0\r\n]+)\r?\n*$/.exec(text) ?? [];
  if (path === '' || path.length > maxPathLength) throw untrustedRepositoryError(top, 'the file does not contain gitdir: PATH');
  return resolve(top, path);
}

/** Returns true if git accepts the folder: it has `HEAD`, and its common folder, which worktrees share, has `objects` and `refs`. */
function isGitFolder(folder: string): boolean {
  if (statOf(join(folder, 'HEAD')) === undefined) return false;
  const common = commonFolderOf(folder);
  return ['objects', 'refs'].every((name) => statOf(join(common, name))?.isDirectory() === true);
}

function commonFolderOf(gitFolder: string): string {
  const file = join(gitFolder, 'commondir');
  if (statOf(file)?.isFile() !== true) return gitFolder;
  return resolve(gitFolder, readFileSync(file, 'utf8').trimEnd());
}

/** Throws AppError when the git folder is among files that are checked out, unless it is inside another git folder (worktree, submodule). */
function requireOutsideCheckout(top: string, gitFolder: string): void {
  const problem = `${gitFolder} is part of the checked-out files`;
  if (isInside(gitFolder, top)) throw untrustedRepositoryError(top, problem);
  for (const at of ancestors(dirname(gitFolder))) {
    const entry = join(at, '.git');
    const found = statOf(entry);
    if (found === undefined) continue;
    const other = realPath(found.isDirectory() ? entry : readGitFile(at));
    if (other === undefined || !isInside(gitFolder, other)) throw untrustedRepositoryError(top, problem);
    return;
  }
}

/** Throws AppError when the git folder shares settings, objects and refs with another one, but is not its `worktrees/NAME`. */
function requireOwnCommonFolder(top: string, gitFolder: string): void {
  const common = realPath(commonFolderOf(gitFolder));
  if (common === gitFolder || (common !== undefined && dirname(gitFolder) === join(common, 'worktrees'))) return;
  throw untrustedRepositoryError(top, `${gitFolder} shares the settings of ${common ?? 'nothing'}, and is no worktree of it`);
}

/** Returns true if a path is the folder or inside it; both must be free of symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** Returns the stats of a path with links resolved; undefined if the path does not exist or is not readable. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the path without symbolic links; undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  return statOf(path) === undefined ? undefined : realpathSync(path);
}
