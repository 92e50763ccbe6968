import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ostiary } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, guardrail, manifest, useProjects } from '../project.ts';
import { useRepositories } from '../../support/repository.ts';
import { parse } from 'yaml';

const makeProject = useProjects();

describe('init', () => {
  test('writes a valid project, and refuses to run a second time', async () => {
    const cwd = makeProject({});
    expect(await ostiary(['init'], { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('wrote ostiary.yaml\n') });
    expect(await ostiaryInProcess(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Valid. 2 resources.'),
    });
    const before = contentsOf(cwd);
    const { code, stdout, stderr } = await ostiaryInProcess(['init'], { cwd });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe('error cli/usage  this folder already has all files that init creates\n  hint: edit them, then run ostiary plan\n');
    expect(contentsOf(cwd)).toEqual(before);
  });

  test('writes nothing if one of its files would be written through a link', async () => {
    const cwd = makeProject({});
    mkdirSync(join(cwd, 'real'));
    symlinkSync('real', join(cwd, 'schemas'));
    const { code, stderr } = await ostiaryInProcess(['init'], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringContaining('report/link')]);
    expect(contentsOf(cwd)).toEqual({});
  });
});

const repositories = useRepositories();

describe('init --github', () => {
  const action = `team/ostiary@${'a1'.repeat(20)}`;
  const { make } = repositories;
  const secret = {
    'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_ORDERS' } },
    'filesystem:CA': { valueFrom: { file: 'certs/ca.pem' } },
  };

  test('writes the workflows of the examples for a project like theirs', async () => {
    const repository = make({
      'ostiary.yaml': config('http://127.0.0.1:9').replace(/url: '([^']*)'/, "url: '$1', overlays: [overlays/]"),
      'access/orders.yaml': connection('orders', { secret }),
      'overlays/orders.yaml': manifest('Connection', 'orders', { reviewers: ['dba'] }),
      'certs/ca.pem': 'a certificate',
    });
    expect(await ostiaryInProcess(['init', '--github', '--action', action], { cwd: repository.folder })).toMatchObject({ code: 0 });
    const written = workflowsOf(repository.folder);
    for (const name of ['validate', 'plan', 'apply', 'drift']) {
      const example = readFileSync(`examples/github/${name}.yml`, 'utf8');
      const expected = example
        .replace(/ +# acme\/ostiary and .*\n/, '')
        .replace(/acme\/ostiary@0+ # v[\d.]+/, action)
        .replace("'certs/**'", "'certs/ca.pem'");
      expect(written[`access-${name}.yml`]).toBe(expected);
    }
  });

  test('of a folder below the top, and of several targets', async () => {
    const repository = make({
      'teams/pay/ostiary.yaml': config({ staging: 'http://127.0.0.1:9', production: 'http://127.0.0.1:10' }).replaceAll(
        ' }',
        ', token: { env: OSTIARY_TOKEN_PAY } }',
      ),
      'teams/pay/access/orders.yaml': connection('orders'),
    });
    const { code, stdout, stderr } = await ostiaryInProcess(['init', 'teams/pay', '--github'], { cwd: repository.folder });
    expect([code, stdout]).toEqual([0, expect.stringContaining('wrote .github/workflows/access-plan.yml\n')]);
    expect(stderr).toContain('fill in the repository of the action');
    const plan = parse(workflowsOf(repository.folder)['access-plan.yml'] ?? '');
    expect(plan.on.pull_request.paths).toEqual(['teams/pay/access/**', 'teams/pay/ostiary.yaml']);
    expect(plan.jobs.plan.steps[1]).toMatchObject({
      with: { 'working-directory': 'teams/pay', 'all-targets': true, mode: 'plan' },
      env: { OSTIARY_TOKEN_PAY: '${{ secrets.OSTIARY_TOKEN_PAY }}' },
    });
    const apply = parse(workflowsOf(repository.folder)['access-apply.yml'] ?? '');
    expect(Object.keys(apply.jobs.apply.steps[1].env)).toEqual(['OSTIARY_TOKEN_PAY', 'OSTIARY_RECORD_KEY']);
  });

  test('changes no existing workflow, and refuses a tag and an action without workflows', async () => {
    const repository = make({
      'ostiary.yaml': config('http://127.0.0.1:9'),
      'access/rule.yaml': guardrail('no-drop'),
      '.github/workflows/access-plan.yml': 'mine',
    });
    const run = (...words: readonly string[]): ReturnType<typeof ostiaryInProcess> =>
      ostiaryInProcess(['init', ...words], { cwd: repository.folder });
    expect(await run('--github', '--action', 'team/ostiary@v1')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the 40 digits of a commit'),
    });
    expect(await run('--action', action)).toMatchObject({ code: 3, stderr: expect.stringContaining('pass --github, too') });
    expect((await run('--github')).code).toBe(0);
    expect(workflowsOf(repository.folder)['access-plan.yml']).toBe('mine');
    expect((await run('--github')).code).toBe(3);
  });
});

test('init --gitlab writes the pipeline of the example, for a folder below the top and for several targets', async () => {
  const { make } = repositories;
  const example = readFileSync('examples/gitlab/.gitlab-ci.yml', 'utf8');
  const alone = make({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/rule.yaml': guardrail('no-drop') });
  expect(await ostiaryInProcess(['init', '--gitlab'], { cwd: alone.folder })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('wrote .gitlab-ci.yml\n'),
    stderr: expect.stringContaining('Fill in the release in .gitlab-ci.yml'),
  });
  expect(parse(readFileSync(join(alone.folder, '.gitlab-ci.yml'), 'utf8'))).toEqual(parse(example));
  const several = make({
    'pay/ostiary.yaml': config({ staging: 'http://127.0.0.1:9', production: 'http://127.0.0.1:10' }),
    'pay/access/rule.yaml': guardrail('no-drop'),
  });
  expect((await ostiaryInProcess(['init', 'pay', '--gitlab'], { cwd: several.folder })).code).toBe(0);
  const { plan, apply } = parse(readFileSync(join(several.folder, '.gitlab-ci.yml'), 'utf8'));
  expect(plan.script[3]).toBe(
    "ostiary ci plan --all-targets --config 'pay/ostiary.yaml' --status --report markdown=plan-{target}.md --report html=plan-{target}.html",
  );
  expect(plan.artifacts.paths).toEqual(['plan-*.html', 'plan-*.md']);
  expect(apply.cache.paths).toEqual(['pay/.ostiary/']);
});

/** Returns the workflows of a repository by the name of their file. */
function workflowsOf(folder: string): Readonly<Record<string, string>> {
  const path = join(folder, '.github', 'workflows');
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

function contentsOf(cwd: string): Readonly<Record<string, string>> {
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).toSorted();
  return Object.fromEntries(paths.map((path) => [path.slice(cwd.length + 1), readFileSync(path, 'utf8')]));
}
