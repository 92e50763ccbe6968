import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ostiary } from '../support/cli.ts';
import { json, startFlakyServer, type FlakyServer } from '../support/flaky-server.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { config, guardrail, useProjects } from './project.ts';

const makeProject = useProjects();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };
let server: FlakyServer;
let folder: string;
beforeAll(async () => {
  server = await startFlakyServer(json(200, []));
  folder = makeProject({ 'ostiary.yaml': config(server.url), 'access/rule.yaml': guardrail('no-drop') });
});
afterAll(() => server.close());

/** Everything that a usage error prints: what is wrong in a line, what to do in another. */
function usage(message: string, hint: string): string {
  return `error cli/usage  ${message}\n  hint: ${hint}\n`;
}

const uuid = '1e625499-34c9-4b26-a9c3-17c7fa662bdf';
const wrong: readonly (readonly [line: string, message: string, hint: string])[] = [
  ['paln', 'unknown command "paln"', 'did you mean plan?'],
  ['frobnicate x', 'unknown command "frobnicate"', 'ostiary --help lists the commands'],
  ['help frobnicate', 'there is no command "frobnicate"', 'ostiary --help lists the commands'],
  ['--frobnicate', 'unknown option "--frobnicate"', 'ostiary --help lists the commands'],
  ['plan --frobnicate', 'unknown option "--frobnicate"', 'ostiary plan --help lists the flags'],
  ['plan --detailed-exitcod', 'unknown option "--detailed-exitcod"', 'did you mean --detailed-exitcode?'],
  ['get', 'missing required argument "what"', 'ostiary get --help lists the flags'],
  ['get agents connections', 'too many arguments for "get". Expected 1 argument but got 2.', 'ostiary get --help lists the flags'],
  ['get conections', 'there is nothing to get called "conections"', 'did you mean "connections"?'],
  ['get x', 'there is nothing to get called "x"', 'one of connections, rules, resources, runbooks, templates, reviews, agents'],
  [
    'get constructor',
    'there is nothing to get called "constructor"',
    'one of connections, rules, resources, runbooks, templates, reviews, agents',
  ],
  ['get reviews --format markdown', '--format cannot be "markdown"', 'one of text, json, yaml'],
  ['search', 'missing required argument "term"', 'ostiary search --help lists the flags'],
  ['review approve', 'missing required argument "id"', 'ostiary review --help lists the flags'],
  [`review aprove ${uuid}`, 'the verdict cannot be "aprove"', 'one of approve, reject, revoke'],
  ['review approve 17', '"17" is no id of a review', 'ostiary get reviews lists them'],
  [`review approve ${uuid} --window 9-18`, '--window cannot be "9-18"', 'two hours of the day in UTC, such as 09:00-18:00'],
  [`review approve ${uuid} --window 09:00-09:00`, '--window cannot be "09:00-09:00"', 'two hours of the day in UTC, such as 09:00-18:00'],
  [`review reject ${uuid} --force`, '--force goes with approve alone', 'leave it out to reject'],
  [`review revoke ${uuid} --window 09:00-18:00`, '--window goes with approve alone', 'leave it out to revoke'],
  ['explain', 'missing required argument "resource"', 'ostiary explain --help lists the flags'],
  ['explain no-drop', '"no-drop" is no KIND/NAME', 'the kinds are Connection, DataMaskingRule, GuardrailRule, RunbookConfiguration'],
  ['explain GuardrailRul/no-drop', '"GuardrailRul/no-drop" is no KIND/NAME', 'did you mean "GuardrailRule/no-drop"?'],
  ['explain GuardrailRule/no-drop inptu', 'GuardrailRule has no field "inptu"', 'did you mean "input"?'],
  ['init a b', 'too many arguments for "init". Expected 1 argument but got 2.', 'ostiary init --help lists the flags'],
  ['serve x', 'too many arguments for "serve". Expected 0 arguments but got 1.', 'ostiary serve --help lists the flags'],
  ['serve --port 65536', '--port cannot be "65536"', 'a whole number from 0 to 65535'],
  ['apply', 'apply asks before it writes, and here nobody can answer', 'pass --yes'],
  ['apply --yes --concurrency 0', '--concurrency cannot be "0"', 'a whole number from 1 to 64'],
  ['apply --yes --concurrency 1e1', '--concurrency cannot be "1e1"', 'a whole number from 1 to 64'],
  ['apply --yes --concurrency=', '--concurrency cannot be ""', 'a whole number from 1 to 64'],
  ['apply --yes --on-managed force', '--on-managed cannot be "force"', 'one of refuse, skip'],
  ['plan --allow plan/too-many-updates', '--allow cannot be "plan/too-many-updates"', 'write AREA/CODE=REASON, and give a reason'],
  ['plan --allow plan/too-many-updates=', '--allow cannot be "plan/too-many-updates="', 'write AREA/CODE=REASON, and give a reason'],
  ['plan --format yaml', '--format cannot be "yaml"', 'one of text, json, markdown'],
  ['validate --format html', '--format cannot be "html"', 'one of text, json, markdown, junit, codequality, sarif'],
  ['plan --report json', '--report cannot be "json"', 'write FORMAT=PATH with one of text, json, markdown, html'],
  ['plan --report pdf=x', '--report cannot be "pdf=x"', 'write FORMAT=PATH with one of text, json, markdown, html'],
  ['plan --report json=no/x', 'the report "no/x" cannot be written', 'check that its folder exists and may be written to'],
  ['plan --target a --target b', 'option "--target" is given twice', 'ostiary plan --help lists the flags'],
  ['plan --dialect sql', '--dialect cannot be "sql"', 'one of auto, interface, hoop'],
  ['plan --target prodution', 'there is no target "prodution" in ostiary.yaml', 'did you mean "production"?'],
  ['plan --target x', 'there is no target "x" in ostiary.yaml', 'it has production'],
];

