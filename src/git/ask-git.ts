import { environmentOf, settings, type Place } from './place.ts';
import { AppError } from '../model/errors.ts';

export type GitOptions = {
  /** The whole environment: nothing of the process's own reaches git. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input?: string;
  /** More bytes than these end the run. */
  readonly largestOutput: number;
  /** Takes the output part by part instead of collecting it; what it throws ends the run and is thrown. */
  readonly hear?: (part: Buffer) => void;
  /** Ends the run, together with everything that git started. */
  readonly signal: AbortSignal;
};

/** What became of a run; `failure` says why there is no use in its output. */
export type GitRun = { readonly output: Buffer } | { readonly failure: string; readonly ended?: GitEnd };

/** How git ended by itself where it did not succeed: its exit code, and all that it said. */
export type GitEnd = { readonly code: number; readonly output: Buffer; readonly complaint: string } | { readonly cause: Error };

// Only the end of what git complains about is of use, and a remote can make it say anything.
const largestComplaint = 16 * 1024;

/** Runs git with exactly these arguments; never throws for what git or the network does. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<GitRun> {
  const { env, cwd, input = '', largestOutput, hear, signal } = options;
  // Loaded with the first run: most commands never ask git.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve({ failure: reasonOf(signal) });
      return;
    }
    // A group of its own, so that helpers (ssh, remote-https) end with it; and no terminal that they could ask at.
    const git = spawn('git', args, { env, cwd, detached: true, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    let size = 0;
    let complaint = '';
    let failure: string | undefined;
    let cause: Error | undefined;
    const end = (reason: string): void => {
      failure ??= reason;
      endGroup(git.pid);
      git.stdout.destroy();
      git.stderr.destroy();
    };
    const stop = (): void => end(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    git.stdout.on('data', (chunk: Buffer) => {
      if (hear === undefined) output.push(chunk);
      else
        attempt(
          () => hear(chunk),
          (error) => {
            reject(error);
            end(error.message);
          },
        );
      size += chunk.length;
      if (size > largestOutput) end(`git answers with more than ${largestOutput} bytes`);
    });
    git.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-largestComplaint);
    });
    // Git may be gone before it has read everything; its exit tells.
    git.stdin.on('error', () => undefined);
    git.stdin.end(input);
    git.once('error', (error) => {
      failure ??= `git cannot be run: ${error.message}`;
      cause = error;
    });
    git.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      const all = Buffer.concat(output);
      if (failure !== undefined) resolve({ failure, ...(cause === undefined ? {} : { ended: { cause } }) });
      else resolve(code === 0 ? { output: all } : { failure: complaintOf(complaint), ended: { code: code ?? -1, output: all, complaint } });
    });
  });
}

function attempt(action: () => void, fail: (error: Error) => void): void {
  try {
    action();
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

function endGroup(id: number | undefined): void {
  if (id === undefined) return;
  try {
    process.kill(-id, 'SIGKILL');
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.name !== 'TimeoutError' && reason.name !== 'AbortError' ? reason.message : 'no answer in time';
}

/** What git and ssh say, on one line: no advice, no control characters, not too much. */
function complaintOf(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '').trim());
  const told = lines.filter(
    (line) => line !== '' && !/^(warning|hint|Warning|Please make sure|and the repository exists|ssh-keygen)/.test(line),
  );
  const telling = told.filter((line) => line !== 'fatal: Could not read from remote repository.');
  const chosen = (telling.length > 0 ? telling : told).slice(-3).join('; ');
  return chosen === '' ? 'git failed without a word' : chosen.slice(0, 400);
}

/** What git answered; `stdout` is empty where somebody heard it part by part. */
export type Answer = { readonly code: number; readonly stdout: Buffer };

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

/**
 * Runs one command of git's plumbing without a shell, a prompt or a hook; its bytes come as they are. What it cannot do is an
 * AppError in plain words.
 */
