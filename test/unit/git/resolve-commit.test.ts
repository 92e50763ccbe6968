import { beforeAll, describe, expect, it, test } from 'vitest';
import { branchOfOrigin, resolveCommit } from '../../../src/git/resolve-commit.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make, makeOrigin, clone } = useRepositories();

type World = { readonly repository: TestRepository; readonly first: string; readonly main: string; readonly evil: string };

/** A clone of origin with two commits on main, and a commit of another person on no branch. */
function makeWorld(...args: readonly string[]): World {
  const author = make({ 'x.yaml': '' });
  const first = author.git('rev-parse', 'HEAD');
  const main = author.save({ 'x.yaml': 'a: 1\n' });
  const origin = makeOrigin(author);
  author.git('checkout', '--quiet', '-b', 'mallory');
  const evil = author.save({ 'x.yaml': 'a: evil\n' });
  author.git('push', '--quiet', 'origin', 'HEAD:refs/heads/mallory');
  const repository = clone(origin, ...args);
  repository.git('fetch', '--quiet', `file://${origin.folder}`, `+${evil}:refs/heads/mallory`);
  return { repository, first, main, evil };
}

/** The ref that a person makes who may push a branch, in a clone that fetches all of them. */
function plant({ repository, evil }: World, ref: string): void {
  repository.git('update-ref', ref, evil);
}

