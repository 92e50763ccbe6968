import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dashMeanings } from '../../../src/commands/command-line/refuse-dash.ts';
import { ostiary, type Ended } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, filesBelow, guardrail, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();

function project(): string {
  return makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/db.yaml': connection('piped', { reviewers: ['dba'] }) });
}

function piped(line: string, cwd: string, stdin = ''): Promise<Ended> {
  return ostiaryInProcess(line.split(' '), { cwd, env: gateway.env(), stdin });
}

/** Returns the names of the options and arguments of a command that take a path, as its help prints them. */
async function pathsOf(command: string): Promise<readonly string[]> {
  const { stdout } = await ostiaryInProcess([command, '--help'], { cwd: '/' });
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+) <(?:file|folder|format=path)>/gm)].map(([, name = '']) => name);
  const [, usage = ''] = /^Usage: ostiary \w+(?:\|\w+)? \[options\]\s+(.*)/m.exec(stdout) ?? [];
  const places = usage.match(/\[(?:paths\.\.\.|directory|folder)\]/g) ?? [];
  return [...options, ...places];
}

async function commandNames(): Promise<readonly string[]> {
  const { stdout } = await ostiaryInProcess(['--help'], { cwd: '/' });
  return [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? (?:\[|<| )/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

describe('"-"', () => {
  test('has a meaning for each option and argument that takes a path, and no other', async () => {
    const commands = await commandNames();
    expect(commands).toEqual(expect.arrayContaining(['init', 'pull', 'validate', 'fmt', 'plan', 'apply', 'drift', 'list', 'serve']));
    const found = await Promise.all(commands.map(pathsOf));
    const known = Object.keys(dashMeanings).map((name) => name.replace(/^\w+ /, ''));
    expect([...new Set(found.flat())].toSorted()).toEqual([...new Set(known)].toSorted());
  });

  test('is stdin or an error for each of them, and never the name of a file or folder', async () => {
    const cwd = project();
    const before = filesBelow(cwd);
    const env = gateway.env();
    const needed: Readonly<Record<string, readonly string[]>> = {
      explain: ['Connection/piped'],
      get: ['connections'],
      search: ['db'],
      review: ['approve', '1e625499-34c9-4b26-a9c3-17c7fa662bdf'],
      apply: ['--yes'],
      pull: ['--dry-run'],
      record: ['key'],
      policy: ['baseline'],
      who: ['piped'],
      report: ['access'],
      ci: ['validate'],
    };
    const lines = (await Promise.all((await commandNames()).map(async (command) => ({ command, paths: await pathsOf(command) })))).flatMap(
      ({ command, paths }) =>
        paths.map((name) => {
          const value = name.startsWith('--') ? [name, name === '--report' ? 'json=-' : '-'] : ['--', '-'];
          const meaning = dashMeanings[`${command} ${name}`] ?? dashMeanings[name] ?? 'stdin';
          return { line: [command, ...(needed[command] ?? []), ...value], meaning };
        }),
    );
    const refused: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const { line, meaning } of lines) {
      const { code, stderr } = await ostiaryInProcess(line, { cwd, env });
      if (meaning === 'stdin') continue;
      refused[line.join(' ')] = `exit ${code}: ${stderr}`;
      expected[line.join(' ')] = `exit 3: error cli/usage  ${meaning[0]}\n  hint: ${meaning[1]}\n`;
    }
    expect(refused).toEqual(expected);
    expect(Object.keys(refused).length).toBeGreaterThan(25);
    expect(filesBelow(cwd)).toEqual(before);
    expect(existsSync(join(cwd, '-'))).toBe(false);
  });

  test.each([
    'plan --report=json=-',
    'plan --report html=plan.html --report json=-',
    'plan --format json --out -',
    'apply --yes --journal=-',
    'plan access -',
    'plan /dev/stdin',
    'list -',
    'drift -',
    'serve --database -',
    'validate - access',
    'validate access /dev/stdin',
    'fmt - -',
  ])('is an error: %s', async (line) => {
    const cwd = project();
    const { code, stderr } = await piped(line, cwd, connection('other'));
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^error cli\/usage {2}.+\n {2}hint: .+\n/)]);
    expect(filesBelow(cwd)).toEqual(['access/db.yaml', 'ostiary.yaml']);
  });

  test('is an error that JSON contains, too', async () => {
    const { code, stdout } = await piped('plan --format json --out -', project());
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { failures: [{ diagnostics: [{ code: 'cli/usage' }] }] }]);
  });

  test('as ./- is a path like any other', async () => {
    const cwd = project();
    mkdirSync(join(cwd, '-'));
    cpSync(join(cwd, 'access/db.yaml'), join(cwd, '-/db.yaml'));
    expect(await piped('fmt --check ./-', cwd)).toMatchObject({ code: 2, stdout: '-/db.yaml\n' });
    expect(await piped('plan --report json=./-/plan.json', cwd)).toMatchObject({ code: 0 });
    expect(filesBelow(cwd)).toContain('-/plan.json');
  });
});

