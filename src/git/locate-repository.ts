import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AppError } from '../model/errors.ts';
import type { GitContext } from './git-environment.ts';

/** Where a repository lies; both paths are free of symbolic links. */
export type RepositoryLocation = {
  /** The folder that has the entry `.git`. */
  readonly top: string;
  /** The folder that git keeps its own files in. */
  readonly gitFolder: string;
  /** The path of the folder that the search began in, from `top`; empty at the top. */
  readonly prefix: string;
};

/**
 * Finds the repository that the folder lies in by its entry `.git`, without git: git also takes a folder for a repository
 * that just holds `HEAD`, `objects` and `refs`, and a pull request can add those. Nobody can commit an entry `.git`. Honors
 * the limits of git's own search: `GIT_CEILING_DIRECTORIES` and the border of the file system.
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
  const message = `${folder} lies in a repository without files: a bare one, or a folder of git's own`;
  return new AppError('git/no-working-tree', 3, message, { hint: 'run in a clone of it' });
}

/** The repository is not laid out as git does it, so its entry `.git` may lead to files of somebody else. */
export function untrustedRepositoryError(top: string, problem: string): AppError {
  return new AppError('git/untrusted-repository', 4, `Ostiary does not trust ${join(top, '.git')}: ${problem}`, {
    hint: 'clone the repository again; or plan without a base: --base none',
  });
}

function* ancestors(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}

/** The folders in which git searches, from the first one up. */
function* searchFolders(start: string, env: GitContext['env']): Generator<string> {
  const ceilings = ceilingsOf(env['GIT_CEILING_DIRECTORIES'] ?? '');
  const crosses = /^(?:1|true|yes|on)$/i.test(env['GIT_DISCOVERY_ACROSS_FILESYSTEM'] ?? '');
  const device = statOf(start)?.dev;
  for (const at of ancestors(start)) {
    if (at !== start && (ceilings.has(at) || (!crosses && statOf(at)?.dev !== device))) return;
    yield at;
  }
}

/** Git resolves symbolic links in the paths before the first empty one. */
function ceilingsOf(text: string): ReadonlySet<string> {
  const paths = text.split(delimiter);
  const literal = paths.includes('') ? paths.indexOf('') : paths.length;
  return new Set(
    paths.flatMap((path, index) => (isAbsolute(path) ? [(index < literal ? realPath(path) : undefined) ?? resolve(path)] : [])),
  );
}

/** Returns the folder of git that `.git` is or names; as git does it, the search ends at a file that names none. */
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

// Git's own limit is a megabyte; no system takes a longer path.
const maxPathLength = 4096;

/** What a file `.git` says: `gitdir: PATH`. */
function readGitFile(top: string): string {
  const text = readFileSync(join(top, '.git'), 'utf8');
  const [, path = ''] = /^gitdir: ([^\0\r\n]+)\r?\n*$/.exec(text) ?? [];
  if (path === '' || path.length > maxPathLength) throw untrustedRepositoryError(top, 'the file does not say gitdir: PATH');
  return resolve(top, path);
}

/** As git decides it, where it matters here: `HEAD`, `objects` and `refs`, which a worktree shares with its repository. */
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

/** A worktree or a submodule has its folder in a folder of git; files that are checked out can be anybody's. */
function requireOutsideCheckout(top: string, gitFolder: string): void {
  const problem = `${gitFolder} lies among files that are checked out`;
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

/** A worktree's folder is `worktrees/NAME` of the folder whose settings, objects and refs it shares. */
function requireOwnCommonFolder(top: string, gitFolder: string): void {
  const common = realPath(commonFolderOf(gitFolder));
  if (common === gitFolder || (common !== undefined && dirname(gitFolder) === join(common, 'worktrees'))) return;
  throw untrustedRepositoryError(top, `${gitFolder} shares the settings of ${common ?? 'nothing'}, and is no worktree of it`);
}

/** Returns whether a path is the folder or lies in it; both without symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** What the system says of a path, links followed; undefined for one that is not there, or not for us to see. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The path without symbolic links; undefined where nothing is there. */
export function realPath(path: string): string | undefined {
  return statOf(path) === undefined ? undefined : realpathSync(path);
}