describe('resolveCommit', () => {
  it('accepts HEAD, whole ids, full refs, branches, branches of origin and the commits before them', async () => {
    const world = makeWorld();
    const { repository, first, main } = world;
    repository.git('tag', '--annotate', 'v1.0', '--message', 'one', first);
    repository.git('branch', 'topic/ä');
    // Refs below a name do not have the name.
    for (const ref of ['refs/tags/main/below', 'refs/heads/origin/main/below']) plant(world, ref);
    const opened = await repository.open();
    const tag = repository.git('rev-parse', 'refs/tags/v1.0');
    const ofFirst = ['refs/tags/v1.0', tag, 'HEAD~1', 'HEAD^', 'main^1', 'main~', 'origin/main~1', `${main}~1`, first, 'refs/heads/main^'];
    for (const name of ofFirst) expect([name, await resolveCommit(opened, name)]).toEqual([name, first]);
    const ofMain = ['HEAD', 'main', 'topic/ä', 'refs/heads/main', 'origin/main', 'origin/HEAD', 'refs/remotes/origin/main', main];
    for (const name of ofMain) expect([name, await resolveCommit(opened, name)]).toEqual([name, main]);
  });

  test.each([
    ['origin/main', 'refs/remotes/origin/main', 'refs/tags/origin/main'],
    ['origin/main', 'refs/remotes/origin/main', 'refs/heads/origin/main'],
    ['origin/main', 'refs/remotes/origin/main', 'refs/origin/main'],
    ['origin/main~1', 'refs/remotes/origin/main', 'refs/tags/origin/main'],
    ['main', 'refs/heads/main', 'refs/tags/main'],
    ['main', 'refs/heads/main', 'refs/remotes/main/HEAD'],
    ['main^', 'refs/heads/main', 'refs/tags/main'],
  ])('refuses %s beside %s and %s, and takes each full ref', async (name, meant, other) => {
    const world = makeWorld();
    plant(world, other);
    const opened = await world.repository.open();
    await expect(resolveCommit(opened, name)).rejects.toMatchObject({
      code: 'git/ambiguous-name',
      exitCode: 3,
      message: `"${name.replace(/[~^].*/, '')}" is the name of ${meant} and ${other}`,
      hint: expect.stringContaining(meant),
    });
    expect([await resolveCommit(opened, meant), await resolveCommit(opened, other)]).toEqual([world.main, world.evil]);
  });

  test.each([
    ['origin/gone', 'refs/tags/origin/gone'],
    ['origin/gone', 'refs/heads/origin/gone'],
    ['refs/remotes/origin/gone', 'refs/tags/refs/remotes/origin/gone'],
    ['refs/heads/gone', 'refs/heads/refs/heads/gone'],
    ['gone', 'refs/tags/gone'],
    ['gone', 'refs/remotes/gone/HEAD'],
    ['gone', 'refs/heads/gone/below'],
  ])('takes nothing else for a missing %s: %s', async (name, other) => {
    const world = makeWorld();
    plant(world, other);
    await expect(resolveCommit(await world.repository.open(), name)).rejects.toMatchObject({ code: 'git/no-such-commit', exitCode: 3 });
  });

  it('says what a missing branch could be', async () => {
    const world = makeWorld();
    world.repository.git('tag', 'v1.0');
    world.repository.git('update-ref', 'refs/remotes/origin/release', world.main);
    const opened = await world.repository.open();
    const hints = {
      'v1.0': 'write refs/tags/v1.0',
      release: 'write origin/release',
      nowhere: 'git fetch origin',
      'HEAD~9': 'check the name',
    };
    for (const [name, hint] of Object.entries(hints))
      await expect(resolveCommit(opened, name)).rejects.toMatchObject({ code: 'git/no-such-commit', hint: expect.stringContaining(hint) });
    await expect(resolveCommit(opened, 'v1.0')).rejects.toThrow(
      'unknown commit "v1.0" in this repository: it has no refs/heads/v1.0, but refs/tags/v1.0',
    );
  });

  it('takes no branch for a commit, and no beginning of an id for either', async () => {
    const world = makeWorld();
    const { repository, main } = world;
    // Git refuses to make such a branch, but not to fetch it.
    for (const name of [main, main.slice(0, 12), 'feed']) plant(world, `refs/heads/${name}`);
    const opened = await repository.open();
    expect(await resolveCommit(opened, main)).toBe(main);
    for (const name of [main.slice(0, 12), main.slice(0, 12).toUpperCase(), main.slice(0, 4), `${main}0`, 'feed', 'feed~1']) {
      await expect(resolveCommit(opened, name)).rejects.toMatchObject({
        code: 'git/bad-ref',
        message: expect.stringContaining('may be a branch or the beginning of a commit ID'),
      });
    }
    expect(await resolveCommit(opened, 'refs/heads/feed')).toBe(world.evil);
    const absent = 'f'.repeat(40);
    plant(world, `refs/heads/${absent}`);
    await expect(resolveCommit(opened, absent)).rejects.toMatchObject({ code: 'git/no-such-commit' });
  });

  it.each(['HEAD', 'HEAD~1'])('means %s of this checkout, whatever refs have the name', async (name) => {
    const world = makeWorld();
    const [head = ''] = world.repository.git('rev-parse', name).split('\n');
    for (const ref of ['refs/tags/HEAD', 'refs/heads/HEAD']) if (!ref.includes('origin')) plant(world, ref);
    expect(await resolveCommit(await world.repository.open(), name)).toBe(head);
    world.repository.git('checkout', '--quiet', '--detach');
    expect(await resolveCommit(await world.repository.open(), name)).toBe(head);
    world.repository.git('symbolic-ref', 'HEAD', 'refs/heads/unborn');
    const unborn = await world.repository.open();
    expect(unborn.head).toBeUndefined();
    await expect(resolveCommit(unborn, name)).rejects.toMatchObject({ code: 'git/no-such-commit' });
  });

  let fixed: World;
  beforeAll(() => {
    fixed = makeWorld();
    for (const ref of ['refs/heads/FETCH_HEAD', 'refs/heads/heads/main', 'refs/heads/origin']) plant(fixed, ref);
  });

  it.each(
    [
      ['--upload-pack=touch pwned', '-x', '', ' ', 'a b', 'main\0', 'main\n', '\u001b[31m', 'a..b', 'a...b', '^main', 'main:x.yaml'],
      [':/fix', 'm*', 'a\\b', '@', '@{u}', '@{-1}', 'main@{u}', 'main@{1}', 'main^{tree}', 'main^{/change}', 'main^{}', 'main^!', 'main^@'],
      ['FETCH_HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'MERGE_HEAD~1', 'heads/main', 'tags/v1', 'remotes/origin/main', 'origin', '/main', 'main/'],
      ['.main', 'main.', 'a//b', 'refs/heads/../main'],
    ].flat(),
  )('refuses %j before git sees it', async (name) => {
    await expect(resolveCommit(await fixed.repository.open(), name)).rejects.toMatchObject({ code: 'git/bad-ref', exitCode: 3 });
  });

  it('names what a shallow clone may lack, and takes no tag for it', async () => {
    const world = makeWorld('--depth=1');
    const { repository, first, main } = world;
    expect((await repository.open()).shallow).toBe(true);
    plant(world, 'refs/tags/origin/release');
    const opened = await repository.open();
    expect(await resolveCommit(opened, 'origin/main')).toBe(main);
    for (const name of [first, 'HEAD~1', 'origin/release'])
      await expect(resolveCommit(opened, name)).rejects.toMatchObject({
        code: 'git/no-such-commit',
        hint: expect.stringContaining('fetch-depth: 0'),
      });
    await expect(resolveCommit(opened, 'origin/release')).rejects.toMatchObject({
      hint: expect.stringContaining('git fetch --unshallow origin +refs/heads/release:refs/remotes/origin/release'),
    });
  });

  it('reads no commit by a name of another remote, of git or of a replaced object', async () => {
    const world = makeWorld('--origin=upstream');
    const { repository, main, evil, first } = world;
    await expect(resolveCommit(await repository.open(), 'origin/main')).rejects.toMatchObject({ code: 'git/no-such-commit' });
    await expect(resolveCommit(await repository.open(), 'upstream/main')).rejects.toMatchObject({
      hint: expect.stringContaining('write refs/remotes/upstream/main'),
    });
    repository.git('replace', main, evil);
    repository.write({ '.git/info/grafts': `${main} ${evil}\n` });
    const opened = await repository.open();
    expect([await resolveCommit(opened, 'main'), await resolveCommit(opened, 'main~1')]).toEqual([main, first]);
  });

  it('means the default branch by origin/HEAD, not a branch with the name HEAD', async () => {
    const world = makeWorld();
    const { repository, main } = world;
    expect(await resolveCommit(await repository.open(), 'origin/HEAD')).toBe(main);
    // As a job that fetches +refs/heads/*:refs/remotes/origin/* into a new repository.
    repository.git('symbolic-ref', '--delete', 'refs/remotes/origin/HEAD');
    plant(world, 'refs/remotes/origin/HEAD');
    for (const name of ['origin/HEAD', 'refs/remotes/origin/HEAD'])
      await expect(resolveCommit(await repository.open(), name)).rejects.toMatchObject({ code: 'git/no-such-commit' });
  });

  it('refuses what is no commit', async () => {
    const { repository } = makeWorld();
    const blob = repository.git('rev-parse', 'HEAD:x.yaml');
    await expect(resolveCommit(await repository.open(), blob)).rejects.toMatchObject({ code: 'git/no-such-commit' });
  });

  it('takes 40 digits for the beginning of an id of SHA-256', async () => {
    const repository = make();
    repository.remove('.git');
    repository.git('init', '--quiet', '--template=', '--initial-branch=main', '--object-format=sha256');
    const id = repository.save({ 'x.yaml': '' });
    const opened = await repository.open();
    expect(await resolveCommit(opened, id)).toBe(id);
    await expect(resolveCommit(opened, id.slice(0, 40))).rejects.toMatchObject({ code: 'git/bad-ref' });
  });
});

test('a branch of origin is one by its short and its full name', () => {
  const names = ['origin/a/b', 'refs/remotes/origin/a/b', 'a/b', 'refs/heads/origin/a', 'refs/tags/origin/a', 'upstream/a', 'HEAD'];
  expect(names.map(branchOfOrigin)).toEqual(['a/b', 'a/b', undefined, undefined, undefined, undefined, undefined]);
});
