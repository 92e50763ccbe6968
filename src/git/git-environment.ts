import { type Stats, readFileSync, realpathSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AppError } from '../model/errors.ts';

/** Where git runs, and which environment it gets. */
export type GitContext = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The git folder for the files in `folder`. If undefined, git searches for it. */
  readonly gitFolder?: string;
  /** Whether a filter left objects out of the clone. */
  readonly partial?: true;
  /** Whether git prints what it sends and receives to stderr. */
  readonly tracesPackets?: true;
  /** Settings that override those of every file. */
  readonly overrides?: readonly GitSetting[];
  /** The protocols by which git may reach another repository, whatever settings allow; none by default. */
  readonly protocols?: readonly string[];
};

/** One value of git's configuration; a key may have several values. */
export type GitSetting = { readonly key: string; readonly value: string };

/** A value and the scope in which git found it: the user owns `system`, `global` and `command`, the repository all others. */
export type ScopedGitSetting = GitSetting & { readonly scope: string };

/**
 * Settings that keep code of the repository from running (hooks, file system monitor, background maintenance, signature checks), and other
 * objects from being read than those that were asked for.
 */
export const safeSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  // The setting of a repository would outrank the variable.
  'core.useReplaceRefs=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.follow=false',
  'log.showSignature=false',
  // The first commit has changes, too.
  'log.showRoot=true',
  'push.gpgSign=false',
  // Git must not use a folder that only looks like a repository.
  'safe.bareRepository=explicit',
];

const fixedVariables: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  // Every prompt fails, also that of ssh, which would otherwise open a terminal.
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_GRAFT_FILE: devNull,
  // Reading a commit never requests missing objects from another machine.
  GIT_NO_LAZY_FETCH: '1',
};

/**
 * The variables of git that are passed on: how it reaches other repositories, the user's configuration, and who the user is. All others are
 * hidden: with them a surrounding hook, or a later git, describes another repository, other refs or objects, or other output.
 */
const passedVariables =
  /^GIT_(?:ASKPASS|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|(?:AUTHOR|COMMITTER)_\w+|CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS|GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|HTTP_\w+|PROXY_\w+|SSH|SSH_\w+|SSL_\w+|TEST_ASSUME_DIFFERENT_OWNER)$/;

// Programs that are never needed, and variables that change the language.
const hiddenVariables = /^(?:EDITOR|LANGUAGE|OSTIARY_.*|PAGER|PREFIX|VISUAL)$/s;

/** Variables that name folders of programs: git runs in the repository, where a pull request could add programs to relative ones. */
const folderVariables: ReadonlySet<string> = new Set(['PATH', 'GIT_EXEC_PATH']);

/** Returns the environment of git: without secrets of Ostiary, and without variables that point to another repository. */
export function gitEnvironment({
  folder,
  env,
  gitFolder,
  tracesPackets,
  overrides = [],
  protocols = [],
}: GitContext): Readonly<Record<string, string>> {
  const visible = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isVisible(name)) return [];
    const shown = folderVariables.has(name) ? absoluteFolders(value) : value;
    return name === 'GIT_EXEC_PATH' && shown === '' ? [] : [[name, shown] as const];
  });
  return {
    // Empty: no proxy for git://, whatever `core.gitProxy` says; git uses the first value of that key.
    GIT_PROXY_COMMAND: '',
    ...Object.fromEntries(visible),
    ...fixedVariables,
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    ...(tracesPackets === true ? { GIT_TRACE_PACKET: '2' } : {}),
    // The same as --git-dir and --work-tree, but also for every program that git starts.
    ...(gitFolder === undefined ? {} : { GIT_DIR: gitFolder, GIT_WORK_TREE: folder }),
    ...settingVariables(env, overrides),
  };
}

/** Returns a list of folders without relative ones. */
function absoluteFolders(text: string): string {
  return text
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

function isVisible(name: string): boolean {
  return name.startsWith('GIT_') ? passedVariables.test(name) : !hiddenVariables.test(name);
}

/** Returns variables that add settings after those of the environment, so that they override them. */
function settingVariables(env: GitContext['env'], overrides: readonly GitSetting[]): Readonly<Record<string, string>> {
  if (overrides.length === 0) return {};
  const first = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  // Git itself rejects an invalid count.
  if (!Number.isInteger(first)) return {};
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(first + overrides.length)],
    ...overrides.flatMap(({ key, value }, index) => [
      [`GIT_CONFIG_KEY_${first + index}`, key],
      [`GIT_CONFIG_VALUE_${first + index}`, value],
    ]),
  ]);
}

const userScopes: ReadonlySet<string> = new Set(['system', 'global', 'command']);

