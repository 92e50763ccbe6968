import { delimiter, isAbsolute } from 'node:path';
import type { Setting } from './programs.ts';

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
