import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ostiary } from '../../support/cli.ts';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, guardrail, useProjects } from '../project.ts';

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
  ['paln --help', 'unknown command "paln"', 'did you mean plan?'],
  ['frobnicate --json --help', 'unknown command "frobnicate"', 'run ostiary --help for the list of commands'],
  ['frobnicate x', 'unknown command "frobnicate"', 'run ostiary --help for the list of commands'],
  ['help frobnicate', 'unknown command "frobnicate"', 'run ostiary --help for the list of commands'],
  ['--frobnicate', 'unknown option "--frobnicate"', 'run ostiary --help for the list of commands'],
  ['import', 'unknown command "import"', 'ostiary pull imports a gateway as manifests; ostiary apply writes manifests to the gateway'],
  ['sync --help', 'unknown command "sync"', 'ostiary plan shows the changes, and ostiary apply makes them'],
  ['status', 'unknown command "status"', 'ostiary drift lists changes made outside Ostiary, and ostiary list the state of each object'],
  [
    'describe orders-db',
    'unknown command "describe"',
    'ostiary get connection NAME --format yaml prints an object, and ostiary explain KIND/NAME why it changes',
  ],
  ['state list', 'unknown command "state"', 'ostiary list shows the state of each object'],
  ['rollback', 'unknown command "rollback"', 'revert the commit and apply; ostiary drift --revert undoes changes made outside Ostiary'],
  ['plan -o json', 'unknown option "-o"', '--format json prints JSON; --help lists the other formats'],
  ['list --output json', 'unknown option "--output"', '--format json prints JSON; --help lists the other formats'],
  ['pull -o access', 'unknown option "-o"', 'name the folder as an argument: ostiary pull access'],
  ['apply --dry-run', 'unknown option "--dry-run"', 'ostiary plan shows what apply would do'],
  ['apply -auto-approve', 'unknown option "-auto-approve"', '--yes writes without asking'],
  ['plan -out=plan.json', 'unknown option "-out=plan.json"', 'did you mean --out?'],
  ['plan -f access', 'unknown option "-f"', 'files and folders are arguments: ostiary plan access/orders.yaml'],
  ...['plan --adopt Connection/x', 'apply --yes --adopt Connection/x'].map(
    (line) =>
      [
        line,
        'unknown option "--adopt"',
        '--import KIND/NAME agrees to import an existing object; ostiary drift --adopt accepts drift into the manifests',
      ] as const,
  ),
  ['plan --frobnicate', 'unknown option "--frobnicate"', 'run ostiary plan --help for the list of flags'],
  ['plan --detailed-exitcod', 'unknown option "--detailed-exitcod"', 'did you mean --detailed-exitcode?'],
  ['get', 'missing required argument "what"', 'run ostiary get --help for the list of flags'],
  ['get agents connections x', 'too many arguments for "get": expected 2, got 3', 'run ostiary get --help for the list of flags'],
  ['get conections', 'unknown resource type "conections"', 'did you mean "connections"?'],
  [
    'get x',
    'unknown resource type "x"',
    'ostiary search x finds an object by its name, and ostiary get connection x prints a connection; expected one of: connections, rules, resources, runbooks, templates, reviews, agents, access-control, attributes, access-request-rules, runbook-rules, rulepacks, analyzer-rules, machine-identities, groups, users',
  ],
  [
    'get constructor',
    'unknown resource type "constructor"',
    'ostiary search constructor finds an object by its name, and ostiary get connection constructor prints a connection; expected one of: connections, rules, resources, runbooks, templates, reviews, agents, access-control, attributes, access-request-rules, runbook-rules, rulepacks, analyzer-rules, machine-identities, groups, users',
  ],
  ['get reviews --format markdown', 'invalid value "markdown" for --format', 'expected one of: text, json, yaml'],
  ['search', 'missing required argument "term"', 'run ostiary search --help for the list of flags'],
  ['review approve', 'missing required argument "id"', 'run ostiary review --help for the list of flags'],
  [`review aprove ${uuid}`, 'invalid value "aprove" for verdict', 'expected one of: approve, reject, revoke'],
  ['review approve 17', 'invalid review ID "17"', 'run ostiary get reviews for the list'],
  [
    `review approve ${uuid} --window 9-18`,
    'invalid value "9-18" for --window',
    'expected two hours of the day in UTC, such as 09:00-18:00',
  ],
  [
    `review approve ${uuid} --window 09:00-09:00`,
    'invalid value "09:00-09:00" for --window',
    'expected two hours of the day in UTC, such as 09:00-18:00',
  ],
  [`review reject ${uuid} --force`, '--force requires approve', 'remove it to reject'],
  [`review revoke ${uuid} --window 09:00-18:00`, '--window requires approve', 'remove it to revoke'],
  ['explain', 'missing required argument "resource"', 'run ostiary explain --help for the list of flags'],
  [
    'explain no-drop',
    'invalid resource "no-drop": expected KIND/NAME',
    'kinds: AccessRequestRule, Attribute, Connection, DataMaskingRule, GuardrailRule, RunbookConfiguration, RunbookRule',
  ],
  ['explain GuardrailRul/no-drop', 'invalid resource "GuardrailRul/no-drop": expected KIND/NAME', 'did you mean "GuardrailRule/no-drop"?'],
  ['explain GuardrailRule/no-drop inptu', 'unknown field "inptu" of GuardrailRule', 'did you mean "input"?'],
  ['init a b', 'too many arguments for "init": expected 1, got 2', 'run ostiary init --help for the list of flags'],
  ['serve x', 'too many arguments for "serve": expected 0, got 1', 'run ostiary serve --help for the list of flags'],
  ['serve --port 65536', 'invalid value "65536" for --port', 'expected an integer from 0 to 65535'],
  ['apply', 'apply needs confirmation, but stdin is not a terminal', 'pass --yes'],
  ['apply --yes --concurrency 0', 'invalid value "0" for --concurrency', 'expected an integer from 1 to 64'],
  ['apply --yes --concurrency 1e1', 'invalid value "1e1" for --concurrency', 'expected an integer from 1 to 64'],
  ['apply --yes --concurrency=', 'invalid value "" for --concurrency', 'expected an integer from 1 to 64'],
  ['apply --yes --on-managed force', 'invalid value "force" for --on-managed', 'expected one of: refuse, skip'],
  ['plan --allow plan/too-many-updates', 'invalid value "plan/too-many-updates" for --allow', 'expected AREA/CODE=REASON with a reason'],
  ['plan --allow plan/too-many-updates=', 'invalid value "plan/too-many-updates=" for --allow', 'expected AREA/CODE=REASON with a reason'],
  ['plan --format yaml', 'invalid value "yaml" for --format', 'expected one of: text, json, markdown'],
  ['validate --format html', 'invalid value "html" for --format', 'expected one of: text, json, markdown, junit, codequality, sarif'],
  ['plan --report json', 'invalid value "json" for --report', 'expected FORMAT=PATH with one of: text, json, markdown, html'],
  ['plan --report pdf=x', 'invalid value "pdf=x" for --report', 'expected FORMAT=PATH with one of: text, json, markdown, html'],
  [
    'plan --report json=no/x',
    'the report "no/x" cannot be written: its folder does not exist',
    'check that its folder exists and is writable',
  ],
  ['plan --target a --target b', 'option "--target" is given more than once', 'run ostiary plan --help for the list of flags'],
  ['plan --out --full', 'option "--out <file>" has no value: --full is another option', 'run ostiary plan --help for the list of flags'],
  ['plan --tag', 'option "--tag <key=value>" has no value', 'run ostiary plan --help for the list of flags'],
  ['plan --dialect sql', 'invalid value "sql" for --dialect', 'expected one of: auto, interface, hoop'],
  ['plan --target prodution', 'unknown target "prodution" in ostiary.yaml', 'did you mean "production"?'],
  ['plan --target x', 'unknown target "x" in ostiary.yaml', 'targets: production'],
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
  ['GuardrailRule/no-drop', 'manifest/no-such-path', 'to select a resource, pass --only GuardrailRule/no-drop'],
  ['--config none.yaml', 'config/not-found', 'check the path'],
])('plan %s: one clear diagnostic', async (line, expected, hint) => {
  const { code, stdout, stderr } = await ostiaryInProcess(['plan', ...line.split(' ')], { cwd: folder, env });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(`error ${expected}  `);
  expect(stderr).toContain(hint);
  expect(stderr).toMatch(/\n1 error\n$/);
  expect(server.seen).toHaveLength(0);
});

