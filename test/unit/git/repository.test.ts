import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { runGit } from '../../../src/git/run-git.ts';
import type { GitContext } from '../../../src/git/git-environment.ts';
import { mayBeInRepository, mergeBaseOf, openRepository } from '../../../src/git/repository.ts';
import { allowNetwork } from '../../../src/git/origin.ts';
import { AppError } from '../../../src/model/errors.ts';
import { installProgram } from '../../support/git-repository.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';

const { make, makeOrigin, clone, place } = useRepositories();

/** The error that a promise is rejected with. */
async function failureOf(action: Promise<unknown>): Promise<AppError> {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof AppError) return error;
  throw new Error('the action did not fail with an AppError', { cause: error });
}

describe('openRepository', () => {
  it('returns undefined outside a repository, and ignores the variables of a surrounding hook', async () => {
    const folder = place();
    mkdirSync(folder);
    expect(mayBeInRepository(folder)).toBe(false);
    expect(await openRepository({ folder, env: gitEnv })).toBeUndefined();
    const other = make({ 'x.yaml': '' });
    const hookEnv = {
      ...gitEnv,
      GIT_DIR: join(other.folder, '.git'),
      GIT_WORK_TREE: other.folder,
      GIT_INDEX_FILE: '/nowhere',
      GIT_TRACE: '1',
    };
    expect(await openRepository({ folder, env: hookEnv })).toBeUndefined();
    const own = make({ 'y.yaml': '' });
    expect(await openRepository({ folder: own.folder, env: hookEnv })).toMatchObject({ folder: own.folder });
  });

  it('rejects a bare repository and git’s own folder', async () => {
    const repository = make({ 'x.yaml': '' });
    for (const folder of [makeOrigin(repository).folder, join(repository.folder, '.git')])
      expect(await failureOf(openRepository({ folder, env: gitEnv }))).toMatchObject({ code: 'git/no-working-tree', exitCode: 3 });
  });
});

describe('mergeBaseOf', () => {
  it('finds the commit that another one contains, in either order, and none in a history of its own', async () => {
    const repository = make({ 'x.yaml': 'one' });
    const first = repository.git('rev-parse', 'HEAD');
    repository.git('checkout', '--quiet', '-b', 'feature');
    const feature = repository.save({ 'y.yaml': 'two' });
    repository.git('checkout', '--quiet', 'main');
    repository.save({ 'x.yaml': 'three' });
    repository.git('merge', '--quiet', '--no-edit', 'feature');
    const last = repository.git('rev-parse', 'HEAD');
    const other = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'another root');
    const opened = await repository.open();
    const pairs = [first, feature, last].flatMap((one) => [mergeBaseOf(opened, one, last), mergeBaseOf(opened, last, one)]);
    expect(await Promise.all(pairs)).toEqual([first, first, feature, feature, last, last]);
    expect(await mergeBaseOf(opened, last, other)).toBeUndefined();
  });

  it('asks git once about two branches, unless the clone may get more history', async () => {
    const repository = make({ 'x.yaml': 'one' });
    const first = repository.git('rev-parse', 'HEAD');
    const left = repository.save({ 'x.yaml': 'two' });
    repository.git('checkout', '--quiet', '-b', 'right', first);
    const right = repository.save({ 'x.yaml': 'three' });
    const shallow = await clone(makeOrigin(repository), '--depth', '1', '--no-single-branch').open();
    const whole = await repository.open();
    expect([await mergeBaseOf(whole, left, right), await mergeBaseOf(shallow, left, right)]).toEqual([first, undefined]);
    for (const { folder } of [whole, shallow]) rmSync(join(folder, '.git', 'objects'), { recursive: true });
    expect(await mergeBaseOf(whole, left, right)).toBe(first);
    await failureOf(mergeBaseOf(whole, right, left));
    await failureOf(mergeBaseOf(shallow, left, right));
  });
});

/** A setting of the user, in the environment. */
function ownAlias(name: string, value: string): GitContext['env'] {
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `alias.${name}`, GIT_CONFIG_VALUE_0: value };
}

async function runCommand(context: GitContext, args: readonly string[], timeoutMs = 60_000): Promise<string> {
  return (await runGit(context, args, { timeoutMs })).stdout.toString();
}

