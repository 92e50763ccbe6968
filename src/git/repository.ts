import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { disablePrograms, isUserSetting, type GitContext, type GitSetting, type ScopedGitSetting } from './git-environment.ts';
import { locateRepository, untrustedRepositoryError } from './locate-repository.ts';
import { runPlumbing, runPorcelain } from './run-git.ts';

/** A repository as it is seen from one of its folders; `folder` is its top. */
export type Repository = GitContext & {
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
export async function openRepository(place: GitContext): Promise<Repository | undefined> {
  const located = locateRepository(place);
  if (located === undefined) return undefined;
  const { top: folder, gitFolder, prefix } = located;
  const { env } = place;
  const alone = { folder, env: { ...env, GIT_CEILING_DIRECTORIES: dirname(folder) } };
  const words = ['--is-shallow-repository', '--absolute-git-dir'];
  const [shallow, ...found] = (await runPorcelain(alone, (git) => git.raw('rev-parse', ...words))).split('\n');
  if (found.join('\n') !== `${gitFolder}\n`) throw untrustedRepositoryError(folder, 'git finds another repository there');
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
  return new Date(Number(await runPorcelain(repository, (git) => git.show(['--no-patch', '--format=%ct', commit, '--']))) * 1000);
}

/** The last commit that both come from; undefined where history shows none. */
export async function mergeBaseOf(repository: Repository, left: string, right: string): Promise<string | undefined> {
  return lineOf(await runPorcelain(repository, (git) => git.raw('merge-base', left, right), { allowedExitCodes: [0, 1] }));
}

/** The first commits of the history of what is checked out, which no other repository has; empty where history is cut off. */
export async function rootsOf(repository: Repository): Promise<readonly string[]> {
  if (repository.shallow || (await headOf(repository)) === undefined) return [];
  const text = await runPorcelain(repository, (git) => git.raw('rev-list', '--max-parents=0', 'HEAD', '--'));
  return text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

async function commitOf(repository: Repository, words: string): Promise<string | undefined> {
  const answers = [0, 1, 128];
  return lineOf(
    await runPorcelain(repository, (git) => git.revparse(['--verify', '--quiet', `${words}^{commit}`]), { allowedExitCodes: answers }),
  );
}

/** Names of commits as people give them; never an option, a range, a path at a commit or more than one word. */
function isRevision(words: string): boolean {
  return /^(?![-^])[^\s\p{Cc}:?*[\\]+$/u.test(words) && !words.includes('..');
}

function lineOf(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

/** What git's configuration says for a repository; the last value of a key counts. Keys are spelled in git's own way. */
export type GitSettings = {
  /** The value of all files together; undefined or empty: nothing. */
  readonly valueOf: (key: string) => string | undefined;
  /** The value that the user set, in their own files or their environment; the repository's does not count. */
  readonly userValueOf: (key: string) => string | undefined;
  /** Settings with which git runs no program that the repository names. */
  readonly overrides: readonly GitSetting[];
};

/** Reads the configuration once, with the files that it includes. Reading it runs nothing. */
export async function readSettings(place: GitContext): Promise<GitSettings> {
  const { stdout } = await runPlumbing(place, ['config', '--list', '--show-scope', '-z']);
  const all = scopedSettings(stdout.toString());
  const values = new Map(all.map(({ key, value }) => [key, value]));
  const own = new Map(all.filter(isUserSetting).map(({ key, value }) => [key, value]));
  return { valueOf: (key) => values.get(key), userValueOf: (key) => own.get(key), overrides: disablePrograms(all) };
}

/** Takes `SCOPE\0KEY\nVALUE\0`, again and again; a key without a value has no line break. */
function scopedSettings(text: string): readonly ScopedGitSetting[] {
  const tokens = text.split('\0');
  return tokens.flatMap((scope, index) => {
    const entry = tokens[index + 1];
    if (index % 2 === 1 || entry === undefined) return [];
    const end = entry.indexOf('\n');
    return [{ scope, key: end < 0 ? entry : entry.slice(0, end), value: end < 0 ? '' : entry.slice(end + 1) }];
  });
}
