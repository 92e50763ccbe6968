import type { AuthorAddress, AuthoredCommit } from '../model/result/authored-commit.ts';
import { missingObject } from './objects.ts';
import { readCommit, type Repository } from './repository.ts';
import { readGitLines, runGit } from './run-git.ts';

/** Lists the commits that some commits contain and the base does not, without a base all of them; at most `most`. */
export async function listCommits(
  repository: Repository,
  tips: readonly string[],
  { base, most }: { readonly base: string | undefined; readonly most: number },
): Promise<readonly string[]> {
  const before = base === undefined ? [] : [`^${base}`];
  return readGitLines(repository, ['rev-list', `--max-count=${most}`, ...tips, ...before, '--']);
}

/**
 * Returns who made a commit; undefined for a merge that adds nothing to what git makes of its parents. Throws AppError if this clone does not
 * have the commit.
 */
export async function readAuthors(repository: Repository, id: string): Promise<AuthoredCommit | undefined> {
  const commit = await readCommit(repository, id);
  if (commit === undefined) throw missingObject(repository, id);
  const { tree, parents, header, message } = commit;
  const [first, second, ...others] = parents;
  const isMerge = first !== undefined && second !== undefined && others.length === 0;
  if (isMerge && (await mergedTree(repository, first, second)) === tree) return undefined;
  return { id, author: addressIn(header, 'author '), committer: addressIn(header, 'committer '), coAuthors: coAuthorsIn(message) };
}

/** Returns the tree that git makes of two commits; undefined for a conflict, without a common history, and with a git before 2.38. */
export async function mergedTree(repository: Repository, left: string, right: string): Promise<string | undefined> {
  const args = ['merge-tree', '--write-tree', left, right];
  const { code, stdout } = await runGit(repository, args, { allowedExitCodes: [0, 1, 128, 129] });
  return code === 0 ? stdout.toString().split('\n')[0] : undefined;
}

// Without patterns: whoever pushes a commit chooses these texts, of any length.
function addressIn(header: string, role: string): AuthorAddress {
  return addressOf((header.split('\n').find((line) => line.startsWith(role)) ?? '').slice(role.length));
}

function addressOf(text: string): AuthorAddress {
  const [start, end] = [text.lastIndexOf('<'), text.lastIndexOf('>')];
  const isWhole = start !== -1 && end > start;
  return { name: text.slice(0, isWhole ? start : undefined).trim(), email: isWhole ? text.slice(start + 1, end).trim() : '' };
}

const coAuthorKey = 'co-authored-by:';

function coAuthorsIn(message: string): readonly AuthorAddress[] {
  return message.split('\n').flatMap((line) => {
    const text = line.trim();
    return text.slice(0, coAuthorKey.length).toLowerCase() === coAuthorKey ? [addressOf(text.slice(coAuthorKey.length))] : [];
  });
}