export async function askGit(place: Place, args: readonly string[], asking: Asking = {}): Promise<Answer> {
  const { input, hear, answers = [0], patience = defaultPatience } = asking;
  const run = await runGit(['--no-pager', ...settings.flatMap((one) => ['-c', one]), ...args], {
    cwd: place.folder,
    env: environmentOf(place),
    largestOutput: Infinity,
    signal: AbortSignal.timeout(patience),
    ...(input === undefined ? {} : { input }),
    ...(hear === undefined ? {} : { hear }),
  });
  if ('output' in run) return { code: 0, stdout: run.output };
  const { code, output, complaint } = endOf(run.ended, lateGit(args, patience));
  if (!answers.includes(code)) throw failureOf(place.folder, args, complaint);
  return { code, stdout: output };
}

/** How git ended by itself; throws where it never began or had to be ended. */
function endOf(ended: GitEnd | undefined, late: Error): Extract<GitEnd, { readonly code: number }> {
  if (ended === undefined) throw late;
  if ('code' in ended) return ended;
  throw missingGit(ended.cause);
}

/** What git could not do, in its own words where there are no better ones; credentials in addresses are left out. */
export function failureOf(folder: string, args: readonly string[], stderr: string): AppError {
  if (/dubious ownership/.test(stderr)) {
    return new AppError('git/dubious-owner', 4, `git does not trust the repository at ${folder}: its folder belongs to somebody else`, {
      hint: `if you trust it: git config --global --add safe.directory ${ownedFolder(stderr) ?? folder}; or plan without a base: --base none`,
    });
  }
  const [, protocol] = /transport '([^'\n]+)' not allowed/.exec(stderr) ?? [];
  if (protocol !== undefined) {
    const message = `the protocol ${protocol} is not allowed: git reaches other repositories by https, ssh or as local paths`;
    return new AppError('git/failed', 4, `${message} (GIT_ALLOW_PROTOCOL names others)`, { hint: 'change the address of origin' });
  }
  const said = wordsOf(stderr);
  return new AppError('git/failed', 4, `git ${verbOf(args)} failed: ${said === '' ? 'it does not say why' : said}`, {
    hint: inTheWay(stderr) ?? 'git 2.31 or newer is needed; git fsck tells whether the repository is whole',
  });
}

/** There is no program git, or none that may be run. */
export function missingGit(cause: unknown): AppError {
  return new AppError('git/not-installed', 4, 'there is a git repository here, but no program git that can be run', {
    hint: 'install git, or plan without a base: --base none',
    cause,
  });
}

/** Git had to be ended. */
export function lateGit(args: readonly string[], patience: number): AppError {
  return new AppError('git/timeout', 4, `git ${verbOf(args)} took longer than ${patience / 1000} seconds`, {
    hint: 'is the place that git reads from reachable?',
  });
}

/** No branch can lie below another one. */
function inTheWay(stderr: string): string | undefined {
  const [, branch] = /'refs\/heads\/([^'\n]+)' exists; cannot create/.exec(stderr) ?? [];
  return branch === undefined ? undefined : `the branch ${branch} is in the way: give it another name, git branch -m ${branch} OTHER`;
}

function verbOf(args: readonly string[]): string {
  return args.find((arg) => /^[a-z]/.test(arg)) ?? '';
}

/** What git said that matters, in one line. */
function wordsOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const refused = lines.flatMap((line) => /^!\s.*\[.*\((.+)\)$/.exec(line)?.[1] ?? []);
  const fatal = lines.flatMap((line) => /^(?:fatal|error): (?!unable to read askpass)(.+)$/.exec(line)?.[1] ?? []);
  const told = refused.length > 0 ? refused : fatal.slice(0, 2);
  return (told.length > 0 ? told : lines.filter((line) => line !== '').slice(-1)).join('; ').replaceAll(/(:\/\/)[^\s/@]+@/g, '$1');
}

function ownedFolder(stderr: string): string | undefined {
  return /dubious ownership in repository at '([^'\n]+)'/.exec(stderr)?.[1];
}