describe('validate and test read manifests from stdin', () => {
  test.each(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])('in a process, as %s', async (path) => {
    const cwd = project();
    const good = await ostiary(['validate', path], { cwd, stdin: readFileSync(join(cwd, 'access/db.yaml'), 'utf8') });
    expect(good).toMatchObject({ code: 0, stdout: 'Valid. 1 resource. 1 notice.\n' });
    const bad = await ostiary(['validate', path], { cwd, stdin: `${guardrail('a')}---\n${connection('b', { reviewers: 'dba' })}` });
    expect([bad.code, bad.stderr]).toEqual([3, expect.stringMatching(/^<stdin>:\d+:18 error manifest\/wrong-type/)]);
  });

  test('instead of the manifests of the project, with its config, defaults and policies', async () => {
    const cwd = makeProject({
      'ostiary.yaml': config(gateway.url()),
      'access/broken.yaml': 'apiVersion: ostiary/v1\nkind: None\n',
      '_defaults.yaml': 'apiVersion: ostiary/v1\nkind: Defaults\nspec: { Connection: { agent_id: from-defaults } }\n',
    });
    const { agent_id: agent, ...spec } = JSON.parse(connection('b'))['spec'];
    const bare = { apiVersion: 'ostiary/v1', kind: 'Connection', metadata: { name: 'b' }, spec };
    expect(agent).toBe('default');
    expect(await piped('validate -', cwd, JSON.stringify(bare))).toMatchObject({ code: 0 });
    expect(await piped('validate -', makeProject({}), JSON.stringify(bare))).toMatchObject({ code: 3 });
    const policy = { apiVersion: 'ostiary/v1', kind: 'Policy', metadata: { name: 'reviewed' } };
    const rule = { ...policy, spec: { for: 'Connection', require: 'connection.reviewers.size() > 0', message: 'has no reviewers' } };
    const checked = await piped('validate -', cwd, `${JSON.stringify(bare)}\n---\n${JSON.stringify(rule)}`);
    expect([checked.code, checked.stderr]).toEqual([3, expect.stringContaining('<stdin>')]);
  });

  test('without a project, in every format, and for several targets', async () => {
    const alone = makeProject({});
    expect(await piped('validate -', alone, connection('a'))).toMatchObject({ code: 0, stdout: 'Valid. 1 resource. 1 notice.\n' });
    for (const format of ['json', 'markdown', 'junit', 'codequality', 'sarif']) {
      const { code, stdout } = await piped(`validate - --format ${format}`, alone, connection('a', { reviewers: 'dba' }));
      expect([format, code, stdout]).toEqual([format, 3, expect.stringContaining('reviewers')]);
    }
    const several = makeProject({ 'ostiary.yaml': config({ one: 'http://127.0.0.1:1', two: 'http://127.0.0.1:2' }), 'access/a.yaml': '' });
    expect(await piped('validate -', several, connection('a'))).toMatchObject({
      code: 0,
      stdout: 'Valid. 1 resource in 2 targets. 1 notice.\n',
    });
  });

  test('that are empty, too large or not UTF-8', async () => {
    const cwd = project();
    const empty = await piped('validate -', cwd, '');
    expect([empty.code, empty.stderr]).toEqual([3, expect.stringContaining('error manifest/none')]);
    const large = await piped('validate -', cwd, `# ${'x'.repeat(1024 * 1024)}`);
    expect([large.code, large.stderr]).toEqual([3, expect.stringContaining('manifest/too-large')]);
    const env = { LANG: 'C' };
    const { code, stderr } = await ostiary(['validate', '-'], { cwd, env, stdin: Buffer.from([0x61, 0xff]) });
    expect([code, stderr]).toEqual([3, expect.stringContaining('<stdin>:1:1 error manifest/not-utf8')]);
  });

  test('with the samples of their rules', async () => {
    const rule = JSON.parse(guardrail('no-shell'));
    const samples = (expected: string): string => JSON.stringify({ ...rule, tests: [{ input: 'exec xp_cmdshell', expect: expected }] });
    expect(await piped('test -', project(), samples('blocked'))).toMatchObject({ code: 0 });
    expect(await piped('test -', project(), samples('allowed'))).toMatchObject({ code: 3 });
  });
});

describe('fmt formats stdin to stdout', () => {
  const messy = '# A rule.\nkind:   GuardrailRule\napiVersion: ostiary/v1\nmetadata: {name: a}\nspec: {}\n';
  const neat = '# A rule.\napiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec: {}\n';

  test('and writes no file', async () => {
    const cwd = makeProject({});
    expect(await ostiary(['fmt', '-'], { cwd, stdin: messy })).toMatchObject({ code: 0, stdout: neat, stderr: '' });
    expect(await piped('fmt -', cwd, neat)).toMatchObject({ code: 0, stdout: neat, stderr: '' });
    expect(filesBelow(cwd)).toEqual([]);
  });

  test('or checks it', async () => {
    expect(await piped('fmt --check -', '/', messy)).toMatchObject({ code: 2, stdout: '<stdin>\n' });
    expect(await piped('fmt --check -', '/', neat)).toMatchObject({ code: 0, stdout: '' });
  });

  test('or reports invalid YAML, and prints nothing to stdout', async () => {
    const { code, stdout, stderr } = await piped('fmt -', '/', 'kind: [\n');
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining('<stdin>:')]);
  });
});

test('pull reads a Terraform state from stdin', async () => {
  const state = readFileSync('examples/terraform/terraform.tfstate', 'utf8');
  for (const path of ['-', '/dev/stdin'])
    expect(await piped(`pull . --from-state ${path} --dry-run`, project(), state)).toMatchObject({ code: 0 });
  const { code, stderr } = await piped('pull . --from-state - --dry-run', project(), '{}');
  expect([code, stderr]).toEqual([3, expect.stringContaining('<stdin>')]);
});

test('apply reads a saved plan from stdin', async () => {
  const cwd = project();
  expect(await piped('plan --out plan.json', cwd)).toMatchObject({ code: 0 });
  const plan = readFileSync(join(cwd, 'plan.json'), 'utf8');
  const broken = await piped('apply --yes --plan -', cwd, plan.slice(0, -10));
  expect([broken.code, broken.stderr]).toEqual([3, expect.stringContaining('<stdin>')]);
  const applied = await piped('apply --yes --plan -', cwd, plan);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('1 created')]);
  expect(await gateway.reviewersOf('piped')).toEqual(['dba']);
});
