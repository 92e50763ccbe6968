import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { builtPackage } from '../../support/cli.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const { make, makeOrigin, at, place } = useRepositories();

type Job = {
  readonly script?: readonly string[];
  readonly after_script?: readonly string[];
  readonly extends?: string;
  readonly rules?: readonly { readonly if: string }[];
  readonly environment?: { readonly name: string };
  readonly artifacts?: {
    readonly expose_as?: string;
    readonly paths?: readonly string[];
    readonly reports?: Readonly<Record<string, string>>;
  };
};
const recipe: Readonly<Record<string, Job>> = parse(readFileSync('examples/gitlab/.gitlab-ci.yml', 'utf8'));

/** A folder with the program that the recipe calls: the built command. */
let programs = '';
beforeAll(async () => {
  const command = join(await builtPackage(), 'dist', 'cli.js');
  programs = makeProject({});
  writeFileSync(join(programs, 'ostiary'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, { mode: 0o755 });
});

/** Checks out a commit as GitLab's runner does: its last commits alone, no branch, and no ref of another branch. */
function checkOut(origin: TestRepository, commit: string): TestRepository {
  const checkout = at(place(), true);
  checkout.git('init', '--quiet', '--template=');
  checkout.git('remote', 'add', 'origin', `file://${origin.folder}`);
  checkout.git('fetch', '--quiet', '--depth=20', '--no-tags', 'origin', `+${commit}:refs/pipelines/1`);
  checkout.git('checkout', '--quiet', '--detach', commit);
  return checkout;
}

type Ran = { readonly code: number; readonly output: string };

/** Runs the commands of a job in its checkout, as the runner's shell does; `after_script` runs in any case. */
async function runJob(name: string, { folder, git }: TestRepository, variables: Readonly<Record<string, string>>): Promise<Ran> {
  const { script = [] } = recipe[name] ?? {};
  const env = {
    ...gitEnv,
    HOME: folder,
    PATH: `${programs}:${gitEnv['PATH']}`,
    CI_COMMIT_SHA: git('rev-parse', 'HEAD'),
    CI_PROJECT_URL: 'https://gitlab.example.com/team/access',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    ...gateway.env(),
    ...variables,
  };
  const child = spawn('sh', ['-e', '-c', script.join('\n')], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await once(child, 'close');
  return { code: child.exitCode ?? -1, output };
}

/** Returns whether a job can be in a pipeline of a merge request, whose author controls the recipe. */
function isOfMergeRequests({ extends: base, rules = recipe[base ?? '']?.rules ?? [] }: Job): boolean {
  return rules.length === 0 || rules.some((rule) => rule.if.includes('merge_request_event'));
}

test('no job of a merge request uses a token that may write, and the recipe warns of what its author can read', () => {
  const jobs = Object.entries(recipe).filter(([name, { script }]) => !name.startsWith('.') && script !== undefined);
  const ofMergeRequests = jobs.filter(([, job]) => isOfMergeRequests(job));
  expect(ofMergeRequests.map(([name]) => name)).toEqual(['validate', 'plan']);
  for (const [, job] of ofMergeRequests) {
    const { after_script: after = [], environment, script = [] } = job;
    // What GitLab sets begins with CI_; the command reads the auditor's key of the environment.
    const variables = [...[...script, ...after].join('\n').matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
    expect(variables.filter((name) => !name.startsWith('CI_'))).toEqual([]);
    expect(JSON.stringify(job)).not.toMatch(/api\/v4|CI_API|PRIVATE-TOKEN|CI_JOB_TOKEN|curl|git push/);
    expect([undefined, 'access-plan']).toContain(environment?.name);
  }
  expect(recipe['plan']?.artifacts?.expose_as).toBe('access plan');
  for (const [, { rules = [] }] of jobs.filter(([name]) => !['validate', 'plan'].includes(name)))
    for (const rule of rules) expect(rule.if).toContain('$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH');
  for (const path of ['examples/gitlab/.gitlab-ci.yml', 'docs/how-to/gitlab.md']) {
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/fork's merge request in (?:this|the parent) project gives the fork these variables/);
    expect(text).toContain('ci_allow_fork_pipelines_to_run_in_parent_project: false');
  }
});

test('the commands of the recipe run in shallow detached checkouts: validate, plan, apply, drift', { timeout: 240_000 }, async () => {
  const main = make({ 'ostiary.yaml': config(gateway.url()), 'access/first.yaml': connection('gitlab-first', { reviewers: ['dba'] }) });
  const origin = makeOrigin(main);
  const push = (branch: string): string => {
    main.git('push', '--quiet', 'origin', branch);
    return main.git('rev-parse', branch);
  };
  const write = { OSTIARY_PUSH_URL: `file://${origin.folder}` };
  const first = await runJob('apply', checkOut(origin, push('main')), write);
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('1 created') });

  main.git('checkout', '--quiet', '-b', 'review');
  main.save({ 'access/first.yaml': connection('gitlab-first'), 'access/second.yaml': connection('gitlab-second', { reviewers: ['dba'] }) });
  execFileSync('sh', ['-ec', 'for i in $(seq 25); do git commit --quiet --allow-empty --message "$i"; done'], {
    cwd: main.folder,
    env: gitEnv,
  });
  const checkout = checkOut(origin, push('review'));
  expect(checkout.git('rev-parse', '--is-shallow-repository')).toBe('true');
  const lost = await gateway.run('plan --own origin/main', checkout.folder);
  expect(lost).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('git fetch --unshallow origin +refs/heads/main:refs/remotes/origin/main'),
  });
  expect(await runJob('validate', checkout, {})).toMatchObject({ code: 0, output: expect.stringContaining('Valid. 2 resources.') });
  const planned = await runJob('plan', checkout, {});
  expect(planned).toMatchObject({ code: 0, output: expect.stringContaining('1 to create, 1 to update') });
  const note = readFileSync(join(checkout.folder, 'plan.md'), 'utf8');
  expect(note).toContain('### Plan for `production`');
  const commit = checkout.git('rev-parse', 'HEAD');
  expect(note).toContain(`(https://gitlab.example.com/team/access/-/blob/${commit}/access/first.yaml#L`);

  main.git('checkout', '--quiet', 'main');
  main.git('merge', '--quiet', '--no-ff', '--message=Merge', 'review');
  const merged = checkOut(origin, push('main'));
  expect(await runJob('apply', merged, write)).toMatchObject({ code: 0, output: expect.stringContaining('1 created, 1 updated') });
  expect(origin.git('rev-parse', 'refs/ostiary/applied/production^1')).toBe(main.git('rev-parse', 'main'));
  expect(await runJob('drift', merged, {})).toMatchObject({ code: 0 });
  const { body } = await gateway.call('GET', '/connections/gitlab-second');
  await gateway.call('PUT', '/connections/gitlab-second', { body: { ...body, reviewers: [] } });
  expect((await runJob('drift', merged, {})).code).toBe(2);
  for (const name of ['plan', 'apply', 'drift']) {
    const folder = name === 'plan' ? checkout.folder : merged.folder;
    for (const path of recipe[name]?.artifacts?.paths ?? []) expect(readFileSync(join(folder, path), 'utf8')).not.toBe('');
  }
});

