import type { ChildProcess } from 'node:child_process';
import { AppError } from '../model/errors.ts';
import { codeOf, failureOf } from './failure.ts';

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
export async function askGit(place: Place, args: readonly string[], asking: Asking = {}): Promise<Answer> {
  const { answers = [0], patience = defaultPatience } = asking;
  const answer = await run(place, args, { ...asking, patience });
  if (answer === undefined) {
    throw new AppError('git/timeout', 4, `git ${args[0] ?? ''} took longer than ${patience / 1000} seconds`, {
      hint: 'is the place that git reads from reachable?',
    });
  }
  if (!answers.includes(answer.code)) throw failureOf(place.folder, args, answer.stderr);
  return answer;
}

/** The answer, or undefined where it took too long. */
async function run(
  { folder, env }: Place,
  args: readonly string[],
  asking: Asking & { readonly patience: number },
): Promise<Answer | undefined> {
  // Outside repositories nobody needs to wait for it to load.
  const { spawn } = await import('node:child_process');
  const { input, hear, patience } = asking;
  const child = spawn('git', ['--no-pager', ...settings.flatMap((one) => ['-c', one]), ...args], {
    cwd: folder,
    env: environment(env),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // Without a terminal nothing below git can ask for a password there.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const parts: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
  // Git may end before it has read all of its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => resolve(undefined)), patience);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
      stop(child);
    };
    child.stdout?.on('data', (part: Buffer) => {
      if (hear === undefined) parts.stdout.push(part);
      else
        attempt(
          () => hear(part),
          (error) => end(() => reject(error)),
        );
    });
    child.stderr?.on('data', (part: Buffer) => parts.stderr.push(part));
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(codeOf(error) === 'ENOENT' ? notInstalled(error) : error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr).toString() });
    });
  });
}

/** What throws while output is heard is what the answer comes to. */
function attempt(action: () => void, fail: (error: Error) => void): void {
  try {
    action();
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Ends git and what it has started. */
function stop(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL');
  else process.kill(-child.pid, 'SIGKILL');
}

/** What git may see: no secret of ours, and nothing that leads it into another repository. */
function environment(env: Place['env']): Readonly<Record<string, string | undefined>> {
  const seen = Object.entries(env).filter(
    ([name]) => !foreign.has(name) && !name.startsWith('GIT_TRACE') && !name.startsWith('OSTIARY_') && name !== 'LANGUAGE',
  );
  return { ...Object.fromEntries(seen), ...fixed };
}

function notInstalled(cause: Error): AppError {
  return new AppError('git/not-installed', 4, 'there is a git repository here, but no program git on the PATH', {
    hint: 'install git, or plan without a base: --base none',
    cause,
  });
}