/** Returns true if the user, not the repository, made the setting. */
export function isUserSetting({ scope }: ScopedGitSetting): boolean {
  return userScopes.has(scope);
}

/**
 * All keys that name a program (by git's documentation), each with a value that runs no program. Git prints sections and names in
 * lower case. Not listed: `core.gitProxy`, `remote.*.uploadpack` and `remote.*.receivepack`, of which git uses the first value, so
 * the environment and options override them for origin, and `disableRemotes` disables other remotes; `remote.*.vcs` and addresses, whose protocols the environment limits.
 */
const programKeys: readonly (readonly [RegExp, string])[] = [
  [/^core\.askpass$/, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^core\.alternaterefscommand$/, 'true'],
  [/^core\.(?:editor|pager)$/, 'false'],
  [/^alias\./, '!false'],
  [/^submodule\..+\.update$/s, 'none'],
  [/^init\.templatedir$/, ''],
  [/^(?:diff\.external|sequence\.editor|interactive\.difffilter|imap\.tunnel|instaweb\.httpd)$/, 'false'],
  [/^(?:gc\.recentobjectshook|uploadpack\.packobjectshook)$/, 'false'],
  [/^(?:help|web|instaweb)\.browser$/, 'false'],
  [/^(?:browser|difftool|guitool|man|mergetool)\..+\.(?:cmd|path)$/s, 'false'],
  [/^diff\..+\.(?:command|process|textconv)$/s, 'false'],
  [/^filter\..+\.(?:clean|process|required|smudge)$/s, 'false'],
  [/^gpg\.(?:.+\.)?(?:program|defaultkeycommand)$/s, 'false'],
  [/^merge\..+\.driver$/s, 'false'],
  [/^pager\./, 'false'],
  [/^sendemail\.(?:.+\.)?(?:cccmd|headercmd|sendmailcmd|smtpserver|tocmd)$/s, 'false'],
  [/^tar\..+\.command$/s, 'false'],
  [/^trailer\..+\.(?:cmd|command)$/s, 'false'],
];

const helperKey = /^credential\.(?:.+\.)?helper$/s;
const hookKey = /^hook\.(.+)\.command$/s;

/**
 * Returns settings that override all files, so that git runs no program that the repository names, but the user's own program or
 * none. Hooks never run, not even the user's.
 */
export function disablePrograms(all: readonly ScopedGitSetting[]): readonly GitSetting[] {
  const own = new Map(all.filter(isUserSetting).map(({ key, value }) => [key, value]));
  const keys = new Set(all.filter((setting) => !isUserSetting(setting)).map(({ key }) => key));
  const replaced = [...keys].flatMap((key): readonly GitSetting[] => {
    const known = programKeys.find(([pattern]) => pattern.test(key));
    return known === undefined ? [] : [{ key, value: own.get(key) ?? known[1] }];
  });
  return [...replaced, ...keepUserHelpers(all, keys), ...disableHooks(all), ...disableRemotes(keys)];
}

const uploadPackKey = /^remote\.(.+)\.uploadpack$/s;

/** Disables remotes that name a program: a partial clone fetches missing objects from any remote. Their protocol is then an unknown one. */
function disableRemotes(keys: ReadonlySet<string>): readonly GitSetting[] {
  return [...keys].flatMap((key) => {
    const [, name] = uploadPackKey.exec(key) ?? [];
    return name === undefined || name === 'origin' ? [] : [{ key: `remote.${name}.vcs`, value: 'disabled' }];
  });
}

/** Returns an empty helper, which resets the list of helpers, and then the helpers of the user. */
function keepUserHelpers(all: readonly ScopedGitSetting[], keys: ReadonlySet<string>): readonly GitSetting[] {
  if (![...keys].some((key) => helperKey.test(key))) return [];
  const own = all.filter((setting) => isUserSetting(setting) && helperKey.test(setting.key));
  return [{ key: 'credential.helper', value: '' }, ...own.map(({ key, value }) => ({ key, value }))];
}

/** Disables hooks that settings name; git 2.54 and newer have them, and `core.hooksPath` does not apply to them. */
function disableHooks(all: readonly ScopedGitSetting[]): readonly GitSetting[] {
  const names = new Set(all.flatMap(({ key }) => hookKey.exec(key)?.[1] ?? []));
  return [...names].flatMap((name) => [
    { key: `hook.${name}.enabled`, value: 'false' },
    { key: `hook.${name}.command`, value: 'true' },
  ]);
}

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

/** Returns the folder that the worktrees of a clone share. */
export function commonFolderOf(gitFolder: string): string {
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
  throw untrustedRepositoryError(top, `${gitFolder} shares the settings of ${common ?? 'nothing'}, but is not a worktree of it`);
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
