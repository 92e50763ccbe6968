import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import {
  disablePrograms,
  isUserSetting,
  type GitContext,
  type GitSetting,
  type ScopedGitSetting,
  locateRepository,
  untrustedRepositoryError,
} from './git-environment.ts';
import { missingObject, readObjects } from './objects.ts';
import { runPlumbing, runPorcelain } from './run-git.ts';

/** A repository, seen from one of its folders; `folder` is the top folder. */
export type Repository = GitContext & {
  readonly settings: GitSettings;
  /** The folder's path from the top of the repository, without a final slash; empty at the top. */
  readonly prefix: string;
  /** Whether the history before some commits is missing. */
  readonly shallow: boolean;
  /** The commit that is checked out; undefined before the first one. */
  readonly head: string | undefined;
};

/** Returns true if the folder may be in a repository with files; does not run git. */
export function mayBeInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (at === dirname(at)) return false;
  }
}

/**
 * Opens the repository of the folder; undefined outside a repository. The first command runs without the location of the
 * repository, because only then git checks that the folder belongs to the user (`safe.directory`). Throws AppError when git finds
 * another repository than `locateRepository`.
 */
export async function openRepository(context: GitContext): Promise<Repository | undefined> {
  const located = locateRepository(context);
  if (located === undefined) return undefined;
  const { top: folder, gitFolder, prefix } = located;
  const { env } = context;
  const atTop = { folder, env: { ...env, GIT_CEILING_DIRECTORIES: dirname(folder) } };
  const options = ['--is-shallow-repository', '--absolute-git-dir'];
  const [shallow, ...found] = (await runPorcelain(atTop, (git) => git.raw('rev-parse', ...options))).split('\n');
  if (found.join('\n') !== `${gitFolder}\n`) throw untrustedRepositoryError(folder, 'git finds another repository there');
  const settings = await readSettings({ folder, env, gitFolder });
  const opened = { env, folder, gitFolder, overrides: settings.overrides, settings, prefix, shallow: shallow === 'true' };
  // The same object: all reads of a repository share a process.
  return Object.assign(opened, { head: await findCommit(opened, 'HEAD') });
}

/** Returns the commit that a revision names. Throws AppError when the text is no revision or the commit is missing. */
export async function resolveCommit(repository: Repository, revision: string): Promise<string> {
  if (!isRevision(revision)) {
    throw new AppError('git/bad-ref', 3, `${JSON.stringify(revision)} is not a commit`, {
      hint: 'use a branch, a tag or a commit, such as origin/main, v1.2 or 3f2a9c1',
    });
  }
  const commit = await findCommit(repository, revision);
  if (commit !== undefined) return commit;
  const hint = repository.shallow ? shallowHint(revision) : `check the name; if origin has it: ${fetchCommandFor(revision, false)}`;
  throw new AppError('git/no-such-commit', 3, `unknown commit "${revision}" in this repository`, { hint });
}

/** Returns the hint for a commit, or its history, that a shallow clone may not contain. */
export function shallowHint(revision: string): string {
  const command = fetchCommandFor(revision, true);
  return `the clone is shallow, so it may just be missing: ${command}; or check out with fetch-depth: 0 (GitHub), GIT_DEPTH: 0 (GitLab)`;
}

/** Returns the command that fetches a revision from origin, with its history into a shallow clone. */
function fetchCommandFor(revision: string, shallow: boolean): string {
  const command = `git fetch${shallow ? ' --unshallow' : ''} origin`;
  const [, branch] = /^(?:refs\/remotes\/)?origin\/([\w./-]+)$/.exec(revision) ?? [];
  if (branch !== undefined) return `${command} +refs/heads/${branch}:refs/remotes/origin/${branch}`;
  return /^[0-9a-f]{40,64}$/.test(revision) ? `${command} ${revision}` : command;
}

/** Returns the time of the commit. */
export async function committedAt(repository: Repository, commit: string): Promise<Date> {
  const [, seconds] = /^committer .* (\d+) [+-]\d+$/m.exec((await readCommit(repository, commit))?.header ?? '') ?? [];
  if (seconds === undefined) throw missingObject(commit);
  return new Date(Number(seconds) * 1000);
}

/** Returns the last common ancestor; undefined if the history has none. */
export async function mergeBaseOf(repository: Repository, left: string, right: string): Promise<string | undefined> {
  return nonEmptyLines(await runPorcelain(repository, (git) => git.raw('merge-base', left, right), { allowedExitCodes: [0, 1] }))[0];
}

