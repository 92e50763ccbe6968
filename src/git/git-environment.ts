import { delimiter, isAbsolute } from 'node:path';

/** Where git runs, and which environment it gets. */
export type GitContext = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The git folder for the files in `folder`. If undefined, git searches for it. */
  readonly gitFolder?: string;
  /** Settings that override those of every file. */
  readonly overrides?: readonly GitSetting[];
  /** The protocols by which git may reach another repository, whatever settings allow; none by default. */
  readonly protocols?: readonly string[];
};

/** One value of git's configuration; a key may have several values. */
export type GitSetting = { readonly key: string; readonly value: string };

/** A value and the scope in which git found it: the user owns `system`, `global` and `command`, the repository all others. */
export type ScopedGitSetting = GitSetting & { readonly scope: string };

/** Settings that keep code of the repository from running: hooks, file system monitor, background maintenance, signature checks. */
export const safeSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.follow=false',
  'log.showSignature=false',
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
  GIT_NO_REPLACE_OBJECTS: '1',
  // Reading a commit never requests missing objects from another machine.
  GIT_NO_LAZY_FETCH: '1',
};

// Variables with which a surrounding hook describes its own repository, variables that change the output, and programs that are
// never needed.
const hiddenVariables = new Set([
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

/** Returns the environment of git: without secrets of Ostiary, and without variables that point to another repository. */
export function gitEnvironment({ folder, env, gitFolder, overrides = [], protocols = [] }: GitContext): Readonly<Record<string, string>> {
  const visible = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isVisible(name)) return [];
    return [[name, name === 'PATH' ? absoluteFolders(value) : value] as const];
  });
  return {
    // Empty: no proxy for git://, whatever `core.gitProxy` says; git uses the first value of that key.
    GIT_PROXY_COMMAND: '',
    ...Object.fromEntries(visible),
    ...fixedVariables,
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    // The same as --git-dir and --work-tree, but also for every program that git starts.
    ...(gitFolder === undefined ? {} : { GIT_DIR: gitFolder, GIT_WORK_TREE: folder }),
    ...settingVariables(env, overrides),
  };
}

/** Returns a PATH without relative folders: git runs in the repository, where a pull request could add programs to them. */
function absoluteFolders(text: string): string {
  return text
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

function isVisible(name: string): boolean {
  return !hiddenVariables.has(name) && !/^(?:GIT_TRACE|OSTIARY_|LANGUAGE$)/.test(name);
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
  [/^filter\..+\.(?:clean|process|smudge)$/s, 'false'],
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
