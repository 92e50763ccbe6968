import type { ChildProcessByStdio } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import type { SimpleGitOptions } from 'simple-git';
import { AppError, systemCodeOf } from '../model/errors.ts';
import { gitEnvironment, safeSettings, type GitContext } from './git-environment.ts';

/** A running git. */
export type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export type GitOptions = {
  /** The complete environment of git; git does not inherit that of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input?: string;
  /** Receives the process, and then writes and ends its input. */
  readonly onStart?: (git: GitProcess) => void;
  /** Stops the run when git prints more bytes. */
  readonly maxOutputBytes: number;
  /** Receives the output chunk by chunk, so that it is not collected; an error that it throws stops the run and rejects. */
  readonly onChunk?: (chunk: Buffer) => void;
  /** Stops the run and all processes that git started. */
  readonly signal: AbortSignal;
};

/** The result of a run; `failure` is the reason why its output is not usable. */
type GitResult = { readonly output: Buffer; readonly stderr: string } | { readonly failure: string; readonly exit?: GitExit };

/** How git itself ended without success: its exit code and everything that it printed, or why it did not start. */
type GitExit = { readonly code: number; readonly output: Buffer; readonly stderr: string } | { readonly cause: Error };

// A remote can make git print anything, and only the end of stderr is useful.
const maxStderr = 16 * 1024;

/**
 * Runs git with the settings that every git has. Whose git it is, only the environment says: `runGit` gives it the configuration of the user,
 * and the server, which reads repositories of other people, nothing but the credentials of one. Never throws for a failure of git or of the network.
 */
export async function spawnGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { env, cwd, input = '', maxOutputBytes, onChunk, onStart, signal } = options;
  // Loaded with the first run, because most commands run no git.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve({ failure: reasonOf(signal) });
      return;
    }
    // In its own process group, so that ssh and remote-https end with git, and without a terminal, so that they cannot prompt.
    const git = spawn('git', ['--no-pager', ...safeSettings.flatMap((setting) => ['-c', setting]), ...args], {
      env,
      cwd,
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    let size = 0;
    let stderr = '';
    let failure: string | undefined;
    let cause: Error | undefined;
    const stop = (reason: string): void => {
      failure ??= reason;
      killGroup(git.pid);
      git.stdout.destroy();
      git.stderr.destroy();
    };
    const onAbort = (): void => stop(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    git.stdout.on('data', (chunk: Buffer) => {
      if (onChunk === undefined) output.push(chunk);
      else
        attempt(
          () => onChunk(chunk),
          (error) => {
            reject(error);
            stop(error.message);
          },
        );
      size += chunk.length;
      if (size > maxOutputBytes) stop(`the output of git exceeds ${maxOutputBytes} bytes`);
    });
    git.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-maxStderr);
    });
    // Git may exit before it reads all input; its exit code is what counts.
    git.stdin.on('error', () => undefined);
    if (onStart === undefined) git.stdin.end(input);
    else onStart(git);
    git.once('error', (error) => {
      failure ??= `git cannot be run: ${error.message}`;
      cause = error;
    });
    git.once('close', (code) => {
      signal.removeEventListener('abort', onAbort);
      const all = Buffer.concat(output);
      if (failure !== undefined) resolve({ failure, ...(cause === undefined ? {} : { exit: { cause } }) });
      else resolve(code === 0 ? { output: all, stderr } : { failure: reasonIn(stderr), exit: { code: code ?? -1, output: all, stderr } });
    });
  });
}

function attempt(action: () => void, onError: (error: Error) => void): void {
  try {
    action();
  } catch (error) {
    onError(error instanceof Error ? error : new Error(String(error)));
  }
}

function killGroup(id: number | undefined): void {
  if (id === undefined) return;
  try {
    process.kill(-id, 'SIGKILL');
  } catch (error) {
    // The group has already ended.
    if (systemCodeOf(error) !== 'ESRCH') throw error;
  }
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.name !== 'TimeoutError' && reason.name !== 'AbortError' ? reason.message : 'no answer in time';
}

/** Returns why git failed, in one line of at most 400 characters, without advice, control characters and credentials of an address. */
function reasonIn(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '').trim());
  const errors = lines.filter((line) => line !== '' && !advice.test(line));
  const specific = errors.filter((line) => line !== 'fatal: Could not read from remote repository.');
  const refused = lines.flatMap((line) => /^!\s.*\[.*\((.+)\)$/.exec(line)?.[1] ?? []);
  const fatal = specific.flatMap((line) => /^(?:fatal|error): (?!unable to read askpass)(.+)$/.exec(line)?.[1] ?? []);
  // Words of origin, which `failureError` leaves out.
  const said = errors.filter((line) => /^remote: (?!fatal|error)./.test(line));
  // Origin's own words: "unpacker error" says nothing.
  const remote = lines.flatMap((line) => /^(?:remote: (?:fatal|error)|error: remote unpack failed): (.+)$/.exec(line)?.[1] ?? []);
  const chosen = refused.length > 0 ? [...refused, ...remote.slice(0, 2)] : [...said.slice(-2), ...[...new Set(fatal)].slice(0, 2)];
  // ssh prints its reason as it is, and then git that it could not read.
  const all = chosen.length > 0 ? chosen : (specific.length > 0 ? specific : errors).slice(-1);
  return all.length === 0
    ? 'git printed no reason'
    : all
        .join('; ')
        .replaceAll(/(:\/\/)[^\s/@]+@/g, '$1')
        .slice(0, 400);
}