/** Returns the root commits of HEAD, which identify the repository; empty in a shallow clone. */
export async function rootsOf(repository: Repository): Promise<readonly string[]> {
  if (repository.shallow || repository.head === undefined) return [];
  return nonEmptyLines(await runPorcelain(repository, (git) => git.raw('rev-list', '--max-parents=0', 'HEAD', '--'))).toSorted();
}

/** Returns the commit that a revision names; undefined if this clone does not have it. */
export async function findCommit(repository: GitContext, revision: string): Promise<string | undefined> {
  return (await readCommit(repository, revision))?.id;
}

/** Returns true for a branch, a tag or a commit; false for an option, a range, a path at a commit, or several words. */
function isRevision(text: string): boolean {
  return /^(?![-^])[^\s\p{Cc}:?*[\\]+$/u.test(text) && !text.includes('..');
}

/** Returns the lines of an output that are not empty. */
export function nonEmptyLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Git's configuration for a repository; the last value of a key counts. Keys have sections and names in lower case. */
type GitSettings = {
  /** Returns the effective value; undefined or empty if the key is not set. */
  readonly valueOf: (key: string) => string | undefined;
  /** Returns the value that the user set, in their own files or the environment; ignores that of the repository. */
  readonly userValueOf: (key: string) => string | undefined;
  /** Settings with which git runs no program that the repository names. */
  readonly overrides: readonly GitSetting[];
};

/** Reads the configuration and the files that it includes. Runs no program of the repository. */
async function readSettings(context: GitContext): Promise<GitSettings> {
  const { stdout } = await runPlumbing(context, ['config', '--list', '--show-scope', '-z']);
  const all = scopedSettings(stdout.toString());
  const values = new Map(all.map(({ key, value }) => [key, value]));
  const own = new Map(all.filter(isUserSetting).map(({ key, value }) => [key, value]));
  return { valueOf: (key) => values.get(key), userValueOf: (key) => own.get(key), overrides: disablePrograms(all) };
}

/** Parses a sequence of `SCOPE\0KEY\nVALUE\0`; a key without a value has no line break. */
function scopedSettings(text: string): readonly ScopedGitSetting[] {
  const tokens = text.split('\0');
  return tokens.flatMap((scope, index) => {
    const entry = tokens[index + 1];
    if (index % 2 === 1 || entry === undefined) return [];
    const end = entry.indexOf('\n');
    return [{ scope, key: end < 0 ? entry : entry.slice(0, end), value: end < 0 ? '' : entry.slice(end + 1) }];
  });
}

/** Returns true if the descendant is the commit or contains it; false if this clone has not enough history to know. */
export async function containsCommit(repository: Repository, descendant: string, commit: string): Promise<boolean> {
  if (descendant === commit) return true;
  return (await findCommit(repository, commit)) !== undefined && (await mergeBaseOf(repository, commit, descendant)) === commit;
}

/** Returns the parents that a commit names, also those that a shallow clone does not have. */
export async function parentsOf(repository: Repository, commit: string): Promise<readonly string[]> {
  return (await readCommit(repository, commit))?.parents ?? [];
}

/** A commit; `header` has the lines before its message. */
type CommitObject = {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly header: string;
  readonly message: string;
};

/** Reads the commit that a revision names; undefined if this clone does not have it. */
export async function readCommit(repository: GitContext, revision: string): Promise<CommitObject | undefined> {
  // Git reads one name from each line.
  if (revision.includes('\n')) return undefined;
  let commit: CommitObject | undefined;
  await readObjects(repository, [`${revision}^{commit}`], {
    onObject(object) {
      if (object === undefined) return;
      const text = object.bytes.toString();
      const end = text.indexOf('\n\n');
      const header = text.slice(0, end);
      const [tree = '', ...parents] = [...header.matchAll(/^(?:tree|parent) ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
      commit = { id: object.id, tree, parents, header, message: text.slice(end + 2) };
    },
  });
  return commit;
}

/** Returns the newest commits of a commit's own line, without the branches that it merged, back to another commit; at most `most`. */
export async function commitsSince(repository: Repository, base: string, commit: string, most: number): Promise<readonly string[]> {
  const { stdout } = await runPlumbing(repository, ['rev-list', '--first-parent', `--max-count=${most}`, commit, `^${base}`]);
  return nonEmptyLines(stdout.toString());
}
