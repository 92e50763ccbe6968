import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
import { readGitLines, runGit } from './run-git.ts';

/** A repository, seen from one of its folders; `folder` is the top folder. */
export type Repository = GitContext & {
  readonly settings: GitSettings;
  /** The folder's path from the top of the repository, without a final slash; empty at the top. */
  readonly prefix: string;
  /** Whether the history before some commits is missing. */
  readonly shallow: boolean;
  /** The length of ids: 40 digits of SHA-1, or 64 of SHA-256. */
  readonly idLength: number;
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
  const { shallow, idLength, head: checkedOut } = await describeRepository(atTop, gitFolder);
  const known = { folder, env, gitFolder };
  const [settings, head] = await Promise.all([readSettings(known), checkedOut ?? readHead(known)]);
  const { overrides } = settings;
  const partial = settings.isPartial ? { partial: true as const } : {};
  return { ...known, ...partial, overrides, settings, prefix, idLength, shallow, head };
}

const facts = ['rev-parse', '--is-shallow-repository', '--show-object-format', '--absolute-git-dir'];

/**
 * Describes the repository with one process; `head` is undefined before the first commit, and where git may have taken another ref for HEAD.
 * Throws AppError when git finds another repository than `gitFolder`.
 */
async function describeRepository(context: GitContext, gitFolder: string): Promise<Pick<Repository, 'shallow' | 'idLength' | 'head'>> {
  const answer = await runGit(context, [...facts, 'HEAD', '--symbolic-full-name', 'HEAD'], { allowedExitCodes: [0, 128] });
  // Before the first commit git fails at HEAD.
  const { stdout } = answer.code === 0 ? answer : await runGit(context, facts);
  const [shallow, format, ...found] = stdout.toString().split('\n');
  const rest = found.join('\n');
  if (!rest.startsWith(`${gitFolder}\n`)) throw untrustedRepositoryError(context.folder, 'git finds another repository there');
  const [id = '', name = ''] = rest.slice(gitFolder.length + 1).split('\n');
  const content = readFileSync(join(gitFolder, 'HEAD'), 'utf8');
  const isExact = content === `ref: ${name}\n` || content === `${id}\n`;
  return { shallow: shallow === 'true', idLength: format === 'sha256' ? 64 : 40, head: isExact ? id : undefined };
}

/** Returns the commit that is checked out; undefined before the first one. Git would take a tag of this name for a missing HEAD. */
async function readHead(context: GitContext): Promise<string | undefined> {
  const lines = await readGitLines(context, ['show-ref', '--verify', '--hash', 'HEAD'], { allowedExitCodes: [0, 1, 128] });
  return lines[0];
}

/** Returns the time of the commit. */
export async function committedAt(repository: Repository, commit: string): Promise<Date> {
  const read = await readCommit(repository, commit);
  if (read === undefined) throw missingObject(repository, commit);
  return read.at;
}

/** By two commits: what git found in a whole clone, where more history changes nothing. */
const mergeBases = new WeakMap<Repository, Map<string, string | undefined>>();

/** Returns the last common ancestor; undefined if the history has none. */
export async function mergeBaseOf(repository: Repository, left: string, right: string): Promise<string | undefined> {
  const known = mergeBases.get(repository) ?? new Map<string, string | undefined>();
  const key = `${left} ${right}`;
  if (known.has(key)) return known.get(key);
  // The commits of a shallow clone name parents that git does not follow.
  const directions = repository.shallow
    ? []
    : ([
        [left, right],
        [right, left],
      ] as const);
  for (const [descendant, commit] of directions) if (await descendsShortly(repository, descendant, commit)) return commit;
  const [found] = await readGitLines(repository, ['merge-base', left, right], { allowedExitCodes: [0, 1] });
  if (!repository.shallow) mergeBases.set(repository, known.set(key, found));
  return found;
}

// Most plans compare commits that are near each other, and a process takes as long as reading a hundred commits.
const shortHistory = 40;

/** Returns true if the commit is among the last ones that the descendant contains, or is itself the descendant. */
async function descendsShortly(repository: Repository, descendant: string, commit: string): Promise<boolean> {
  const seen = new Set([descendant]);
  for (const id of seen) {
    if (id === commit) return true;
    if (seen.size < shortHistory) for (const parent of await parentsOf(repository, id)) seen.add(parent);
  }
  return false;
}

