import type { GitContext } from './git-environment.ts';
import { readGitLines } from './run-git.ts';

/** The start of the full refs of the branches of origin, as this clone has them. */
export const ofOrigin = 'refs/remotes/origin/';

/** A ref by its full name, the object that it names, and for a symbolic one the ref that it leads to. */
export type Ref = { readonly ref: string; readonly id: string; readonly target: string };

/**
 * Lists the refs of this clone at and below full names, such as `refs/heads/main` or `refs/tags/`. A name means nothing else: `git rev-parse`
 * would take a tag for a missing branch.
 */
export async function listRefs(context: GitContext, names: readonly string[]): Promise<readonly Ref[]> {
  const lines = await readGitLines(context, ['for-each-ref', '--format=%(objectname) %(refname) %(symref)', ...names]);
  return lines.map((line) => {
    const [id = '', ref = '', target = ''] = line.split(' ');
    return { ref, id, target };
  });
}

/** Returns the object that the ref of exactly this full name names; undefined if this clone has no such ref. */
export async function findRef(context: GitContext, name: string): Promise<string | undefined> {
  return (await listRefs(context, [name])).find(({ ref }) => ref === name)?.id;
}