const invalidUrl = (shown: string): string =>
  `invalid gateway URL${shown}: expected http(s)://HOST/PATH without credentials, query and fragment`;

describe('selection of gateway and manifests', () => {
  const address = 'example: https://gateway.example.com/api; pass the token in an environment variable';
  const config2 = config({ production: 'http://127.0.0.1:9', staging: 'http://127.0.0.1:9' });

  test('a config with several targets requires --target', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config2, 'access/rule.yaml': guardrail('no-drop') });
    for (const args of [['plan'], ['apply', '--yes'], ['get', 'agents'], ['explain', 'GuardrailRule/no-drop']]) {
      const { code, stderr } = await ostiaryInProcess(args, { cwd, env });
      expect({ code, stderr }).toEqual({
        code: 3,
        stderr: usage('--target is required: the config has more than one target', 'targets: production, staging'),
      });
    }
    expect(await ostiaryInProcess(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'Valid. 1 resource in 2 targets.\n',
      stderr: '',
    });
  });

  test.concurrent.each([
    ['plan', {}, 'found no config file, and no path was given', 'run ostiary init, or pass the folders of manifests'],
    ['get agents', {}, 'no gateway is configured', 'run ostiary init to create ostiary.yaml, pass --url, or set OSTIARY_URL'],
    ['get agents --url nonsense', {}, invalidUrl(' "nonsense"'), address],
    ['get agents --url ftp://x', {}, invalidUrl(' "ftp://x"'), address],
    ['get agents --url https://me:hunter2@x', {}, invalidUrl(''), address],
    ['get agents', { OSTIARY_URL: 'https://x/?key=hunter2' }, invalidUrl(''), address],
    ['get agents --url http://x', { OSTIARY_TOKEN: '' }, 'missing token for http://x', 'set OSTIARY_TOKEN in the environment'],
  ])('without a config: ostiary %s', async (line, more, message, hint) => {
    const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd: makeProject({}), env: { ...env, ...more } });
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: usage(message, hint) });
  });

  test('an unknown name in an option is a warning with a suggestion', async () => {
    const gateway = await startFlakyServer(json(200, []));
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url), 'access/rule.yaml': guardrail('no-drop') });
    const line = ['plan', '--revert', 'GuardrailRule/no-drap', '--revert', 'GuardrailRule/no-drop', '--import', 'x'];
    const { code, stderr } = await ostiaryInProcess(line, { cwd, env });
    await gateway.close();
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning plan/unknown-name  --import x has no effect: the object exists neither in the manifests nor on the gateway\n' +
        '  use KIND/NAME as printed by plan\n' +
        'warning plan/unknown-name  --revert GuardrailRule/no-drap has no effect: the object exists neither in the manifests nor on the gateway\n' +
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

