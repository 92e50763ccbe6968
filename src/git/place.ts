/** Where git is asked, and what it sees of the environment. */
export type Place = { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> };

/** Nothing of the repository may run: no hook, no monitor of the file system, no upkeep in the background. */
export const settings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.follow=false',
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

/** What git may see: no secret of ours, and nothing that leads it into another repository. */
export function environmentOf({ env }: Place): Readonly<Record<string, string>> {
  const seen = Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSeen(name) ? [[name, value] as const] : []));
  return { ...Object.fromEntries(seen), ...fixed };
}

function isSeen(name: string): boolean {
  return !foreign.has(name) && !/^(?:GIT_TRACE|OSTIARY_|LANGUAGE$)/.test(name);
}
