import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { locateRepository, untrustedRepository, type Place, environmentOf, settings } from './place.ts';
import { readSettings, type GitSettings } from './read-settings.ts';
import { Readable } from 'node:stream';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { failureOf, lateGit, missingGit } from './ask-git.ts';

/** A repository as it is seen from one of its folders; `folder` is its top. */
export type Repository = Place & {
  readonly settings: GitSettings;
  /** The folder's path from the top of the repository, without a final slash; empty at the top. */
  readonly prefix: string;
  /** History before some commits is missing. */
  readonly shallow: boolean;
};

/** Tells without asking git whether the folder may lie in a repository with files. */
export function mayBeInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (at === dirname(at)) return false;
  }
}

/**
 * Opens the repository that the folder lies in; undefined where there is none. Git is asked once without being told where the
 * repository is: only then it checks that its folder belongs to the user (`safe.directory`). It has to find the same one.
 */
export async function openRepository(place: Place): Promise<Repository | undefined> {
  const located = locateRepository(place);
  if (located === undefined) return undefined;
  const { top: folder, gitFolder, prefix } = located;
  const { env } = place;
  const alone = { folder, env: { ...env, GIT_CEILING_DIRECTORIES: dirname(folder) } };
  const words = ['--is-shallow-repository', '--absolute-git-dir'];
  const [shallow, ...found] = (await withGit(alone, (git) => git.raw('rev-parse', ...words))).split('\n');
  if (found.join('\n') !== `${gitFolder}\n`) throw untrustedRepository(folder, 'git finds another repository there');
  const settings = await readSettings({ folder, env, gitFolder });
  return { env, folder, gitFolder, overrides: settings.overrides, settings, prefix, shallow: shallow === 'true' };
}

/** The commit that is checked out; undefined before the first one. */
export async function headOf(repository: Repository): Promise<string | undefined> {
  return commitOf(repository, 'HEAD');
}

/** The commit that the user's words mean; whatever is none is an AppError that says what to do. */
export async function resolveCommit(repository: Repository, words: string): Promise<string> {
  if (!isRevision(words)) {
    throw new AppError('git/bad-ref', 3, `${JSON.stringify(words)} names no commit`, {
      hint: 'give a branch, a tag or a commit, such as origin/main, v1.2 or 3f2a9c1',
    });
  }
  const commit = await commitOf(repository, words);
  if (commit !== undefined) return commit;
  const hint = repository.shallow
    ? 'the clone is shallow, so it may just be missing: check out with fetch-depth: 0, or run git fetch --unshallow'
    : 'check the name; a branch of origin is there after git fetch';
  throw new AppError('git/no-such-commit', 3, `there is no commit "${words}" in this repository`, { hint });
}

/** Returns whether this clone has the commit. */
export async function hasCommit(repository: Repository, commit: string): Promise<boolean> {
  return (await commitOf(repository, commit)) !== undefined;
}

/** When the commit was made. */
export async function committedAt(repository: Repository, commit: string): Promise<Date> {
  return new Date(Number(await withGit(repository, (git) => git.show(['--no-patch', '--format=%ct', commit, '--']))) * 1000);
}

/** The last commit that both come from; undefined where history shows none. */
export async function mergeBaseOf(repository: Repository, left: string, right: string): Promise<string | undefined> {
  return lineOf(await withGit(repository, (git) => git.raw('merge-base', left, right), { answers: [0, 1] }));
}

/** The first commits of the history of what is checked out, which no other repository has; empty where history is cut off. */
export async function rootsOf(repository: Repository): Promise<readonly string[]> {
  if (repository.shallow || (await headOf(repository)) === undefined) return [];
  const text = await withGit(repository, (git) => git.raw('rev-list', '--max-parents=0', 'HEAD', '--'));
  return text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

async function commitOf(repository: Repository, words: string): Promise<string | undefined> {
  const answers = [0, 1, 128];
  return lineOf(await withGit(repository, (git) => git.revparse(['--verify', '--quiet', `${words}^{commit}`]), { answers }));
}

/** Names of commits as people give them; never an option, a range, a path at a commit or more than one word. */
function isRevision(words: string): boolean {
  return /^(?![-^])[^\s\p{Cc}:?*[\\]+$/u.test(words) && !words.includes('..');
}

function lineOf(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

export type Wish = {
  /** Exit codes that are answers; another one is thrown as what went wrong. */
  readonly answers?: readonly number[];
  /** The longest that git may take, in milliseconds. */
  readonly patience?: number;
};

const defaultPatience = 120_000;

// What simple-git refuses unless told, so that no argument smuggles it in. Here arguments are ours, none begins with what somebody
// wrote, and such settings and programs are the user's own: git finds the same ones in its files.
const ofTheUser: NonNullable<SimpleGitOptions['unsafe']> = Object.fromEntries(
  [
    ['AskPass', 'CredentialHelper', 'SshCommand', 'GitProxy', 'UrlRewrite', 'ProtocolOverride', 'Exec', 'Pack'],
    ['ConfigEnvCount', 'ConfigPaths', 'Include', 'Alias', 'CommandBinaries', 'Editor', 'Pager', 'MergeDriver', 'HooksPath', 'FsMonitor'],
    ['DiffExternal', 'DiffTextConv', 'Filter', 'GpgProgram', 'TemplateDir', 'Submodule'],
  ]
    .flat()
    .map((name) => [`allowUnsafe${name}`, true]),
);

/**
 * Runs one command of git's porcelain without a prompt or a hook, with all that git is kept from in `askGit`. What it cannot do
 * is an AppError in plain words.
 */
export async function withGit<T>(
  place: Place,
  command: (git: SimpleGit) => PromiseLike<T>,
  { answers = [0], patience = defaultPatience }: Wish = {},
): Promise<T> {
  // Loaded with the first question: outside of repositories nobody asks.
  const { simpleGit, GitError } = await import('simple-git');
  const abort = AbortSignal.timeout(patience);
  const env = environmentOf(place);
  let ended: { readonly code: number | null; readonly said: string } | undefined;
  try {
    const git = simpleGit({
      baseDir: place.folder,
      config: [...settings],
      abort,
      // Output is whole when its pipes are closed, not some time after the exit.
      completion: { onClose: true, onExit: false },
      allowEnvironment: Object.keys(env),
      unsafe: ofTheUser,
      errors(error, { exitCode, stdErr, stdOut }) {
        ended = { code: exitCode, said: Buffer.concat([...stdErr, ...stdOut]).toString() };
        if (abort.aborted) return error;
        return answers.includes(exitCode) ? undefined : new Error(`git ended with ${exitCode}`);
      },
    });
    git.env({ ...env }).outputHandler((_, ...outputs) => {
      // What git started may hold these pipes open after git has ended.
      const close = (): void => {
        for (const output of outputs) if (output instanceof Readable) output.destroy();
      };
      abort.addEventListener('abort', close);
    });
    return await command(git);
  } catch (error) {
    const words = error instanceof GitError ? (error.task?.commands ?? []) : [];
    if (abort.aborted) throw lateGit(words, patience);
    if (ended?.code !== undefined && (ended.code ?? 0) < 0) throw missingGit(error);
    throw failureOf(place.folder, words, ended?.said ?? String(error));
  }
}
