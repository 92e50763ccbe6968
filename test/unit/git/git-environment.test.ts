import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gitEnvironment } from '../../../src/git/git-environment.ts';
import { runGit } from '../../../src/git/run-git.ts';
import { gitEnv } from '../../support/repository.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-git-environment-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Makes a folder that git takes for a bare repository. */
function plant(name: string): string {
  const folder = join(root, name);
  for (const part of ['objects', 'refs']) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  return folder;
}

test('git uses the given git folder for itself and for every program that it starts, not one that it finds', async () => {
  const folder = plant('found');
  const gitFolder = plant('given.git');
  expect(gitEnvironment({ folder, env: {}, gitFolder })).toMatchObject({ GIT_DIR: gitFolder, GIT_WORK_TREE: folder });
  const { stdout } = await runGit({ folder, env: gitEnv, gitFolder }, ['rev-parse', '--absolute-git-dir']);
  expect(stdout.toString().trim()).toBe(gitFolder);
});

test('git does not use a folder that only looks like a repository', async () => {
  await expect(runGit({ folder: plant('bare'), env: gitEnv }, ['rev-parse', '--git-dir'])).rejects.toThrow(/bare repository/);
});
