import { delimiter, isAbsolute, dirname, join, relative, resolve, sep } from 'node:path';
import type { Setting } from './programs.ts';
import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { AppError } from '../model/errors.ts';

/** Where git runs, and what it sees of the environment. */
export type Place = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of git for the files in `folder`. Without one git searches for it. */
  readonly gitFolder?: string;
  /** Settings that outrank those of every file. */
  readonly overrides?: readonly Setting[];
  /** The protocols by which git may reach another repository; none unless given, whatever settings allow. */
  readonly protocols?: readonly string[];
};

/** Nothing of the repository may run: no hook, no monitor of the file system, no upkeep in the background, no check of a signature. */
export const settings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.follow=false',
  'log.showSignature=false',
  'push.gpgSign=false',
  // A folder that only looks like a repository is none.
  'safe.bareRepository=explicit',
];

const fixed: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  // Whoever asks is answered by a program that knows nothing: also ssh, which else finds a terminal.
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  // Reading a commit never asks another machine for missing objects.
  GIT_NO_LAZY_FETCH: '1',
};

// What a hook around us says of its own repository, what would change the output, and programs that are never needed.
const foreign = new Set([
  'EDITOR',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_EDITOR',
  'GIT_EXTERNAL_DIFF',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PAGER',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SEQUENCE_EDITOR',
  'GIT_SHALLOW_FILE',
  'GIT_TEMPLATE_DIR',
  'GIT_WORK_TREE',
  'PAGER',
  'PREFIX',
  'VISUAL',
]);

/** Returns what git may see: no secret of ours, and nothing that leads it into another repository. */
export function environmentOf({ folder, env, gitFolder, overrides = [], protocols = [] }: Place): Readonly<Record<string, string>> {
  const seen = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isSeen(name)) return [];
    return [[name, name === 'PATH' ? absolutePath(value) : value] as const];
  });
  return {
    // Empty: no proxy for git://, whatever `core.gitProxy` says, of which git takes the first value.
    GIT_PROXY_COMMAND: '',
    ...Object.fromEntries(seen),
    ...fixed,
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    // The same as --git-dir and --work-tree; every program that git starts gets them, too.
    ...(gitFolder === undefined ? {} : { GIT_DIR: gitFolder, GIT_WORK_TREE: folder }),
    ...settingsIn(env, overrides),
  };
}

/** Git runs in the repository, where a relative folder would hold programs of a pull request. */
function absolutePath(text: string): string {
  return text
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

function isSeen(name: string): boolean {
  return !foreign.has(name) && !/^(?:GIT_TRACE|OSTIARY_|LANGUAGE$)/.test(name);
}

/** Settings behind those that the environment already has, so that they outrank them. */
function settingsIn(env: Place['env'], overrides: readonly Setting[]): Readonly<Record<string, string>> {
  if (overrides.length === 0) return {};
  const from = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  // Git refuses a count that is none, and says so.
  if (!Number.isInteger(from)) return {};
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(from + overrides.length)],
    ...overrides.flatMap(({ key, value }, index) => [
      [`GIT_CONFIG_KEY_${from + index}`, key],
      [`GIT_CONFIG_VALUE_${from + index}`, value],
    ]),
  ]);
}

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
export function locateRepository({ folder, env }: Place): RepositoryLocation | undefined {
  const start = realPath(folder);
  if (start === undefined) return undefined;
  for (const top of searched(start, env)) {
    const found = lookAt(top);
    if (found === 'give up') return undefined;
    if (found === 'go on') continue;
    const { gitFolder } = found;
    if (isInside(start, gitFolder)) throw noWorkingTree(folder);
    return { top, gitFolder, prefix: relative(top, start).split(sep).join('/') };
  }
  if ([...ancestors(start)].some(isGitFolder)) throw noWorkingTree(folder);
  return undefined;
}

function noWorkingTree(folder: string): AppError {
  const message = `${folder} lies in a repository without files: a bare one, or a folder of git's own`;
  return new AppError('git/no-working-tree', 3, message, { hint: 'run in a clone of it' });
}

/** The repository is not laid out as git does it, so its entry `.git` may lead to files of somebody else. */
export function untrustedRepository(top: string, problem: string): AppError {
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
function* searched(start: string, env: Place['env']): Generator<string> {
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
function lookAt(top: string): { readonly gitFolder: string } | 'go on' | 'give up' {
  const entry = join(top, '.git');
  const found = statOf(entry);
  if (found === undefined || (found.isDirectory() && !isGitFolder(entry))) return 'go on';
  const named = found.isDirectory() ? entry : namedFolder(top);
  const gitFolder = isGitFolder(named) ? realPath(named) : undefined;
  if (gitFolder === undefined) return 'give up';
  if (gitFolder !== entry) requireOutsideOfFiles(top, gitFolder);
  requireOwnCommonFolder(top, gitFolder);
  return { gitFolder };
}

// Git's own limit is a megabyte; no system takes a longer path.
const longestPath = 4096;

/** What a file `.git` says: `gitdir: PATH`. */
function namedFolder(top: string): string {
  const text = readFileSync(join(top, '.git'), 'utf8');
  const [, path = ''] = /^gitdir: ([^\0\r\n]+)\r?\n*$/.exec(text) ?? [];
  if (path === '' || path.length > longestPath) throw untrustedRepository(top, 'the file does not say gitdir: PATH');
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
function requireOutsideOfFiles(top: string, gitFolder: string): void {
  const problem = `${gitFolder} lies among files that are checked out`;
  if (isInside(gitFolder, top)) throw untrustedRepository(top, problem);
  for (const at of ancestors(dirname(gitFolder))) {
    const entry = join(at, '.git');
    const found = statOf(entry);
    if (found === undefined) continue;
    const other = realPath(found.isDirectory() ? entry : namedFolder(at));
    if (other === undefined || !isInside(gitFolder, other)) throw untrustedRepository(top, problem);
    return;
  }
}

/** A worktree's folder is `worktrees/NAME` of the folder whose settings, objects and refs it shares. */
function requireOwnCommonFolder(top: string, gitFolder: string): void {
  const common = realPath(commonFolderOf(gitFolder));
  if (common === gitFolder || (common !== undefined && dirname(gitFolder) === join(common, 'worktrees'))) return;
  throw untrustedRepository(top, `${gitFolder} shares the settings of ${common ?? 'nothing'}, and is no worktree of it`);
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
