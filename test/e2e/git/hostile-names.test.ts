import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { addProgram, prepareJob, runRecipe } from '../../support/gitlab-job.ts';
import { startGitLab } from '../../support/gitlab.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();
const { make, makeOrigin, clone } = useRepositories();

/** A gateway of a contributor: it must receive no request, because each has the token. */
let trap: FlakyServer;
let programs = '';
let heard = 0;
beforeAll(async () => {
  trap = await startFlakyServer(json(200, {}));
  programs = makeProject({});
  await addProgram(programs);
});
beforeEach(() => {
  heard = trap.seen.length;
});
afterAll(() => trap.close());

type World = { readonly origin: TestRepository; readonly main: string; readonly topic: string };

/** An origin whose branch topic is that of a contributor: its config names the trap. */
function makeWorld(name: string): World {
  const author = make({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection(`${name}-main`) });
  author.save({ 'access/a.yaml': connection(`${name}-main`, { reviewers: ['dba'] }) });
  const origin = makeOrigin(author);
  const main = author.git('rev-parse', 'HEAD');
  author.git('checkout', '--quiet', '-b', 'topic');
  const topic = author.save({ 'ostiary.yaml': config(trap.url), 'access/b.yaml': connection(`${name}-topic`) });
  author.git('push', '--quiet', 'origin', 'topic');
  return { origin, main, topic };
}

/** What a contributor pushes, as a job may fetch it. */
const homonyms = [
  ['refs/tags/origin/main', 'refs/heads/origin/main', 'refs/tags/main', 'refs/tags/origin/gone', 'refs/heads/origin/gone'],
  ['refs/tags/refs/remotes/origin/gone'],
].flat();

// security: names
test.each([[], ['--depth=1', '--no-single-branch']])(
  'a job in a clone %s takes no other ref, and no branch for a commit',
  async (...args) => {
    const { origin, main, topic } = makeWorld(`names-${args.length}`);
    const short = main.slice(0, 10);
    const job = clone(origin, '--branch=topic', ...args);
    job.git('fetch', '--quiet', 'origin', `+${main}:refs/heads/main`);
    for (const ref of [...homonyms, `refs/heads/${short}`, `refs/tags/${short}`]) job.git('update-ref', ref, topic);
    const refused = { 'origin/main': 'ambiguous-name', main: 'ambiguous-name', 'origin/gone': 'no-such-commit', [short]: 'bad-ref' };
    for (const [name, code] of Object.entries({ ...refused, 'refs/remotes/origin/gone': 'no-such-commit' })) {
      for (const flags of [`--config-ref ${name}`, `--config-ref ${main} --own ${name}`, `--config-ref ${main} --base ${name}~0`]) {
        const ended = await gateway.run(`plan ${flags} --no-origin`, job.folder);
        expect([flags, ended]).toEqual([
          flags,
          expect.objectContaining({ code: 3, stderr: expect.stringContaining(`error git/${code} `) }),
        ]);
      }
    }
    const planned = await gateway.run(`plan --config-ref refs/remotes/origin/main --own ${main} --no-origin`, job.folder);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining('Changes its checks: ') });
    expect(trap.seen.length).toBe(heard);
  },
);

test('reviewed: origin/release is the branch release of origin, whatever branch and tag have the whole name', async () => {
  const text = config(gateway.url()).replace('targets:', 'reviewed: origin/release\ntargets:');
  const author = make({ 'ostiary.yaml': text, 'access/a.yaml': connection('reviewed-name') });
  const origin = makeOrigin(author);
  author.git('push', '--quiet', 'origin', 'main:refs/heads/release');
  expect(await gateway.run('apply --yes', author.folder)).toMatchObject({ code: 0 });
  author.git('checkout', '--quiet', '-b', 'topic');
  const topic = author.save({ 'access/b.yaml': connection('reviewed-topic') });
  author.git('push', '--quiet', 'origin', 'topic');
  for (const ref of ['refs/heads/origin/release', 'refs/tags/release', 'refs/tags/refs/heads/release', 'refs/tags/origin/release'])
    origin.git('update-ref', ref, topic);
  author.git('fetch', '--quiet', '--tags', 'origin', '+refs/heads/*:refs/remotes/origin/*');
  for (const { folder } of [author, clone(origin, '--branch=topic'), clone(origin, '--branch=topic', '--depth=1')]) {
    const refused = await gateway.run('apply --yes', folder);
    expect(refused).toMatchObject({ code: 6, stdout: expect.stringMatching(/git\/unmerged-commit .*: release does not contain it/) });
  }
  expect(await gateway.isLive('reviewed-topic')).toBe(false);
});

