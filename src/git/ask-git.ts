import { environmentOf, settings, type Place } from './place.ts';
import { runGit, type GitEnd } from './run-git.ts';
import { AppError } from '../model/errors.ts';

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