test('a merge request with invalid manifests has reports of the errors', async () => {
  const main = make({ 'ostiary.yaml': config(gateway.url()), 'access/first.yaml': connection('gitlab-invalid') });
  const origin = makeOrigin(main);
  main.git('checkout', '--quiet', '-b', 'broken');
  main.save({ 'access/first.yaml': connection('gitlab-invalid', { reviewer: ['dba'] }) });
  main.git('push', '--quiet', 'origin', 'broken');
  const checkout = checkOut(origin, main.git('rev-parse', 'HEAD'));
  mkdirSync(join(checkout.folder, '.ostiary'), { recursive: true });
  expect((await runJob('validate', checkout, {})).code).toBe(3);
  const { junit = '', codequality = '' } = recipe['validate']?.artifacts?.reports ?? {};
  expect(readFileSync(join(checkout.folder, junit), 'utf8')).toContain('<failure type="manifest/unknown-field"');
  const [found, ...others] = JSON.parse(readFileSync(join(checkout.folder, codequality), 'utf8'));
  expect([found, others]).toEqual([
    {
      description: expect.stringContaining('reviewer'),
      check_name: 'manifest/unknown-field',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: 'major',
      location: { path: 'access/first.yaml', lines: { begin: expect.any(Number) } },
    },
    [],
  ]);
  expect((await runJob('plan', checkout, {})).code).toBe(3);
  const note = readFileSync(join(checkout.folder, 'plan.md'), 'utf8');
  expect(note).toMatch(/### Failed: input invalid \(exit 3\)\n\n\*\*1 error\*\*\n\n- \[`access\/first\.yaml:\d+`\]\(https/);
  expect(readFileSync(join(checkout.folder, 'plan.html'), 'utf8')).toContain('<h1>Failed: input invalid (exit 3)</h1>');
});
