import { createHash } from 'node:crypto';
import { AppError } from '../model/errors.ts';
import { appliedRefName, catchOriginError } from './applied-refs.ts';
import { fetchOrigin, hasOrigin, listOrigin, pushOrigin } from './origin.ts';
import { folderMode, foldersAbove, listTree } from './objects.ts';
import type { CommittedFile } from './read-tree.ts';
import { findRef } from './refs.ts';
import { readCommit, type Repository } from './repository.ts';
import { readGitLines, runGit } from './run-git.ts';

/** A file to write; `next` is its new content, `id` the blob that it replaces. */
export type FileUpdate = Pick<CommittedFile, 'path' | 'mode' | 'id'> & { readonly next: Buffer };

/** The one commit that a branch will be ahead of its parent. */
type BranchCommit = {
  readonly branch: string;
  readonly parent: string;
  readonly files: readonly FileUpdate[];
  readonly message: string;
  readonly now: Date;
  readonly origin: boolean;
};

/** Returns the paths in a commit that block new files: entries at the paths, and files at their parent folders. */
export async function findBlockingPaths(repository: Repository, commit: string, paths: readonly string[]): Promise<readonly string[]> {
  const needed = paths.flatMap((path) => [...foldersAbove(path), path]);
  const entries = await listTree(repository, commit, { paths: needed, below: false });
  return entries.flatMap(({ path, mode }) => (mode === folderMode ? [] : [path]));
}

/**
 * Makes the branch of this clone exactly one commit ahead of its parent, without changing the checkout; keeps a branch that
 * already has just this change. Throws AppError when the branch has commits of other people, or is checked out.
 */
export async function updateBranch(
  repository: Repository,
  own: BranchCommit,
): Promise<{ readonly commit: string; readonly unchanged: boolean }> {
  const ref = refOf(own.branch);
  await requireNotCheckedOut(repository, own.branch);
  const atOrigin = own.origin && hasOrigin(repository) ? await fetchBranch(repository, own.branch) : undefined;
  const tip = atOrigin ?? (await findRef(repository, ref));
  if (tip !== undefined) await requireAdoptCommit(repository, tip, own);
  if (tip !== undefined && (await isSameChange(repository, tip, own))) {
    await runGit(repository, ['update-ref', '-m', 'ostiary drift --adopt', ref, tip]);
    return { commit: tip, unchanged: true };
  }
  const script = importScript(repository, ref, own);
  await runGit(repository, ['fast-import', '--quiet', '--force', '--done'], { input: script });
  const commit = await findRef(repository, ref);
  if (commit === undefined) throw new AppError('git/failed', 4, `git did not create the branch ${own.branch}`);
  return { commit, unchanged: false };
}

/** Pushes the branch if origin has not changed since it was last read; returns the error if that fails, and false without an origin. */
export async function pushBranch(repository: Repository, branch: string, commit: string): Promise<AppError | boolean> {
  if (!hasOrigin(repository)) return false;
  const ref = refOf(branch);
  const known = await findRef(repository, originRef(branch));
  if (known === commit) return true;
  return catchOriginError(async () => {
    await pushOrigin(repository, commit, ref, known ?? '');
    await runGit(repository, ['update-ref', originRef(branch), commit]);
    return true;
  });
}

function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

/** Returns the ref that stores the branch as origin had it when it was last read. */
function originRef(branch: string): string {
  return `refs/ostiary/branches/${branch}`;
}

/** Throws AppError when the branch is checked out: moving it would make all of its files look changed. */
async function requireNotCheckedOut(repository: Repository, branch: string): Promise<void> {
  const trees = await readGitLines(repository, ['worktree', 'list', '--porcelain']);
  if (!trees.includes(`branch ${refOf(branch)}`)) return;
  throw new AppError('git/branch-checked-out', 3, `the branch ${branch} is checked out`, {
    hint: 'check out the branch that you apply, then run the command again',
  });
}