test.concurrent.each(wrong)('ostiary %s: one clear line and a hint', async (line, message, hint) => {
  const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd: folder, env });
  expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: usage(message, hint) });
  expect(server.seen).toHaveLength(0);
});

test('a process prints a usage error and its hint to stderr', async () => {
  for (const [line, message, hint] of wrong.filter(([one]) => ['paln', 'get', 'apply', 'serve x', 'plan --frobnicate'].includes(one)))
    expect(await ostiary(line.split(' '), { cwd: folder, env })).toMatchObject({ code: 3, stdout: '', stderr: usage(message, hint) });
});

test.concurrent.each([
  ['--only GuardrailRule/no-drap', 'manifest/unknown-selection', 'did you mean "GuardrailRule/no-drop"?'],
  ['--only no-drop', 'manifest/unknown-selection', 'KIND/NAME'],
  ['--only GuardrailRule/x*', 'manifest/unknown-selection', 'KIND/NAME'],
  ['--exclude GuardrailRule/no-drap', 'manifest/unknown-selection', 'did you mean "GuardrailRule/no-drop"?'],
  ['--tag env=prodd', 'manifest/unknown-selection', 'KEY=VALUE'],
  ['access/none.yaml', 'manifest/no-such-path', 'check the path'],
  ['GuardrailRule/no-drop', 'manifest/no-such-path', 'a resource is chosen by --only GuardrailRule/no-drop'],
  ['--config none.yaml', 'config/not-found', 'check the path'],
])('plan %s: one clear diagnostic', async (line, expected, hint) => {
  const { code, stdout, stderr } = await ostiaryInProcess(['plan', ...line.split(' ')], { cwd: folder, env });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(`error ${expected}  `);
  expect(stderr).toContain(hint);
  expect(stderr).toMatch(/\n1 error\n$/);
  expect(server.seen).toHaveLength(0);
});

describe('selection of gateway and manifests', () => {
  const address = 'it looks like https://gateway.example.com/api; the token belongs into an environment variable';
  const noAddress = 'no http(s) address without credentials, query and fragment';
  const config2 = config({ production: 'http://127.0.0.1:9', staging: 'http://127.0.0.1:9' });

  test('a config with several targets requires --target', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config2, 'access/rule.yaml': guardrail('no-drop') });
    for (const args of [['plan'], ['apply', '--yes'], ['get', 'agents'], ['explain', 'GuardrailRule/no-drop']]) {
      const { code, stderr } = await ostiaryInProcess(args, { cwd, env });
      expect({ code, stderr }).toEqual({ code: 3, stderr: usage('which target?', 'pass --target with one of production, staging') });
    }
    expect(await ostiaryInProcess(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'Valid. 1 resource in 2 targets.\n',
      stderr: '',
    });
  });

  test.concurrent.each([
    ['plan', {}, 'there is no config file here and no path was given', 'run ostiary init, or give the folders of the manifests'],
    ['get agents', {}, 'which gateway?', 'write an ostiary.yaml with a target (ostiary init), or pass --url or set OSTIARY_URL'],
    ['get agents --url nonsense', {}, `"nonsense" is ${noAddress}`, address],
    ['get agents --url ftp://x', {}, `"ftp://x" is ${noAddress}`, address],
    ['get agents --url https://me:hunter2@x', {}, `the url of the gateway is ${noAddress}`, address],
    ['get agents', { OSTIARY_URL: 'https://x/?key=hunter2' }, `the url of the gateway is ${noAddress}`, address],
    ['get agents --url http://x', { OSTIARY_TOKEN: '' }, 'there is no token for http://x', 'set OSTIARY_TOKEN in the environment'],
  ])('without a config: ostiary %s', async (line, more, message, hint) => {
    const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd: makeProject({}), env: { ...env, ...more } });
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: usage(message, hint) });
  });

  test('an unknown name in an option is a warning with a suggestion', async () => {
    const gateway = await startFlakyServer(json(200, []));
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url), 'access/rule.yaml': guardrail('no-drop') });
    const line = ['plan', '--revert', 'GuardrailRule/no-drap', '--revert', 'GuardrailRule/no-drop', '--adopt', 'x'];
    const { code, stderr } = await ostiaryInProcess(line, { cwd, env });
    await gateway.close();
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning plan/unknown-name  --adopt x does nothing: neither a manifest nor the gateway has it\n' +
        '  write KIND/NAME, as plan prints it\n' +
        'warning plan/unknown-name  --revert GuardrailRule/no-drap does nothing: neither a manifest nor the gateway has it\n' +
        '  did you mean "GuardrailRule/no-drop"?\n2 warnings\n',
    );
  });

  test('without a config file, a URL and a folder suffice', async () => {
    const cwd = makeProject({ 'some/rule.yaml': guardrail('no-drop') });
    const gateway = await startFlakyServer(json(200, []));
    const { code, stdout } = await ostiary(['plan', 'some'], { cwd, env: { ...env, OSTIARY_URL: gateway.url } });
    await gateway.close();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('+ GuardrailRule/no-drop  some/rule.yaml:1') });
  });
});

