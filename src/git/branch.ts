import { createHash } from 'node:crypto';
import { AppError } from '../model/errors.ts';
import { fetchOrigin, hasOrigin, listOrigin, pushOrigin } from './origin.ts';
import { readBlobs } from './read-tree-at.ts';
import type { Repository } from './repository.ts';
import { runPlumbing, runPorcelain } from './run-git.ts';

/** A file as a commit has it; `path` counts from the top of the repository. */
export type CommittedFile = { readonly path: string; readonly mode: string; readonly id: string; readonly bytes: Buffer };

/** A file as it is to be. */
export type FileUpdate = Pick<CommittedFile, 'path' | 'mode' | 'id'> & { readonly next: Buffer };

/** A commit that is to be the only one of a branch. */
export type BranchCommit = {
  readonly branch: string;
  readonly parent: string;
  readonly files: readonly FileUpdate[];
  readonly message: string;
  readonly now: Date;
  /** Whether origin has a word in it. */
  readonly origin: boolean;
};

const maxFileBytes = 4 * 1024 * 1024;

/** Reads plain files of a commit; those that it has not, or that are no files, are left out. */
export async function readCommittedFiles(
  repository: Repository,
  commit: string,
  paths: readonly string[],
): Promise<readonly CommittedFile[]> {
  const { stdout } = await runPlumbing(repository, ['ls-tree', '-z', '--full-tree', commit, '--', ...paths]);
  const entries = stdout
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, mode, id, path] = /^(100\d{3}) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
      return mode === undefined || id === undefined || path === undefined ? [] : [{ mode, id, path }];
    });
  const bytes = new Map<string, Buffer>();
  await readBlobs(
    repository,
    entries.map(({ id }) => id),
    { maxBytes: maxFileBytes, onBlob: (id, all) => void bytes.set(id, all) },
  );
  return entries.map((entry) => ({ ...entry, bytes: bytes.get(entry.id) ?? Buffer.alloc(0) }));
}

/** What a commit has where files of these paths are to be, or the folders that they are to lie in. */
export async function findBlockingPaths(repository: Repository, commit: string, paths: readonly string[]): Promise<readonly string[]> {
  const places = new Set(paths.flatMap((path) => path.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'))));
  const { stdout } = await runPlumbing(repository, ['ls-tree', '-t', '-z', '--full-tree', commit, '--', ...places]);
  return stdout
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, type, path] = /^\d+ (\w+) [0-9a-f]+\t(.+)$/s.exec(line) ?? [];
      return path === undefined || type === 'tree' || !places.has(path) ? [] : [path];
    });
}

/**
 * Makes the branch exactly one commit ahead of its parent, here, without touching what is checked out; a branch that has
 * just this change already stays as it is. What somebody else committed there is never thrown away.
 */
export async function updateBranch(
  repository: Repository,
  own: BranchCommit,
): Promise<{ readonly commit: string; readonly unchanged: boolean }> {
  const ref = refOf(own.branch);
  await requireNotCheckedOut(repository, own.branch);
  const seen = own.origin && hasOrigin(repository) ? await fetchBranch(repository, own.branch) : undefined;
  const tip = seen ?? (await tipOf(repository, ref));
  if (tip !== undefined) await requireAdoptCommit(repository, tip, own);
  if (tip !== undefined && (await isSameChange(repository, tip, own))) {
    await runPlumbing(repository, ['update-ref', '-m', 'ostiary drift --adopt', ref, tip]);
    return { commit: tip, unchanged: true };
  }
  const script = importScript(repository, ref, own);
  await runPlumbing(repository, ['fast-import', '--quiet', '--force', '--done'], { input: script });
  const commit = await tipOf(repository, ref);
  if (commit === undefined) throw new AppError('git/failed', 4, `git did not make the branch ${own.branch}`);
  return { commit, unchanged: false };
}

/** Gives origin the branch, unless somebody wrote to it since it was last read; why, where that cannot be, and undefined without an origin. */
export async function pushBranch(repository: Repository, branch: string, commit: string): Promise<AppError | boolean> {
  if (!hasOrigin(repository)) return false;
  const ref = refOf(branch);
  const known = await tipOf(repository, originRef(branch));
  if (known === commit) return true;
  try {
    await pushOrigin(repository, commit, ref, known ?? '');
    await runPlumbing(repository, ['update-ref', originRef(branch), commit]);
    return true;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'git/failed' || error.code === 'git/timeout')) return error;
    throw error;
  }
}

