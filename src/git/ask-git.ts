import { failureOf, lateGit, missingGit } from './failure.ts';
import { environmentOf, settings, type Place } from './place.ts';
import { runGit, type GitEnd } from './run-git.ts';

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