const advice = /^(?:warning|hint|Warning|Please make sure|and the repository exists|ssh-keygen)/;

/** How long a command may take, in milliseconds: one that waits for an answer of origin, and any other. */
export const timeLimits: Readonly<Record<'answer' | 'command', number>> = { answer: 30_000, command: 120_000 };

type CommandOptions = Partial<Pick<GitOptions, 'input' | 'onStart' | 'onChunk' | 'signal'>> & {
  /** Exit codes that are results; another exit code is thrown as an error. Only 0 by default. */
  readonly allowedExitCodes?: readonly number[];
  readonly timeoutMs?: number;
  /** Whether the command connects to origin; then it has no input. */
  readonly connects?: boolean;
};

/** The result of a command; `stdout` is empty if `onChunk` received the output, `stderr` is the end of what git printed there. */
type CommandOutput = { readonly code: number; readonly stdout: Buffer; readonly stderr: string };

/**
 * Runs one command of git without a shell, a prompt or a hook, and returns its bytes unchanged. Every git has the same environment,
 * settings and limits. Throws AppError when git is not installed, fails, or takes longer than the timeout, by default two minutes.
 */
export async function runGit(
  context: GitContext,
  args: readonly string[],
  { allowedExitCodes = [0], timeoutMs = timeLimits.command, connects = false, ...options }: CommandOptions = {},
): Promise<CommandOutput> {
  const start = { cwd: context.folder, env: gitEnvironment(context), signal: AbortSignal.timeout(timeoutMs) };
  const result = connects ? await startSimpleGit(args, start) : await spawnGit(args, { ...start, maxOutputBytes: Infinity, ...options });
  if ('output' in result) return { code: 0, stdout: result.output, stderr: result.stderr };
  if (result.exit === undefined) throw timeoutError(args, timeoutMs);
  if ('cause' in result.exit) throw notInstalledError(result.exit.cause);
  const { code, output, stderr } = result.exit;
  if (!allowedExitCodes.includes(code)) throw failureError(context, args, connects ? `${stderr}${output.toString()}` : stderr);
  return { code, stdout: output, stderr };
}

// simple-git refuses these features by default, so that no argument smuggles them in. Ostiary writes all arguments itself, none
// begins with text of other people, and git finds the same settings and programs in the user's files.
const allowedByUser: NonNullable<SimpleGitOptions['unsafe']> = Object.fromEntries(
  [
    ['AskPass', 'CredentialHelper', 'SshCommand', 'GitProxy', 'UrlRewrite', 'ProtocolOverride', 'Exec', 'Pack'],
    ['ConfigEnvCount', 'ConfigPaths', 'Include', 'Alias', 'CommandBinaries', 'Editor', 'Pager', 'MergeDriver', 'HooksPath', 'FsMonitor'],
    ['DiffExternal', 'DiffTextConv', 'Filter', 'GpgProgram', 'TemplateDir', 'Submodule'],
  ]
    .flat()
    .map((name) => [`allowUnsafe${name}`, true]),
);

// simple-git keeps all that a remote makes git print.
const maxMessages = 16 * 1024 * 1024;
const floodReason = 'origin, or the program that connects to it, printed more than 16 MiB of messages';

/** Runs git by simple-git, with the settings of every git. Never throws for a failure of git or of the network. */
async function startSimpleGit(
  args: readonly string[],
  { env, cwd, signal }: Pick<GitOptions, 'env' | 'cwd' | 'signal'>,
): Promise<GitResult> {
  // Loaded with the first command, because most runs connect to no origin.
  const { simpleGit } = await import('simple-git');
  let exit = { code: -1, output: Buffer.alloc(0), stderr: '' };
  const flood = new AbortController();
  const stop = AbortSignal.any([signal, flood.signal]);
  try {
    const git = simpleGit({
      baseDir: cwd,
      config: [...safeSettings],
      abort: stop,
      // The output is complete when its pipes close, not some time after the exit.
      completion: { onClose: true, onExit: false },
      allowEnvironment: Object.keys(env),
      unsafe: allowedByUser,
      errors(error, { exitCode, stdErr, stdOut }) {
        exit = { code: exitCode, output: Buffer.concat(stdOut), stderr: Buffer.concat(stdErr).toString() };
        return exitCode === 0 && !stop.aborted ? undefined : (error ?? new Error(`git ended with ${exitCode}`));
      },
    });
    git.env({ ...env }).outputHandler((_, stdout, stderr) => {
      // Processes that git started may hold these pipes open after git has ended.
      const close = (): void => {
        for (const output of [stdout, stderr]) if (output instanceof Readable) output.destroy();
      };
      stop.addEventListener('abort', close);
      let printed = 0;
      stderr.on('data', (chunk: Buffer) => {
        printed += chunk.length;
        if (printed > maxMessages) flood.abort();
      });
    });
    // Its own `fetch` refuses the option for the program of origin, and its `push` prints a report in place of git's reasons.
    await git.raw(...args);
    return exit;
  } catch (error) {
    if (signal.aborted) return { failure: reasonOf(signal) };
    if (flood.signal.aborted) return { failure: floodReason, exit: { ...exit, stderr: `fatal: ${floodReason}` } };
    const cause = error instanceof Error ? error : new Error(String(error));
    return { failure: cause.message, exit: exit.code < 0 ? { cause } : exit };
  }
}

