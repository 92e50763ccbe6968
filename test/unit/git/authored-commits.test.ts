import { expect, test } from 'vitest';
import { listCommits, mergedTree, readAuthors } from '../../../src/git/authored-commits.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make } = useRepositories();
const ada = { name: 'Ada', email: 'ada@example.com' };

/** A repository with two branches that changed other files since their first commit. */
function forked(): { readonly site: TestRepository; readonly left: string; readonly right: string; readonly first: string } {
  const site = make({ a: 'one\n', b: 'one\n' });
  const first = site.git('rev-parse', 'HEAD');
  const left = site.save({ a: 'two\n' });
  site.git('checkout', '--quiet', '-b', 'other', first);
  const right = site.save({ b: 'two\n' });
  return { site, left, right, first };
}

/** Makes a commit of the tree that is checked out, with these parents. */
function commitTree(site: TestRepository, ...parents: readonly string[]): string {
  site.git('add', '--all');
  return site.git('commit-tree', site.git('write-tree'), ...parents.flatMap((one) => ['-p', one]), '-m', 'Merge');
}

test('a merge has an author only if it is not what git makes of its parents', async () => {
  const { site, left, right, first } = forked();
  site.git('merge', '--quiet', '--no-ff', '-m', 'Merge', left);
  const plain = site.git('rev-parse', 'HEAD');
  const repository = await site.open();
  expect(await readAuthors(repository, plain)).toBeUndefined();
  expect(await mergedTree(repository, left, right)).toBe(site.git('rev-parse', `${plain}^{tree}`));
  const octopus = commitTree(site, left, right, first);
  site.write({ c: 'smuggled\n' });
  const more = commitTree(site, left, right);
  site.git('checkout', '--quiet', '--force', left);
  // What only the other parent changed is dropped.
  const ours = commitTree(site, left, right);
  for (const id of [octopus, more, ours, left, first])
    expect(await readAuthors(repository, id)).toEqual({ id, author: ada, committer: ada, coAuthors: [] });
});

test('a conflict, another history and a missing commit are no plain merge', async () => {
  const { site, left } = forked();
  site.git('checkout', '--quiet', '-b', 'conflicting', `${left}^`);
  const conflicting = site.save({ a: 'three\n' });
  site.git('checkout', '--quiet', '--orphan', 'alone');
  const alone = site.commit('Alone');
  const repository = await site.open();
  for (const other of [conflicting, alone, 'f'.repeat(40)]) expect(await mergedTree(repository, left, other)).toBeUndefined();
  await expect(readAuthors(repository, 'f'.repeat(40))).rejects.toMatchObject({ code: 'git/failed' });
});

test('commits are those since the base, of all tips', async () => {
  const { site, left, right, first } = forked();
  const repository = await site.open();
  const found = await listCommits(repository, [left, right], { base: first, most: 9 });
  expect(found.toSorted()).toEqual([left, right].toSorted());
  expect(await listCommits(repository, [left], { base: undefined, most: 9 })).toEqual([left, first]);
  expect(await listCommits(repository, [left, right], { base: undefined, most: 2 })).toHaveLength(2);
});

test('co-authors are read in every form, and of any length in no time', async () => {
  const site = make({ a: 'one\n' });
  const message = [
    'Change',
    '',
    'Co-authored-by: Grace Hopper <grace@example.com>',
    'text',
    '  CO-AUTHORED-BY:Linus<linus@example.com> ',
    'co-authored-by: <none>',
    'Co-authored-by: nobody',
    'See Co-authored-by: Eve <eve@example.com>',
  ].join('\n');
  const id = site.save({ a: 'two\n' }, message);
  const repository = await site.open();
  expect((await readAuthors(repository, id))?.coAuthors).toEqual([
    { name: 'Grace Hopper', email: 'grace@example.com' },
    { name: 'Linus', email: 'linus@example.com' },
    { name: '', email: 'none' },
    { name: 'nobody', email: '' },
  ]);
  site.write({ message: `Long\n\nCo-authored-by: ${'<'.repeat(500_000)}\n${'co-authored-by:'.repeat(50_000)}` });
  const long = site.git('commit-tree', `${id}^{tree}`, '-p', id, '-F', 'message');
  expect((await readAuthors(repository, long))?.coAuthors).toHaveLength(2);
});
