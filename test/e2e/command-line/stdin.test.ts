import { existsSync, readFileSync } from 'node:fs';
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
});

describe('validate and test read manifests from stdin', () => {
  test.each(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])('in a process, as %s', async (path) => {
    const cwd = project();
    const good = await ostiary(['validate', path], { cwd, stdin: readFileSync(join(cwd, 'access/db.yaml'), 'utf8') });
    expect(good).toMatchObject({ code: 0, stdout: 'Valid. 1 resource. 1 notice.\n' });
    const bad = await ostiaryInProcess(['validate', '-'], { cwd, stdin: `${guardrail('a')}---\n${connection('b', { reviewers: 'dba' })}` });
    expect([bad.code, bad.stderr]).toEqual([3, expect.stringMatching(/^<stdin>:\d+:18 error manifest\/wrong-type/)]);
  });

  test('that are empty, too large or not UTF-8', async () => {
    const cwd = project();
    const empty = await piped('validate -', cwd, '');
    expect([empty.code, empty.stderr]).toEqual([3, expect.stringContaining('error manifest/none')]);
    const large = await piped('validate -', cwd, `# ${'x'.repeat(1024 * 1024)}`);
    expect([large.code, large.stderr]).toEqual([3, expect.stringContaining('manifest/too-large')]);
    const env = { LANG: 'C' };
    const { code, stderr } = await ostiaryInProcess(['validate', '-'], { cwd, env, stdin: Buffer.from([0x61, 0xff]) });
    expect([code, stderr]).toEqual([3, expect.stringContaining('<stdin>:1:1 error manifest/not-utf8')]);
  });
});

describe('fmt formats stdin to stdout', () => {
  const messy = '# A rule.\nkind:   GuardrailRule\napiVersion: ostiary/v1\nmetadata: {name: a}\nspec: {}\n';
  const neat = '# A rule.\napiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec: {}\n';

  test('and writes no file', async () => {
    const cwd = makeProject({});
    expect(await ostiaryInProcess(['fmt', '-'], { cwd, stdin: messy })).toMatchObject({ code: 0, stdout: neat, stderr: '' });
    expect(await piped('fmt -', cwd, neat)).toMatchObject({ code: 0, stdout: neat, stderr: '' });
    expect(filesBelow(cwd)).toEqual([]);
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