test('--version prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const args of [['--version'], ['-V'], ['plan', '--version']])
    expect(await ostiary(args, { cwd: folder })).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('help', () => {
  const flagsOf: Readonly<Record<string, string>> = {
    validate:
      '--color --no-color --quiet --full --verbose --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --today --format --report',
    test: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --only --tag --exclude --format --report',
    get: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --format',
    list: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --only --tag --exclude --cache --base --own --no-origin --format --today --secrets',
    version: '--color --no-color --quiet --full --verbose --json --help',
    search: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --format',
    review: '--color --no-color --quiet --full --verbose --force --window --help --config --target --url --dialect --auth --format',
    explain:
      '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --cache --base --own --no-origin --format --today --secrets',
    plan: '--color --no-color --quiet --full --verbose --detailed-exitcode --out --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --config-ref --cache --base --own --no-origin --format --report --link-base --max-length --today --allow --max-risk --adopt --revert --prune --no-prune --secrets --keep-going',
    apply:
      '--color --no-color --quiet --full --verbose --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --cache --base --own --no-origin --format --report --link-base --max-length --today --allow --max-risk --adopt --revert --prune --no-prune --keep-going --yes --concurrency --lock-timeout --journal --on-managed --plan --digest',
    drift:
      '--color --no-color --quiet --full --verbose --since --revert --adopt --new --no-commit --label --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --cache --base --own --no-origin --format --report --link-base --max-length --today --allow --secrets --yes --concurrency --lock-timeout --journal',
    pull: '--color --no-color --quiet --full --verbose --secrets --from-state --help --config --target --url --dialect --auth --only --tag --exclude --format',
    init: '--color --no-color --quiet --full --verbose --help',
    serve:
      '--color --no-color --quiet --full --verbose --port --host --database --agent --init --migrate --grant --verify-audit --trust-proxy --log --drain --audit-keep --chaos --local-repositories --allow-private-repositories --help',
  };

  test.concurrent.each(Object.entries(flagsOf))('%s names every flag and fits 100 columns', async (name, flags) => {
    const { code, stdout, stderr } = await ostiaryInProcess([name, '--help'], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const named = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1]);
    expect(named.join(' ')).toBe(flags);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(stdout).toMatch(new RegExp(`^Usage: ostiary ${name}(?:\\|\\w+)? `));
    expect((await ostiaryInProcess(['help', name], { cwd: folder })).stdout).toBe(stdout);
  });

  test('the program lists its commands and exit codes with --help and without arguments', async () => {
    const { code, stdout, stderr } = await ostiary(['--help'], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const named = [...stdout.matchAll(/^ {2}(\w+)(?:\|\w+)?(?: \[| {2})/gm)].map((match) => match[1]);
    expect(new Set(named)).toEqual(new Set([...Object.keys(flagsOf), 'help']));
    expect(stdout).toContain('Exit codes: 0 done, 1 internal error');
    const headings = [...stdout.matchAll(/^(\w.*):$/gm)].map((match) => match[1]);
    expect(headings).toEqual(['Options', 'Begin', 'Change', 'Watch', 'Look up and decide, without manifests', 'More']);
    expect(
      stdout
        .slice(stdout.indexOf('Exit codes'))
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(await ostiaryInProcess([], { cwd: folder })).toMatchObject({ code: 0, stdout, stderr: '' });
  });
});

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
    expect(stderr).toBe(usage('this folder already has all files that init writes', 'edit them, then run ostiary plan'));
    expect(contentsOf(cwd)).toEqual(before);
  });

  test('adds only schemas to an existing project', async () => {
    const cwd = makeProject({ 'sub/ostiary.yml': config('http://127.0.0.1:9'), 'sub/access/rule.yaml': guardrail('no-drop') });
    expect(await ostiaryInProcess(['init', 'sub', '--quiet'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(contentsOf(join(cwd, 'sub')))).toEqual([
      'access/rule.yaml',
      'ostiary.yml',
      ...['connection', 'data-masking-rule', 'guardrail-rule', 'policy', 'runbook-configuration'].map(
        (name) => `schemas/${name}.schema.json`,
      ),
    ]);
  });
});

function contentsOf(cwd: string): Readonly<Record<string, string>> {
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).toSorted();
  return Object.fromEntries(paths.map((path) => [path.slice(cwd.length + 1), readFileSync(path, 'utf8')]));
}