test('the refusal names a default branch that origin does not have', async () => {
  const author = make({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('no-default') });
  const origin = makeOrigin(author);
  origin.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
  const refused = await gateway.run('apply --yes', author.folder);
  expect(refused).toMatchObject({ code: 6, stdout: expect.stringMatching(/git\/unmerged-commit .*: trunk has no commits on origin/) });
});

// security: names
test('a job of GitLab takes no tag or branch for the default branch', async () => {
  const { origin, topic } = makeWorld('names-gitlab');
  const gitlab = await startGitLab(origin.folder);
  try {
    const iid = gitlab.open('topic');
    const { cwd, env } = prepareJob(makeProject({}), origin.folder, gitlab, { source: 'trigger', iid });
    const job = { cwd, env: { ...env, ...gateway.env() } };
    const run = (...script: readonly string[]): ReturnType<typeof runRecipe> => runRecipe({ script }, job, programs);
    await run(`git fetch --quiet origin refs/merge-requests/${iid}/head`, 'git checkout --quiet --detach FETCH_HEAD');
    for (const ref of ['refs/tags/origin/main', 'refs/heads/origin/main', 'refs/tags/refs/remotes/origin/main'])
      await run(`git update-ref ${ref} ${topic}`);
    const planned = await run('ostiary ci plan');
    expect(planned).toMatchObject({ code: 0, output: expect.stringContaining('Changes its checks: ') });
    const refused = await run('ostiary ci plan --config-ref origin/main');
    expect(refused).toMatchObject({ code: 3, output: expect.stringContaining('git/ambiguous-name') });
    await run('git update-ref -d refs/remotes/origin/main', 'git config remote.origin.url file:///nowhere');
    expect((await run('ostiary ci plan --config-ref refs/remotes/origin/main')).code).toBe(3);
    expect(trap.seen.length).toBe(heard);
  } finally {
    await gitlab.close();
  }
});

test('the recipes of other systems take no tag for the main branch', async () => {
  const page = readFileSync('docs/how-to/other-ci.md', 'utf8');
  const recipes = [
    [...page.matchAll(/^\$ (git fetch .*|ostiary plan .*)$/gm)].map(([, line = '']) => line),
    [...page.matchAll(/^ +- run: (git fetch .*|ostiary plan .*)$/gm)].map(([, line = '']) => line),
  ];
  expect(recipes.map((lines) => lines.length)).toEqual([2, 2]);
  const { origin, topic } = makeWorld('names-recipes');
  for (const ref of ['refs/tags/origin/main', 'refs/tags/main', 'refs/tags/refs/remotes/origin/main']) origin.git('update-ref', ref, topic);
  for (const [index, script] of recipes.entries()) {
    const { folder: cwd } = clone(origin, '--depth=1', '--branch=topic', '--single-branch');
    const env = { ...gateway.env(), HEAD_COMMIT: topic, PLANFILE: `${cwd}/plan-${index}.json` };
    const ended = await runRecipe({ script }, { cwd, env }, programs);
    expect(ended).toMatchObject({ code: 0, output: expect.stringContaining('Changes its checks: ') });
    if (!script.some((line) => line.includes('--out'))) continue;
    // The config of the checkout names the trap, the plan the gateway of the main branch.
    const applied = await runRecipe({ script: ['ostiary apply --plan $PLANFILE --yes'] }, { cwd, env }, programs);
    expect(applied).toMatchObject({ code: 6, output: expect.stringContaining('plan/other-target') });
  }
  expect(trap.seen.length).toBe(heard);
});