/** Returns the root commits of HEAD, which identify the repository; empty in a shallow clone. */
export async function rootsOf(repository: Repository): Promise<readonly string[]> {
  if (repository.shallow || repository.head === undefined) return [];
  return (await readGitLines(repository, ['rev-list', '--max-parents=0', repository.head, '--'])).toSorted();
}

/** Returns true for a whole id of an object, which git reads as nothing else. */
export function isCommitId({ idLength }: Pick<Repository, 'idLength'>, text: string): boolean {
  return text.length === idLength && /^[0-9a-f]+$/.test(text);
}

/** Returns the commit with the id of a commit or of a tag; undefined if this clone does not have it, and for any other text. */
export async function findCommit(repository: Repository, id: string): Promise<string | undefined> {
  return (await readCommit(repository, id))?.id;
}

/** Git's configuration for a repository; the last value of a key counts. Keys have sections and names in lower case. */
type GitSettings = {
  /** Returns the effective value; undefined or empty if the key is not set. */
  readonly valueOf: (key: string) => string | undefined;
  /** Returns the value that the user set, in their own files or the environment; ignores that of the repository. */
  readonly userValueOf: (key: string) => string | undefined;
  /** Settings with which git runs no program that the repository names. */
  readonly overrides: readonly GitSetting[];
  /** Whether a filter left objects out when the repository was cloned. */
  readonly isPartial: boolean;
};

/** Reads the configuration and the files that it includes. Runs no program of the repository. */
async function readSettings(context: GitContext): Promise<GitSettings> {
  const { stdout } = await runGit(context, ['config', '--list', '--show-scope', '-z']);
  const all = scopedSettings(stdout.toString());
  const values = new Map(all.map(({ key, value }) => [key, value]));
  const own = new Map(all.filter(isUserSetting).map(({ key, value }) => [key, value]));
  const isPartial = [...values.keys()].some((key) => /^(?:extensions\.partialclone|remote\..+\.promisor)$/s.test(key));
  return { valueOf: (key) => values.get(key), userValueOf: (key) => own.get(key), overrides: disablePrograms(all), isPartial };
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

/** Returns true if the descendant is the commit or contains it; false if this clone has not enough history of both to know. */
export async function containsCommit(repository: Repository, descendant: string, commit: string): Promise<boolean> {
  if (descendant === commit) return true;
  for (const id of [descendant, commit]) if ((await findCommit(repository, id)) === undefined) return false;
  return (await mergeBaseOf(repository, commit, descendant)) === commit;
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
  /** When it was committed. */
  readonly at: Date;
  readonly header: string;
  readonly message: string;
};

/**
 * Reads the commit with an id, which may be followed by steps back such as `~2`; undefined if this clone does not have it, and for any other
 * text: only `resolveCommit` reads names.
 */
export async function readCommit(repository: Repository, id: string): Promise<CommitObject | undefined> {
  if (!isCommitId(repository, id.replace(/(?:[~^]\d*)+$/, ''))) return undefined;
  let commit: CommitObject | undefined;
  await readObjects(repository, [`${id}^{commit}`], {
    onObject(object) {
      if (object === undefined) return;
      const text = object.bytes.toString();
      const end = text.indexOf('\n\n');
      const header = text.slice(0, end);
      const [tree = '', ...parents] = [...header.matchAll(/^(?:tree|parent) ([0-9a-f]+)$/gm)].map(([, found = '']) => found);
      const [, seconds] = /^committer .* (\d+) [+-]\d+$/m.exec(header) ?? [];
      commit = { id: object.id, tree, parents, at: new Date(Number(seconds) * 1000), header, message: text.slice(end + 2) };
    },
  });
  return commit;
}

/** Returns the newest commits of a commit's own line, without the branches that it merged, back to another commit; at most `most`. */
export async function commitsSince(repository: Repository, base: string, commit: string, most: number): Promise<readonly string[]> {
  return readGitLines(repository, ['rev-list', '--first-parent', `--max-count=${most}`, commit, `^${base}`]);
}
