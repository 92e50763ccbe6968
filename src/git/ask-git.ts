import { AppError } from '../model/errors.ts';
import { failureOf } from './failure.ts';
import { runGit, type GitEnd } from './run-git.ts';

/** Where git is asked, and what it sees of the environment. */
export type Place = { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> };

/** What git answered; `stdout` is empty where somebody heard it part by part. */
export type Answer = { readonly code: number; readonly stdout: Buffer; readonly stderr: string };

export type Asking = {
  readonly input?: string;
  /** Exit codes that are answers; another one is thrown as what went wrong. */
  readonly answers?: readonly number[];
  /** Takes the output part by part instead of collecting it. */
  readonly hear?: (part: Buffer) => void;
  /** The longest that git may take, in milliseconds. */
  readonly patience?: number;
};

const defaultPatience = 120_000;

// Nothing of the repository may run: no hook, no monitor of the file system, no upkeep in the background.
const settings = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false', 'log.follow=false'];

const fixed: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
};

// What a hook around us says of its own repository, and what would change the output.
const foreign = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** Runs one git command without a shell, a prompt or a hook; what it cannot do is an AppError in plain words. */
export async function askGit({ folder, env }: Place, args: readonly string[], asking: Asking = {}): Promise<Answer> {
  const { input, hear, answers = [0], patience = defaultPatience } = asking;
  const run = await runGit(['--no-pager', ...settings.flatMap((one) => ['-c', one]), ...args], {
    cwd: folder,
    env: environment(env),
    largestOutput: Infinity,
    signal: AbortSignal.timeout(patience),
    ...(input === undefined ? {} : { input }),
    ...(hear === undefined ? {} : { hear }),
  });
  if ('output' in run) return { code: 0, stdout: run.output, stderr: '' };
  const { code, output, complaint } = endOf(run.ended, `git ${args[0] ?? ''} took longer than ${patience / 1000} seconds`);
  if (!answers.includes(code)) throw failureOf(folder, args, complaint);
  return { code, stdout: output, stderr: complaint };
}

/** How git ended by itself; throws where it never began or had to be ended. */
function endOf(ended: GitEnd | undefined, late: string): Extract<GitEnd, { readonly code: number }> {
  if (ended === undefined) throw new AppError('git/timeout', 4, late, { hint: 'is the place that git reads from reachable?' });
  if ('code' in ended) return ended;
  throw new AppError('git/not-installed', 4, 'there is a git repository here, but no program git that can be run', {
    hint: 'install git, or plan without a base: --base none',
    cause: ended.cause,
  });
}

/** What git may see: no secret of ours, and nothing that leads it into another repository. */
function environment(env: Place['env']): Readonly<Record<string, string>> {
  const seen = Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSeen(name) ? [[name, value] as const] : []));
  return { ...Object.fromEntries(seen), ...fixed };
}

function isSeen(name: string): boolean {
  return !foreign.has(name) && !/^(?:GIT_TRACE|OSTIARY_|LANGUAGE$)/.test(name);
}
