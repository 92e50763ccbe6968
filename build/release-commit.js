// Commits of releases: on top of the commit that is checked out, which itself never holds what is built.
import { execFileSync } from 'node:child_process';

/** Runs git and returns what it prints. */
export function git(args, { env = {}, input } = {}) {
  return execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, ...env }, input }).trim();
}

/** Returns the commit of an index on HEAD, by whoever made HEAD and at its time, so that the same files make the same commit. */
export function commitOnHead(index, message) {
  const [name, email, date] = git(['log', '-1', '--format=%cn%n%ce%n%cI']).split('\n');
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, name],
    [`GIT_${role}_EMAIL`, email],
    [`GIT_${role}_DATE`, date],
  ]);
  const tree = git(['write-tree'], { env: { GIT_INDEX_FILE: index } });
  return git(['commit-tree', tree, '-p', 'HEAD', '-m', message], { env: Object.fromEntries(who) });
}