/** Fetches the branch of origin; undefined if origin does not have it. */
async function fetchBranch(repository: Repository, branch: string): Promise<string | undefined> {
  const ref = refOf(branch);
  if (!(await listOrigin(repository, [ref])).has(ref)) {
    await runGit(repository, ['update-ref', '-d', originRef(branch)]);
    return undefined;
  }
  await fetchOrigin(repository, [`+${ref}:${originRef(branch)}`], 2);
  return findRef(repository, originRef(branch));
}

/** The trailer in the message of Ostiary's own commits. */
export const adoptTrailer = 'Ostiary-Adopt';

async function requireAdoptCommit(repository: Repository, tip: string, { branch }: BranchCommit): Promise<void> {
  const { message = '' } = (await readCommit(repository, tip)) ?? {};
  if (message.split('\n').some((line) => line.startsWith(`${adoptTrailer}: `))) return;
  throw new AppError('git/branch-taken', 3, `the branch ${branch} has a commit by another author (${tip.slice(0, 10)})`, {
    hint: 'merge it, or delete the branch, here and on origin; then run the command again',
  });
}

/** Returns true if the commit changes the same files from the same blobs to the same blobs as ours would. */
async function isSameChange(repository: Repository, tip: string, { files }: BranchCommit): Promise<boolean> {
  const raw = ['diff-tree', '-r', '-z', '--no-commit-id', '--no-renames', '--no-abbrev', `${tip}^`, tip, '--'];
  const { code, stdout } = await runGit(repository, raw, { allowedExitCodes: [0, 128] });
  if (code !== 0) return false;
  const tokens = stdout.toString().split('\0');
  const actual = tokens.flatMap((token, index) => {
    const [, , before, after] = token.startsWith(':') ? token.split(' ') : [];
    return before === undefined ? [] : [`${tokens[index + 1] ?? ''} ${before} ${after ?? ''}`];
  });
  const expected = files.map(({ path, id, next }) => `${path} ${id} ${blobId(next, id.length)}`);
  return actual.toSorted().join('\0') === expected.toSorted().join('\0');
}

/** Returns the id of a blob, SHA-256 or SHA-1 depending on the length of the repository's ids. */
function blobId(bytes: Buffer, length: number): string {
  return createHash(length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest('hex');
}

function importScript(repository: Repository, ref: string, { parent, files, message, now }: BranchCommit): string {
  const [author, committer] = [identityOf(repository, 'AUTHOR'), identityOf(repository, 'COMMITTER')];
  const time = `${Math.floor(now.getTime() / 1000)} +0000`;
  const parts = [
    `commit ${ref}\nauthor ${author} ${time}\ncommitter ${committer} ${time}\n${dataCommand(Buffer.from(message))}from ${parent}\n`,
    ...files.map(({ path, mode, next }) => `M ${mode} inline ${quotePath(path)}\n${dataCommand(next)}`),
    'done\n',
  ];
  return parts.join('');
}

/** Returns the author or the committer, from the environment or git's settings, otherwise Ostiary. */
function identityOf({ env, settings }: Repository, role: 'AUTHOR' | 'COMMITTER'): string {
  const name = env[`GIT_${role}_NAME`] ?? settings.valueOf('user.name') ?? '';
  const email = env[`GIT_${role}_EMAIL`] ?? settings.valueOf('user.email') ?? '';
  return `${removeControlCharacters(name) || 'Ostiary'} <${removeControlCharacters(email) || 'ostiary@noreply.invalid'}>`;
}

/** Returns the `data` command of fast-import; the content must be UTF-8, as manifests are. */
function dataCommand(bytes: Buffer): string {
  return `data ${bytes.length}\n${bytes.toString()}\n`;
}

function quotePath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

function removeControlCharacters(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, '').trim();
}

/** Returns the branch whose pull request adopts the drift of a target; it contains the folder of the config file, and the label. */
export function adoptionBranch({ prefix }: Pick<Repository, 'prefix'>, target: string, label = ''): string {
  const place = [prefix, label].filter((part) => part !== '').join('/');
  return `ostiary/adopt/${appliedRefName(place, target)}`;
}
