import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError, InputError } from '../../../src/model/errors.ts';
import { openProject } from '../../../src/project/open-project.ts';
import { readableRepository } from '../../../src/project/project.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, useProjects } from '../../e2e/project.ts';

const makeProject = useProjects();
const { make } = useRepositories();

const url = 'https://gateway.example.com';
const everything = { only: [], paths: [] };

describe('openProject', () => {
  it('has the config, the target and the repository with HEAD', async () => {
    const { folder, git } = make({ 'a/ostiary.yaml': config(url) });
    const project = await openProject(everything, { env: gitEnv, cwd: join(folder, 'a') });
    expect(project).toMatchObject({
      target: { name: 'production', url },
      repository: { folder, prefix: 'a', head: git('rev-parse', 'HEAD') },
    });
  });

  it('has no repository outside of one', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(url) });
    expect((await openProject(everything, { env: gitEnv, cwd })).repository).toBeUndefined();
  });

  it('leaves it to each use what a repository means that git does not read', async () => {
    const { folder, write } = make({ 'ostiary.yaml': config(url) });
    write({ '.git/config': '[core\n' });
    const context = { env: gitEnv, cwd: folder };
    const project = await openProject(everything, context);
    expect(project.repository).toBeInstanceOf(AppError);
    expect(() => readableRepository(project)).toThrow(AppError);
    await expect(openProject({ ...everything, configRef: 'main' }, context)).rejects.toThrow(AppError);
  });

  it('has the target of the reviewed config', async () => {
    const repository = make({ 'ostiary.yaml': config(url) });
    const context = { env: gitEnv, cwd: repository.folder };
    repository.write({ 'ostiary.yaml': config('https://elsewhere.example.com') });
    expect((await openProject({ ...everything, configRef: 'main' }, context)).target.url).toBe(url);
    repository.write({ 'ostiary.yaml': 'kind: Config\n' });
    await expect(openProject(everything, context)).rejects.toThrow(InputError);
  });
});
