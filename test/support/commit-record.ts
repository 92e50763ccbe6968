import type { TestRepository } from './repository.ts';

/**
 * Writes a record of applies as a commit, as anyone can who may push refs, and returns its id; no ref names it yet. Its parents are the commits
 * that it names.
 */
export function commitRecord({ git }: Pick<TestRepository, 'git'>, record: object): string {
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null').trim();
  // A signature covers the order of the fields, too.
  const text = JSON.stringify({
    version: 1,
    ...record,
    ...('orphans' in record ? {} : { orphans: [] }),
    ...('pending' in record ? {} : { pending: [] }),
  });
  const named = new Set([...text.matchAll(/"(?:commit|unmerged)":"([0-9a-f]{40})"/g)].map(([, id = '']) => id));
  const parents = [...named].flatMap((id) => ['-p', id]);
  return git('commit-tree', tree, ...parents, '-m', `Record of the applies to production\n\n${text}`).trim();
}
