import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { askGit, type Place } from './ask-git.ts';
import { failureOf } from './failure.ts';

/** A repository as it is seen from one of its folders; `folder` is its top. */
export type Repository = Place & {
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

/** Opens the repository that the folder lies in; undefined where there is none. */
export async function openRepository(place: Place): Promise<Repository | undefined> {
  const args = ['rev-parse', '--is-inside-work-tree', '--is-shallow-repository', '--show-prefix', '--show-toplevel'];
  const { code, stdout, stderr } = await askGit(place, args, { answers: [0, 128] });
  const [inside, shallow, prefix = '', ...folder] = stdout.toString().split('\n');
  if (inside === 'false') {
    throw new AppError(
      'git/no-working-tree',
      3,
      `${place.folder} lies in a repository without files: a bare one, or a folder of git's own`,
      {
        hint: 'run in a clone of it',
      },
    );
  }
  if (/not a git repository/.test(stderr)) return undefined;
  if (code !== 0) throw failureOf(place.folder, args, stderr);
  return {
    env: place.env,
    folder: folder.join('\n').replace(/\n$/, ''),
    prefix: prefix.replace(/\/$/, ''),
    shallow: shallow === 'true',
  };
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

/** The last commit that both come from; undefined where history shows none. */
export async function mergeBaseOf(repository: Repository, left: string, right: string): Promise<string | undefined> {
  const { stdout } = await askGit(repository, ['merge-base', left, right], { answers: [0, 1] });
  return lineOf(stdout);
}

async function commitOf(repository: Repository, words: string): Promise<string | undefined> {
  const { stdout } = await askGit(repository, ['rev-parse', '--verify', '--quiet', `${words}^{commit}`], { answers: [0, 1, 128] });
  return lineOf(stdout);
}

/** Names of commits as people give them; never an option, a range, a path at a commit or more than one word. */
function isRevision(words: string): boolean {
  return /^(?![-^])[^\s\p{Cc}:?*[\\]+$/u.test(words) && !words.includes('..');
}

function lineOf(stdout: Buffer): string | undefined {
  const text = stdout.toString().trim();
  return text === '' ? undefined : text;
}