/** Runs one command of git like `runGit`, and returns the lines of its output that are not empty. */
export async function readGitLines(
  context: GitContext,
  args: readonly string[],
  options: Pick<CommandOptions, 'allowedExitCodes' | 'timeoutMs'> = {},
): Promise<readonly string[]> {
  const { stdout } = await runGit(context, args, options);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

/** Returns the error for a failed command; it quotes git unless there is a better text. */
function failureError({ folder, partial, protocols = [] }: GitContext, args: readonly string[], stderr: string): AppError {
  if (/dubious ownership/.test(stderr)) {
    // Origin may be a folder, too.
    const place = dubiousFolder(stderr) ?? folder;
    return new AppError('git/dubious-owner', 4, `git does not trust the repository at ${place}: its folder belongs to another user`, {
      hint: `if you trust it, run git config --global --add safe.directory ${place}; or plan without a base: --base none`,
    });
  }
  // Other words of origin may repeat the credentials that it got.
  const reason = reasonIn(stderr.replaceAll(/^remote: (?!fatal|error).*$/gm, ''));
  // Git would fetch a missing object, which a command that only reads is not allowed to.
  const isLocal = protocols.length === 0;
  if (partial === true && isLocal && /promisor remote|lazy fetching|unable to read [0-9a-f]{40}/.test(stderr))
    return partialCloneError(reason);
  const [, protocol] = /transport '([^'\n]+)' not allowed/.exec(stderr) ?? [];
  if (protocol !== undefined) {
    const message = `the protocol ${protocol} is not allowed: git reaches other repositories by https, ssh or as local paths`;
    return new AppError('git/failed', 4, `${message} (GIT_ALLOW_PROTOCOL names others)`, { hint: 'change the URL of origin' });
  }
  return new AppError('git/failed', 4, `git ${commandOf(args)} failed: ${reason}`, {
    hint: branchConflictHint(stderr) ?? diskHint(stderr) ?? 'Ostiary requires git 2.31 or newer; run git fsck to check the repository',
  });
}

/** Returns the error for an object that a filter left out of the clone. */
export function partialCloneError(reason: string): AppError {
  return new AppError('git/partial-clone', 4, `this is a partial clone, without objects that Ostiary compares: ${reason}`, {
    hint: 'complete it: git fetch --refetch --no-filter origin; in a job, remove the filter of the checkout',
  });
}

function notInstalledError(cause: unknown): AppError {
  return new AppError('git/not-installed', 4, 'this folder is a git repository, but git is not installed', {
    hint: 'install git, or plan without a base: --base none',
    cause,
  });
}

function timeoutError(args: readonly string[], timeoutMs: number): AppError {
  return new AppError('git/timeout', 4, `git ${commandOf(args)} took longer than ${timeoutMs / 1000} seconds`, {
    hint: 'check that the remote repository is reachable',
  });
}

/** Returns a hint if git quotes the system about the disk of a repository. */
export function diskHint(text: string): string | undefined {
  if (/No space left on device|Disk quota exceeded/i.test(text)) return 'free space on the disk of the repository, then try again';
  if (/Read-only file system/i.test(text)) return 'use a repository on a file system that can be written';
  return /insufficient permission for adding|(?:unable|cannot|could not|failed) [^:]*: Permission denied|couldn't write '|unable to create temporary/i.test(
    text,
  )
    ? 'check the disk of the repository, and which user may write to it'
    : undefined;
}

/** Returns a hint if another branch blocks the name: git allows no branch below a branch. */
function branchConflictHint(stderr: string): string | undefined {
  const [, branch] = /'refs\/heads\/([^'\n]+)' exists; cannot create/.exec(stderr) ?? [];
  return branch === undefined
    ? undefined
    : `the branch ${branch} conflicts with a new branch: rename it with git branch -m ${branch} OTHER`;
}

function commandOf(args: readonly string[]): string {
  return args.find((arg) => /^[a-z][a-z-]*$/.test(arg)) ?? '';
}

function dubiousFolder(stderr: string): string | undefined {
  return /dubious ownership in repository at '([^'\n]+)'/.exec(stderr)?.[1];
}
