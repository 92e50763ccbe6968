import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const gateway = useGateway();
const { make, makeOrigin } = useRepositories();
const makeProject = useProjects();

const run = (line: string, { folder }: TestRepository): ReturnType<typeof gateway.run> => gateway.run(line, folder, gitEnv);

/** A defaults file; the fields of Connection begin at line 5. */
function defaults(...lines: readonly string[]): string {
  return ['apiVersion: ostiary/v1', 'kind: Defaults', 'spec:', '  Connection:', ...lines.map((line) => `    ${line}`), ''].join('\n');
}

test('a change of defaults is a change of each object below; the base has the defaults of its commit', async () => {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/prod/_defaults.yaml': defaults('reviewers: [dba, security]', 'access_max_duration: 600'),
    'access/prod/a.yaml': connection('one-a'),
    'access/prod/deep/b.yaml': connection('one-b', { access_max_duration: 60 }),
    'access/c.yaml': connection('one-c'),
  });
  makeOrigin(repository);
  expect((await run('apply --yes', repository)).code).toBe(0);
  expect((await gateway.call('GET', '/connections/one-b')).body).toMatchObject({
    reviewers: ['dba', 'security'],
    access_max_duration: 60,
  });
  expect((await run('plan --detailed-exitcode', repository)).code).toBe(0);
  expect((await run('explain Connection/one-b reviewers', repository)).stdout).toContain('access/prod/_defaults.yaml:5');
  repository.save({ 'access/prod/_defaults.yaml': defaults('reviewers: [dba]', 'access_max_duration: 600') });
  const lowered = await run('plan --detailed-exitcode --max-risk neutral', repository);
  expect(lowered.stdout).toContain('2 connections lose reviewer group security (one-a, one-b).');
  expect(lowered.stdout).toContain('~ Connection/one-a  access/prod/_defaults.yaml:5');
  expect([lowered.code, (await run('drift', repository)).code]).toEqual([6, 0]);
  // A path selects the manifests that a defaults file is part of.
  const selected = await run('plan access/prod/_defaults.yaml', repository);
  expect(selected.stdout).toContain('2 to update.');
  repository.remove('access/prod/_defaults.yaml');
  repository.commit();
  const removed = await run('plan', repository);
  expect(removed.stdout).toContain('2 connections lose review (one-a, one-b)');
  expect(removed.stdout).toContain('2 to update.');
  repository.git('push', '--quiet', 'origin', 'main');
  expect((await run('apply --yes', repository)).code).toBe(0);
  expect((await gateway.call('GET', '/connections/one-a')).body).toMatchObject({ reviewers: [], access_max_duration: null });
});

test('defaults above the folders of manifests apply, those outside the config do not; fmt formats them', async () => {
  const folder = makeProject({
    '_defaults.yaml': defaults('reviewers: [outside]'),
    'repo/ostiary.yaml': config(gateway.url()).replace('access/', 'access/prod/a.yaml'),
    'repo/_defaults.yaml': 'kind: Defaults\napiVersion: ostiary/v1\nspec: { Connection: { reviewers: [dba] } }\n',
    'repo/access/_defaults.yaml': defaults('access_max_duration: 60'),
    'repo/access/prod/a.yaml': connection('four-a'),
  });
  for (const [cwd, flag] of [
    ['repo', ''],
    ['repo/access/prod', ' --config ../../ostiary.yaml'],
  ] as const) {
    const { stdout } = await gateway.run(`plan --format json${flag}`, join(folder, cwd));
    const plan = JSON.stringify(JSON.parse(stdout));
    for (const part of ['"/reviewers"', '"dba"', '"/access_max_duration"']) expect(plan).toContain(part);
    expect(plan).not.toContain('outside');
  }
  expect((await gateway.run('fmt', join(folder, 'repo'))).stdout).toContain('_defaults.yaml');
  expect(readFileSync(join(folder, 'repo/_defaults.yaml'), 'utf8')).toMatch(/^apiVersion: ostiary\/v1\nkind: Defaults\n/);
});
