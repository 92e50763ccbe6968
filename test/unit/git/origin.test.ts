import { describe, expect, it, test } from 'vitest';
import { fetchHistory, listOrigin, readOriginHead } from '../../../src/git/origin.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make, makeOrigin, clone } = useRepositories();

type World = { readonly origin: TestRepository; readonly shallow: TestRepository; readonly main: string; readonly evil: string };

/** An origin with three commits on main, a commit of another person, and a clone of one commit. */
function makeWorld(): World {
  const author = make({ 'x.yaml': '' });
  author.save({ 'x.yaml': 'a: 1\n' });
  const main = author.save({ 'x.yaml': 'a: 2\n' });
  const origin = makeOrigin(author);
  const evil = author.save({ 'x.yaml': 'a: evil\n' });
  author.git('push', '--quiet', 'origin', `${evil}:refs/heads/mallory`);
  return { origin, shallow: clone(origin, '--depth=1'), main, evil };
}

describe('fetchHistory', () => {
  it('fetches no tag for a branch that origin does not have', async () => {
    const { origin, shallow, main, evil } = makeWorld();
    for (const ref of ['refs/tags/refs/heads/release', 'refs/heads/refs/heads/release', 'refs/tags/release', 'refs/tags/refs/heads/main'])
      origin.git('update-ref', ref, evil);
    await fetchHistory(await shallow.open(), ['main', 'release']);
    expect(shallow.git('for-each-ref', '--format=%(refname)', 'refs/remotes/origin/release', 'refs/tags')).toBe('');
    expect(shallow.git('rev-parse', 'refs/remotes/origin/main')).toBe(main);
    expect(shallow.git('rev-list', '--count', 'refs/remotes/origin/main')).toBe('3');
  });

  it('moves no branch by a branch with the name HEAD', async () => {
    const { origin, shallow, main, evil } = makeWorld();
    expect(shallow.git('symbolic-ref', 'refs/remotes/origin/HEAD')).toBe('refs/remotes/origin/main');
    origin.git('update-ref', 'refs/heads/HEAD', evil);
    await fetchHistory(await shallow.open(), ['HEAD', 'main']);
    expect(shallow.git('rev-parse', 'refs/remotes/origin/main')).toBe(main);
  });
});

test('a list of refs of origin has those of the full name', async () => {
  const { origin, shallow, main, evil } = makeWorld();
  for (const ref of ['refs/tags/refs/heads/main', 'refs/heads/refs/heads/main']) origin.git('update-ref', ref, evil);
  const opened = await shallow.open();
  expect((await listOrigin(opened, ['refs/heads/main'])).get('refs/heads/main')).toBe(main);
  expect(await listOrigin(opened, [])).toEqual(new Map());
});

describe('readOriginHead', () => {
  it('reads the default branch, whatever branches and tags have the name HEAD', async () => {
    const { origin, shallow, main, evil } = makeWorld();
    for (const ref of ['refs/heads/HEAD', 'refs/tags/HEAD', 'refs/remotes/origin/HEAD']) origin.git('update-ref', ref, evil);
    expect(await readOriginHead(await shallow.open())).toEqual({ name: 'main', tip: main });
  });

  it('names a default branch that does not exist', async () => {
    const { origin, shallow, evil } = makeWorld();
    origin.git('symbolic-ref', 'HEAD', 'refs/heads/master');
    origin.git('update-ref', 'refs/heads/HEAD', evil);
    expect(await readOriginHead(await shallow.open())).toEqual({ name: 'master', tip: undefined });
  });
});

test.each([
  ['a refused key', 'echo "git@host: Permission denied (publickey)." >&2; exit 255', 'git@host: Permission denied (publickey).'],
  ['nothing', 'exit 255', 'fatal: Could not read from remote repository.'],
  ['an error of origin', `echo "ERROR: no access to https://ada:pass@host/x" >&2; exit 1`, 'ERROR: no access to https://host/x'],
])('ssh that prints %s is quoted', async (_, script, reason) => {
  const { shallow } = makeWorld();
  shallow.git('remote', 'set-url', 'origin', 'git@host:x.git');
  const repository = await shallow.open();
  const env = { ...repository.env, GIT_SSH_COMMAND: `sh -c '${script}'` };
  await expect(listOrigin({ ...repository, env }, ['refs/heads/main'])).rejects.toThrow(`git ls-remote failed: ${reason}`);
});

test('ssh that prints too much is stopped with that reason', async () => {
  const { shallow } = makeWorld();
  shallow.git('remote', 'set-url', 'origin', 'git@host:x.git');
  const repository = await shallow.open();
  const env = { ...repository.env, GIT_SSH_COMMAND: `sh -c 'head -c 60000000 /dev/zero >&2'` };
  const failed = listOrigin({ ...repository, env }, ['refs/heads/main']);
  await expect(failed).rejects.toThrow(
    'git ls-remote failed: origin, or the program that connects to it, printed more than 16 MiB of messages',
  );
  await expect(failed).rejects.toMatchObject({ code: 'git/failed' });
});