function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

/** What origin was last seen to have. */
function originRef(branch: string): string {
  return `refs/ostiary/branches/${branch}`;
}

async function tipOf(repository: Repository, ref: string): Promise<string | undefined> {
  const { stdout } = await runPlumbing(repository, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], {
    allowedExitCodes: [0, 1, 128],
  });
  return stdout.toString().trim() || undefined;
}

/** Moving a branch under a checkout would make all of its files look changed. */
async function requireNotCheckedOut(repository: Repository, branch: string): Promise<void> {
  const trees = await runPorcelain(repository, (git) => git.raw('worktree', 'list', '--porcelain'));
  if (!trees.split('\n').includes(`branch ${refOf(branch)}`)) return;
  throw new AppError('git/branch-checked-out', 3, `the branch ${branch} is checked out`, {
    hint: 'check out the branch that is applied, then run this again',
  });
}

/** Reads the branch as origin has it; undefined where it has none. */
async function fetchBranch(repository: Repository, branch: string): Promise<string | undefined> {
  const ref = refOf(branch);
  if (!(await listOrigin(repository, ref)).some((line) => line.endsWith(`\t${ref}`))) {
    await runPlumbing(repository, ['update-ref', '-d', originRef(branch)]);
    return undefined;
  }
  await fetchOrigin(repository, `+${ref}:${originRef(branch)}`, 2);
  return tipOf(repository, originRef(branch));
}

/** The line of a message by which a commit of ours is known. */
export const adoptTrailer = 'Ostiary-Adopt';

async function requireAdoptCommit(repository: Repository, tip: string, { branch }: BranchCommit): Promise<void> {
  const message = (await runPlumbing(repository, ['show', '--no-patch', '--format=%B', tip, '--'])).stdout.toString();
  if (message.split('\n').some((line) => line.startsWith(`${adoptTrailer}: `))) return;
  throw new AppError('git/branch-taken', 3, `the branch ${branch} has a commit of somebody else (${tip.slice(0, 10)})`, {
    hint: 'merge it, or delete the branch, here and on origin; then run this again',
  });
}

/** Returns whether the commit makes of the same files, as they are in the parent of ours, what ours would make of them. */
async function isSameChange(repository: Repository, tip: string, { files }: BranchCommit): Promise<boolean> {
  const raw = ['diff-tree', '-r', '-z', '--no-commit-id', '--no-renames', '--no-abbrev', `${tip}^`, tip, '--'];
  const { code, stdout } = await runPlumbing(repository, raw, { allowedExitCodes: [0, 128] });
  if (code !== 0) return false;
  const tokens = stdout.toString().split('\0');
  const made = tokens.flatMap((token, index) => {
    const [, , before, after] = token.startsWith(':') ? token.split(' ') : [];
    return before === undefined ? [] : [`${tokens[index + 1] ?? ''} ${before} ${after ?? ''}`];
  });
  const wished = files.map(({ path, id, next }) => `${path} ${id} ${blobId(next, id.length)}`);
  return made.toSorted().join('\0') === wished.toSorted().join('\0');
}

/** The id that git gives to content, by the length of its ids. */
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

/** Who commits: as the environment or git's settings say, else Ostiary. */
function identityOf({ env, settings }: Repository, role: 'AUTHOR' | 'COMMITTER'): string {
  const name = env[`GIT_${role}_NAME`] ?? settings.valueOf('user.name') ?? '';
  const email = env[`GIT_${role}_EMAIL`] ?? settings.valueOf('user.email') ?? '';
  return `${removeControlCharacters(name) || 'Ostiary'} <${removeControlCharacters(email) || 'ostiary@noreply.invalid'}>`;
}

/** Content of which git reads so many bytes; manifests are UTF-8. */
function dataCommand(bytes: Buffer): string {
  return `data ${bytes.length}\n${bytes.toString()}\n`;
}

function quotePath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

function removeControlCharacters(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, '').trim();
}
