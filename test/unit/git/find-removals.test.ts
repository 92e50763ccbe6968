import { describe, expect, it } from 'vitest';
import { findRemovals } from '../../../src/git/find-removals.ts';
import type { ResourceId } from '../../../src/model/resource.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make, clone } = useRepositories();

/** Returns the text of a file that declares the objects, one per line. */
function declaring(...names: readonly string[]): string {
  return names.map((name) => `Thing/${name}\n`).join('');
}

function declares(bytes: Buffer): readonly ResourceId[] {
  return bytes
    .toString()
    .split('\n')
    .map((name): ResourceId => `Thing/${name.slice(6)}`);
}

/** Finds the commits that removed the objects since a commit. */
async function removals(repository: TestRepository, since: string, names: readonly string[], paths = ['a']): Promise<unknown> {
  const ids = names.map((name): ResourceId => `Thing/${name}`);
  const until = repository.git('rev-parse', 'HEAD');
  return idsOf(await findRemovals(await repository.open(), { since, until, paths, ids, declaredIds: declares, maxBytes: 1000 }));
}

function idsOf(found: Awaited<ReturnType<typeof findRemovals>>): unknown {
  return Object.fromEntries([...found].map(([thing, { id }]) => [thing, id]));
}

function start(): { readonly repository: TestRepository; readonly since: string } {
  const repository = make({ 'a/one.yaml': declaring('one'), 'a/pair.yaml': declaring('two', 'three'), 'b/other.yaml': declaring('other') });
  return { repository, since: repository.git('rev-parse', 'HEAD') };
}

describe('findRemovals', () => {
  it('finds a deleted file and a deleted document, but no change and nothing in other folders', async () => {
    const { repository, since } = start();
    repository.save({ 'a/one.yaml': `${declaring('one')}# changed\n` });
    repository.remove('a/one.yaml');
    const file = repository.commit();
    const part = repository.save({ 'a/pair.yaml': declaring('two') });
    repository.save({ 'a/more.yaml': declaring('more') });
    expect(await removals(repository, since, ['one', 'three', 'two', 'never'])).toStrictEqual({ 'Thing/one': file, 'Thing/three': part });
    expect(await removals(repository, since, [])).toStrictEqual({});
  });

  it('follows renamed files and moved documents', async () => {
    const { repository, since } = start();
    repository.git('mv', 'a/one.yaml', 'a/renamed.yaml');
    repository.commit();
    repository.save({ 'a/pair.yaml': declaring('two'), 'a/moved.yaml': declaring('three') });
    expect(await removals(repository, since, ['one', 'three'])).toStrictEqual({});
    repository.remove('a/renamed.yaml', 'a/moved.yaml');
    const gone = repository.commit();
    expect(await removals(repository, since, ['one', 'three'])).toStrictEqual({ 'Thing/one': gone, 'Thing/three': gone });
  });

  it('returns the last of several removals', async () => {
    const { repository, since } = start();
    repository.remove('a/one.yaml');
    repository.commit();
    repository.save({ 'a/one.yaml': declaring('one') });
    repository.remove('a/one.yaml');
    const last = repository.commit();
    expect(await removals(repository, since, ['one'])).toStrictEqual({ 'Thing/one': last });
  });

  it('returns the commit of a branch, not its merge, unless the merge itself removes the object', async () => {
    const { repository, since } = start();
    repository.git('checkout', '--quiet', '-b', 'topic');
    repository.remove('a/one.yaml');
    const branch = repository.commit();
    repository.git('checkout', '--quiet', 'main');
    repository.save({ 'a/main.yaml': declaring('main') });
    repository.git('merge', '--quiet', '--no-commit', '--no-ff', 'topic');
    repository.save({ 'a/pair.yaml': declaring('two') }, 'merge');
    const merge = repository.git('rev-parse', 'HEAD');
    expect(repository.git('rev-list', '--parents', '-1', merge).split(' ')).toHaveLength(3);
    expect(await removals(repository, since, ['one', 'three'])).toStrictEqual({ 'Thing/one': branch, 'Thing/three': merge });
  });

  it('returns nothing if history is missing or was rewritten', async () => {
    const { repository, since } = start();
    repository.remove('a/one.yaml');
    repository.commit();
    repository.save({ 'x.yaml': '' });
    const shallow = clone(repository, '--depth=1');
    shallow.git('fetch', '--quiet', '--depth=1', 'origin', since);
    expect(await removals(shallow, since, ['one'])).toStrictEqual({});
    repository.git('checkout', '--quiet', '--orphan', 'rewritten');
    repository.commit();
    expect(await removals(repository, since, ['one'])).toStrictEqual({});
  });
});