describe('runGit', () => {
  it('runs no code of the repository and passes no secrets of Ostiary to git', async () => {
    const repository = make({ 'x.yaml': '' });
    repository.write({ '.git/hooks/reference-transaction': '#!/bin/sh\ntouch ran\n' });
    repository.makeExecutable('.git/hooks/reference-transaction');
    repository.git('config', 'core.fsmonitor', 'touch ran; false');
    const opened = {
      ...(await repository.open()),
      env: {
        ...gitEnv,
        ...ownAlias('show-env', '!env'),
        OSTIARY_TOKEN: 'canary',
        OSTIARY_SECRET_X: 'canary',
        GIT_DIR: '/nowhere',
        GIT_TRACE: '1',
        EDITOR: 'vi',
        PREFIX: '/x',
      },
    };
    await runCommand(opened, ['update-ref', 'refs/ostiary/x', 'HEAD']);
    await runCommand(opened, ['status']);
    const shown = await runCommand(opened, ['show-env']);
    expect(shown).not.toMatch(/canary|nowhere|^EDITOR|^PREFIX/m);
    expect(shown).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
    expect(existsSync(join(repository.folder, 'ran'))).toBe(false);
  });

  it('passes on the user’s access to origin and the settings of the environment', async () => {
    const repository = make({ 'x.yaml': '' });
    const settings = {
      'alias.show-env': '!env',
      'url.https://mirror.example.com/.insteadOf': 'https://example.com/',
      'protocol.file.allow': 'always',
      'core.pager': 'less',
      'remote.origin.uploadpack': 'git-upload-pack',
    };
    const given = Object.entries(settings).flatMap(([key, value], index): [string, string][] => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]);
    const userEnv: GitContext['env'] = {
      GIT_ASKPASS: '/bin/ask',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_CONFIG_COUNT: String(Object.keys(settings).length),
      ...Object.fromEntries(given),
    };
    const shown = await runCommand({ ...(await repository.open()), env: { ...gitEnv, ...userEnv } }, ['show-env']);
    for (const [name, value = ''] of Object.entries(userEnv)) expect(shown).toContain(`${name}=${value}\n`);
  });

  it('reports a missing git', async () => {
    const { folder } = make();
    expect(await failureOf(runCommand({ folder, env: { PATH: '/nonexistent' } }, ['version']))).toMatchObject({
      code: 'git/not-installed',
      exitCode: 4,
      hint: expect.stringContaining('--base none'),
    });
  });

  it('times out even if git started processes that ignore signals', async () => {
    const repository = make({ running: '' });
    const script = `trap "" INT TERM HUP PIPE; for part in 1 2; do while [ -e '${repository.folder}/running' ]; do sleep 0.1; done & done; wait`;
    const env = { ...gitEnv, ...(await installProgram(place(), 'deaf', script)), GIT_SSH_COMMAND: 'deaf' };
    const waiting = runCommand(allowNetwork({ ...(await repository.open()), env }), ['ls-remote', 'ssh://gateway.example.com/x'], 200);
    expect(await failureOf(waiting)).toMatchObject({
      code: 'git/timeout',
      exitCode: 4,
      message: 'git ls-remote took longer than 0.2 seconds',
    });
    repository.remove('running');
  });

  it('does not quote credentials of an address', async () => {
    const repository = make({ 'x.yaml': '' });
    const url = 'https://ada:canary@127.0.0.1:9/x.git';
    const error = await failureOf(runCommand(allowNetwork(await repository.open()), ['ls-remote', url]));
    expect(error.code).toBe('git/failed');
    expect(error.message).toContain('127.0.0.1:9');
    expect(error.message).not.toContain('canary');
  });
});

describe('openRepository', () => {
  it('reports a repository that git does not trust, and how to trust it', async () => {
    const { folder } = make({ 'infra/x.yaml': '' });
    const env = { ...gitEnv, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    const error = await failureOf(openRepository({ folder: join(folder, 'infra'), env }));
    expect(error).toMatchObject({ code: 'git/dubious-owner', exitCode: 4, hint: expect.stringContaining(`safe.directory ${folder}`) });
    const trusted = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: folder };
    expect(await openRepository({ folder, env: { ...env, ...trusted } })).toMatchObject({ folder });
  });
});

describe('allowNetwork', () => {
  it('disables prompts of ssh, keeps an ssh command of the user and ignores that of the repository', async () => {
    const repository = make({ 'x.yaml': '' });
    repository.git('config', 'core.sshCommand', 'touch ran');
    const opened = await repository.open();
    expect(allowNetwork(opened).env['GIT_SSH_COMMAND']).toContain('BatchMode=yes');
    const own = { ...opened, env: { ...gitEnv, GIT_SSH_COMMAND: 'ssh -i key' } };
    expect(allowNetwork(own).env).toEqual(own.env);
    expect(allowNetwork({ ...opened, env: { ...gitEnv, GIT_SSH: "/it's/ssh" } }).env['GIT_SSH_COMMAND']).toBe(String.raw`'/it'\''s/ssh'`);
    const file = join(repository.folder, 'user.gitconfig');
    repository.git('config', '--file', file, 'core.sshCommand', 'ssh -i mine');
    const global = await openRepository({ folder: repository.folder, env: { ...gitEnv, GIT_CONFIG_GLOBAL: file } });
    expect(global === undefined ? undefined : allowNetwork(global).env['GIT_SSH_COMMAND']).toBe('ssh -i mine');
  });
});

test('a damaged repository is reported, not treated as empty', async () => {
  const repository = make({ 'x.yaml': '' });
  writeFileSync(join(repository.folder, '.git', 'config'), 'nonsense [');
  expect(await failureOf(openRepository({ folder: repository.folder, env: gitEnv }))).toMatchObject({ code: 'git/failed', exitCode: 4 });
});