describe('help', () => {
  const flagsOf: Readonly<Record<string, string>> = {
    validate:
      '--color --no-color --quiet --full --verbose --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --today --format --report',
    test: '--color --no-color --quiet --full --verbose --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --format --report',
    get: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --format',
    list: '--color --no-color --quiet --full --verbose --state --help --config --target --url --dialect --auth --only --tag --exclude --cache --read-concurrency --base --own --no-origin --format --today --secrets',
    schema: '--color --no-color --quiet --full --verbose --json --help',
    version: '--color --no-color --quiet --full --verbose --json --help',
    fmt: '--color --no-color --quiet --full --verbose --check --help --config',
    completion: '--color --no-color --quiet --full --verbose --help',
    search: '--color --no-color --quiet --full --verbose --help --config --target --url --dialect --auth --format',
    review: '--color --no-color --quiet --full --verbose --force --window --help --config --target --url --dialect --auth --format',
    explain:
      '--color --no-color --quiet --full --verbose --all --help --config --target --url --dialect --auth --cache --read-concurrency --base --own --no-origin --format --today --secrets',
    plan: '--target --only --format --detailed-exitcode --out --color --no-color --quiet --full --verbose --help --all-targets --config --url --dialect --auth --tag --exclude --config-ref --cache --read-concurrency --base --own --no-origin --report --link-base --max-length --today --allow --max-risk --no-new-access --import --revert --prune --no-prune --secrets --keep-going',
    apply:
      '--target --only --prune --yes --plan --color --no-color --quiet --full --verbose --help --all-targets --config --url --dialect --auth --tag --exclude --cache --read-concurrency --base --own --no-origin --format --report --link-base --max-length --today --allow --max-risk --no-new-access --import --revert --no-prune --keep-going --concurrency --lock-timeout --journal --on-managed --digest',
    drift:
      '--color --no-color --quiet --full --verbose --since --revert --expire --adopt --new --direction --no-commit --label --help --all-targets --config --target --url --dialect --auth --only --tag --exclude --cache --read-concurrency --base --own --no-origin --format --report --link-base --max-length --today --allow --secrets --yes --concurrency --lock-timeout --journal',
    pull: '--color --no-color --quiet --full --verbose --secrets --dry-run --yes --from-state --tests --help --config --target --url --dialect --auth --only --tag --exclude --read-concurrency --format',
    can: '--color --no-color --quiet --full --verbose --live --plan --user --matrix --help --config --target --url --dialect --auth --base --own --no-origin --format',
    report:
      '--color --no-color --quiet --full --verbose --live --plan --format --no-git --verify --help --config --target --url --dialect --auth --base --own --no-origin',
    who: '--color --no-color --quiet --full --verbose --live --plan --help --config --target --url --dialect --auth --base --own --no-origin --format',
    policy:
      '--color --no-color --quiet --full --verbose --check --help --config --target --url --dialect --auth --base --own --no-origin --today --secrets',
    init: '--color --no-color --quiet --full --verbose --github --action --help',
    ci: '--color --no-color --quiet --full --verbose --no-comment --no-issue --labels --assignees --status --label --digest --config-ref --detailed-exitcode --fail-on --overrides --environment --sarif --help',
    record: '--color --no-color --quiet --full --verbose --out --help',
    serve:
      '--color --no-color --quiet --full --verbose --port --host --database --agent --init --migrate --grant --verify-audit --trust-proxy --log --drain --audit-keep --local-repositories --allow-private-repositories --help',
  };

  test.concurrent.each(Object.entries(flagsOf))('%s names every flag and fits 100 columns', async (name, flags) => {
    const { code, stdout, stderr } = await ostiaryInProcess([name, '--help'], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const named = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1]);
    expect(named.join(' ')).toBe(flags);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(stdout).toMatch(new RegExp(`^(?:Example: ostiary .*\n\n)?Usage: ostiary ${name}(?:\\|\\w+)? `));
    expect((await ostiaryInProcess(['help', name], { cwd: folder })).stdout).toBe(stdout);
  });

  test('the program lists its commands and exit codes with --help and without arguments', async () => {
    const { code, stdout, stderr } = await ostiary(['--help'], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const named = [...stdout.matchAll(/^ {2}(\w+)(?:\|\w+)?(?: \[| {2})/gm)].map((match) => match[1]);
    expect(new Set(named)).toEqual(new Set([...Object.keys(flagsOf), 'help']));
    expect(stdout).toContain('Exit codes: 0 done, 1 internal error');
    const headings = [...stdout.matchAll(/^(\w.*):$/gm)].map((match) => match[1]);
    expect(headings).toEqual(['Options', 'Get started', 'Change', 'Inspect', 'Operate']);
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
