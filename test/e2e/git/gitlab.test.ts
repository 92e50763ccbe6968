import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { startGitLab } from '../../support/gitlab.ts';
import {
  addProgram,
  type GitLabJob,
  type Pipeline,
  prepareJob,
  type RecipeEnded,
  type RecipeJob,
  readRecipe,
  runRecipe,
} from '../../support/gitlab-job.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const { make, makeOrigin } = useRepositories();

const recipe = readRecipe('examples/gitlab/.gitlab-ci.yml');

/** A folder with the program that the recipe calls. */
let programs = '';
beforeAll(async () => {
  programs = makeProject({});
  await addProgram(programs);
});

/** Runs a job with the protected variables of its environment; a pipeline of a merge request has none. */
function runJob(name: string, { cwd, env }: GitLabJob): Promise<RecipeEnded> {
  const variables = env['CI_COMMIT_REF_PROTECTED'] === 'true' ? gateway.env() : {};
  return runRecipe(recipe[name] ?? {}, { cwd, env: { ...env, ...variables } }, programs);
}

/** Returns whether a job can be in a pipeline of a merge request, whose author controls the recipe. */
function isOfMergeRequests({ rules = [] }: RecipeJob): boolean {
  return rules.length === 0 || rules.some((rule) => rule.if.includes('merge_request_event'));
}

// security: gitlab
test('no job of a merge request has a variable, and every other job is one of the default branch', () => {
  const jobs = Object.entries(recipe).filter(([, { script }]) => script !== undefined);
  const ofMergeRequests = jobs.filter(([, job]) => isOfMergeRequests(job));
  expect(ofMergeRequests.map(([name]) => name)).toEqual(['validate']);
  for (const [, job] of ofMergeRequests) {
    const variables = [...JSON.stringify(job).matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
    expect(variables.filter((name) => name !== 'CI_PIPELINE_SOURCE')).toEqual([]);
    expect(job.environment).toBeUndefined();
  }
  for (const [, { rules = [] }] of jobs.filter(([name]) => name !== 'validate'))
    for (const rule of rules) expect(rule.if).toContain('$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH');
  expect(readFileSync('examples/gitlab/.gitlab-ci.yml', 'utf8')).toContain('Variables, all masked and protected');
});

test('the pipeline runs: note, second push, merge, apply, drift issue, merge request that accepts it', { timeout: 240_000 }, async () => {
  const main = make({ 'ostiary.yaml': config(gateway.url()), 'access/first.yaml': connection('gitlab-first', { reviewers: ['dba'] }) });
  const origin = makeOrigin(main);
  const gitlab = await startGitLab(origin.folder);
  onTestFinished(() => gitlab.close());
  const prepare = (pipeline: Pipeline): GitLabJob => prepareJob(makeProject({}), origin.folder, gitlab, pipeline);
  const run = (name: string, pipeline: Pipeline): Promise<RecipeEnded> => runJob(name, prepare(pipeline));
  expect(await run('apply', { source: 'push' })).toMatchObject({ code: 0, output: expect.stringContaining('1 created') });

  main.git('checkout', '--quiet', '-b', 'review');
  main.save({ 'access/first.yaml': connection('gitlab-first'), 'access/second.yaml': connection('gitlab-second', { reviewers: ['dba'] }) });
  // More commits than the runner fetches.
  execFileSync('sh', ['-ec', 'for i in $(seq 25); do git commit --quiet --allow-empty --message "$i"; done'], {
    cwd: main.folder,
    env: gitEnv,
  });
  main.git('push', '--quiet', 'origin', 'review');
  const iid = gitlab.open('review');
  const notes = (): readonly string[] => gitlab.requests[iid - 1]?.notes.map(({ body }) => body) ?? [];
  const validated = await run('validate', { source: 'merge_request_event', iid });
  expect(validated).toMatchObject({ code: 0, output: expect.stringContaining('Valid. 2 resources.') });
  const planning = prepare({ source: 'trigger', iid });
  expect(await runJob('plan', planning)).toMatchObject({ code: 0, output: expect.stringContaining('1 to create, 1 to update') });
  expect(notes()).toEqual([expect.stringContaining('### Plan for `production`')]);
  const commit = main.git('rev-parse', 'HEAD').slice(0, 10);
  expect(notes()[0]).toContain(`(https://gitlab.test/team/access/-/blob/${commit}/access/first.yaml#L`);
  expect(gitlab.statuses).toEqual([expect.objectContaining({ sha: main.git('rev-parse', 'HEAD'), state: 'success' })]);

  main.save({ 'access/third.yaml': connection('gitlab-third', { reviewers: ['dba'] }) });
  main.git('push', '--quiet', 'origin', 'review');
  expect(await run('plan', { source: 'trigger', iid })).toMatchObject({ code: 0 });
  expect(notes()).toEqual([expect.stringContaining('2 to create, 1 to update')]);

  const merged = gitlab.merge(iid);
  const applying = prepare({ source: 'push' });
  expect(await runJob('apply', applying)).toMatchObject({ code: 0, output: expect.stringContaining('2 created, 1 updated') });
  expect(origin.git('rev-parse', 'refs/ostiary/applied/production^1')).toBe(merged);
  expect(notes()).toEqual([expect.anything(), expect.stringContaining('2 created, 1 updated')]);
  // The webhook also sends the event of the merge; the note keeps the plan that was merged.
  expect(await run('plan', { source: 'trigger', iid })).toMatchObject({ code: 0, output: expect.stringContaining('is merged') });
  expect(notes()[0]).toContain('2 to create, 1 to update');

  expect(await run('drift', { source: 'schedule' })).toMatchObject({ code: 0 });
  expect(gitlab.issues).toEqual([]);
  const { body } = await gateway.call('GET', '/connections/gitlab-second');
  await gateway.call('PUT', '/connections/gitlab-second', { body: { ...body, reviewers: ['dba', 'guests'] } });
  const looking = prepare({ source: 'schedule' });
  expect(await runJob('drift', looking)).toMatchObject({ code: 0 });
  expect(gitlab.issues).toEqual([expect.objectContaining({ state: 'opened', labels: ['drift'] })]);
  const [, adoption] = gitlab.requests;
  expect(adoption).toMatchObject({ source: 'ostiary/adopt/production', state: 'opened' });
  gitlab.merge(adoption?.iid ?? 0);
  expect(await run('apply', { source: 'push' })).toMatchObject({ code: 0 });
  expect(await run('drift', { source: 'schedule' })).toMatchObject({ code: 0 });
  expect(gitlab.issues).toEqual([expect.objectContaining({ state: 'closed' })]);
  expect({ wrong: gitlab.wrong, actions: gitlab.actions }).toEqual({ wrong: [], actions: [] });
  for (const [name, { cwd }] of [
    ['plan', planning],
    ['apply', applying],
    ['drift', looking],
  ] as const)
    for (const path of recipe[name]?.artifacts?.paths ?? []) expect(readFileSync(join(cwd, path), 'utf8')).not.toBe('');
});
