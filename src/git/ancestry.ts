import { runPlumbing } from './run-git.ts';
import { findCommit, mergeBaseOf, type Repository } from './repository.ts';

/** Returns true if the descendant is the commit or contains it; false if this clone has not enough history to know. */
export async function containsCommit(repository: Repository, descendant: string, commit: string): Promise<boolean> {
  if (descendant === commit) return true;
  return (await findCommit(repository, commit)) !== undefined && (await mergeBaseOf(repository, commit, descendant)) === commit;
}

/** Returns the parents that a commit names, also those that a shallow clone does not have. */
export async function parentsOf(repository: Repository, commit: string): Promise<readonly string[]> {
  const { stdout } = await runPlumbing(repository, ['cat-file', 'commit', commit]);
  const [header = ''] = stdout.toString().split('\n\n');
  return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].flatMap(([, parent]) => parent ?? []);
}

/** Returns the newest commits of a commit's own line, without the branches that it merged, back to another commit; at most `most`. */
export async function commitsSince(repository: Repository, base: string, commit: string, most: number): Promise<readonly string[]> {
  const { stdout } = await runPlumbing(repository, ['rev-list', '--first-parent', `--max-count=${most}`, commit, `^${base}`]);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
