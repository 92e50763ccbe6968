import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitContext, locateRepository } from '../../../src/git/git-environment.ts';
import { openRepository } from '../../../src/git/repository.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';

const { make, makeOrigin, at, place } = useRepositories();

function located(folder: string, env: GitContext['env'] = {}): ReturnType<typeof locateRepository> {
  return locateRepository({ folder, env });
}

describe('locateRepository', () => {
  test('finds the same as git: a clone, its worktrees, a submodule, a separate git folder, a folder behind a link', async () => {
    const repository = make({ 'a/b/x.yaml': '' });
    const worktree = at(place());
    repository.git('worktree', 'add', '--quiet', worktree.folder, '-b', 'two');
    repository.git('worktree', 'add', '--quiet', join(repository.folder, 'inside'), '-b', 'three');
    const outer = make({ 'y.yaml': '' });
    outer.git('submodule', '--quiet', 'add', `file://${repository.folder}`, 'deep/inner');
    const separate = make({ 'z.yaml': '' });
    separate.git('init', '--quiet', `--separate-git-dir=${place()}`);
    const linked = place();
    symlinkSync(join(repository.folder, 'a'), linked);
    // A bare repository with worktrees next to it.
    const project = place();
    mkdirSync(project);
    renameSync(makeOrigin(make({ 'a/x.yaml': '' })).folder, join(project, '.bare'));
    writeFileSync(join(project, '.git'), 'gitdir: ./.bare\n');
    execFileSync('git', ['--git-dir=.bare', 'worktree', 'add', '--quiet', 'main'], { cwd: project, env: gitEnv, stdio: 'ignore' });
    const folders = [repository.folder, join(repository.folder, 'a/b'), worktree.folder, join(worktree.folder, 'a'), join(linked, 'b')];
    for (const folder of [
      ...folders,
      join(repository.folder, 'inside/a'),
      join(outer.folder, 'deep/inner/a'),
      separate.folder,
      join(project, 'main/a'),
    ]) {
      const args = ['rev-parse', '--absolute-git-dir', '--show-toplevel', '--show-prefix'];
      const [gitFolder, top, prefix = ''] = execFileSync('git', args, { cwd: folder, env: gitEnv }).toString().split('\n');
      expect(located(folder)).toEqual({ gitFolder, top, prefix: prefix.replace(/\/$/, '') });
      expect(await openRepository({ folder, env: gitEnv })).toMatchObject({ gitFolder, folder: top });
    }
  });

  test('searches no further than git does', () => {
    const { folder } = make({ 'a/b/x.yaml': '' });
    const below = join(folder, 'a/b');
    expect(located(below, { GIT_CEILING_DIRECTORIES: dirname(folder) })).toMatchObject({ prefix: 'a/b' });
    expect(located(below, { GIT_CEILING_DIRECTORIES: `/nowhere:${join(folder, 'a')}` })).toBeUndefined();
    expect(located(below, { GIT_CEILING_DIRECTORIES: below })).toMatchObject({ prefix: 'a/b' });
    expect(located(below, { GIT_CEILING_DIRECTORIES: 'a:' })).toMatchObject({ prefix: 'a/b' });
    const link = place();
    symlinkSync(join(folder, 'a'), link);
    expect(located(below, { GIT_CEILING_DIRECTORIES: link })).toBeUndefined();
    expect(located(below, { GIT_CEILING_DIRECTORIES: `:${link}` })).toMatchObject({ prefix: 'a/b' });
    expect(located('/proc/self')).toBeUndefined();
    expect(located('/nowhere/at/all')).toBeUndefined();
  });

  test('ignores a folder .git that is not a repository, and stops at a file that points nowhere, as git does', () => {
    const repository = make({ 'a/x.yaml': '' });
    mkdirSync(join(repository.folder, 'a/.git/objects'), { recursive: true });
    expect(located(join(repository.folder, 'a'))).toMatchObject({ top: repository.folder });
    repository.write({ 'b/.git': 'gitdir: ../gone\n', 'c/.git': 'nonsense\n' });
    expect(located(join(repository.folder, 'b'))).toBeUndefined();
    expect(() => located(join(repository.folder, 'c'))).toThrow('the file does not contain gitdir: PATH');
  });

  test.each(['gitdir: ../evil\n', 'gitdir: evil\n', 'link'])('does not trust a .git that points to checked-out files: %j', (entry) => {
    const repository = make({ 'a/x.yaml': '' });
    const inner = join(repository.folder, 'a');
    for (const folder of [join(repository.folder, 'evil'), join(inner, 'evil')]) {
      for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    }
    if (entry === 'link') symlinkSync('evil', join(inner, '.git'));
    else writeFileSync(join(inner, '.git'), entry);
    expect(() => located(inner)).toThrow('is part of the checked-out files');
  });

  test('does not trust a git folder that shares the settings of another repository', () => {
    const [repository, other] = [make({ 'x.yaml': '' }), make({ 'x.yaml': '' })];
    writeFileSync(join(repository.folder, '.git/commondir'), `${other.folder}/.git\n`);
    expect(() => located(repository.folder)).toThrow('but is not a worktree of it');
  });

  test('ignores core.worktree and core.bare', async () => {
    const repository = make({ 'a/x.yaml': '' });
    const head = repository.git('rev-parse', 'HEAD');
    repository.git('config', 'core.worktree', place());
    const found = await openRepository({ folder: join(repository.folder, 'a'), env: gitEnv });
    expect(found).toMatchObject({ folder: repository.folder, prefix: 'a' });
    writeFileSync(join(repository.folder, '.git/config'), '[core]\n\tbare = true\n');
    const bare = await openRepository({ folder: repository.folder, env: gitEnv });
    expect(bare?.head).toBe(head);
  });
});
