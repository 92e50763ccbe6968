import { afterAll, beforeAll, expect, test } from 'vitest';
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

const wrong: readonly (readonly [line: string, message: string, hint: string])[] = [
  ['paln', 'unknown command "paln"', 'did you mean plan?'],
  ['import', 'unknown command "import"', 'ostiary pull imports a gateway as manifests; ostiary apply writes manifests to the gateway'],
  ['plan --frobnicate', 'unknown option "--frobnicate"', 'run ostiary plan --help for the list of flags'],
  ['plan --color=always', 'unknown option "--color=always"', 'set FORCE_COLOR=1: it prints colors without a terminal'],
  ['drift --color', 'unknown option "--color"', 'set FORCE_COLOR=1: it prints colors without a terminal'],
  ['plan -out=plan.json', 'unknown option "-out=plan.json"', 'did you mean --out?'],
  ['apply -f access/orders.yaml', 'unknown option "-f"', 'files and folders are arguments: ostiary apply access/orders.yaml'],
  [
    'init --url https://gateway.example.com',
    'unknown option "--url"',
    'ostiary pull --url https://gateway.example.com imports the objects of a gateway as manifests, and creates ostiary.yaml',
  ],
  ['apply plan.json', '"plan.json" is not a manifest', 'to apply a saved plan, run ostiary apply --plan plan.json'],
  [
    'plan -target=GuardrailRule/no-drop',
    'unknown option "-target=GuardrailRule/no-drop"',
    '--target names a gateway of the config; to select a resource, pass --only GuardrailRule/no-drop',
  ],
  [
    'plan --target GuardrailRule/no-drop',
    'unknown target "GuardrailRule/no-drop" in ostiary.yaml',
    'targets: production; to select a resource, pass --only GuardrailRule/no-drop',
  ],
  ['explain git/no-recrod', 'unknown code "git/no-recrod"', 'did you mean "git/no-record"?'],
  ['get', 'missing required argument "what"', 'run ostiary get --help for the list of flags'],
  ['serve x', 'too many arguments for "serve": expected 0, got 1', 'run ostiary serve --help for the list of flags'],
  ['apply', 'apply needs confirmation, but stdin is not a terminal', 'pass --yes'],
  ['apply --yes --concurrency 0', 'invalid value "0" for --concurrency', 'expected an integer from 1 to 64'],
  ['plan --allow plan/window=', 'invalid value "plan/window=" for --allow', 'expected AREA/CODE=REASON with a reason'],
  ['plan --out --full', 'option "--out <file>" has no value: --full is another option', 'run ostiary plan --help for the list of flags'],
  ['plan --target x', 'unknown target "x" in ostiary.yaml', 'targets: production'],
  ['drift --snapshot x.bin --report json=./x.bin', 'two outputs would be written to the same file "x.bin"', 'give each a name of its own'],
  ['plan --report html=x --report json=x', 'two outputs would be written to the same file "x"', 'give each a name of its own'],
  ['drift --snapshot ostiary.yaml', '"ostiary.yaml" is the config file, and would be overwritten', 'write to another file'],
  ['explain GuardrailRule/no-drop inptu', 'unknown field "inptu" of GuardrailRule', 'did you mean "input"?'],
];

test.concurrent.each(wrong)('ostiary %s: one clear line and a hint, and no request', async (line, message, hint) => {
  const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd: folder, env });
  expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: usage(message, hint) });
  expect(server.seen).toHaveLength(0);
});

test('explain prints the meaning of a code without a project', async () => {
  const cwd = makeProject({});
  const { code, stdout } = await ostiaryInProcess(['explain', 'git/no-record'], { cwd });
  expect([code, stdout.split('\n')[0]]).toEqual([0, 'git/no-record (refusal)']);
  expect((await ostiaryInProcess(['explain', 'risk/agent-rerouted'], { cwd })).stdout).toContain('(reroutes)');
});

test('a process prints a usage error and its hint to stderr', async () => {
  const [line, message, hint] = ['plan --frobnicate', 'unknown option "--frobnicate"', 'run ostiary plan --help for the list of flags'];
  expect(await ostiary(line.split(' '), { cwd: folder, env })).toMatchObject({ code: 3, stdout: '', stderr: usage(message, hint) });
});

test('a config with several targets requires --target, and a gateway its token; no error shows a login in a URL', async () => {
  const several = config({ production: 'http://127.0.0.1:9', staging: 'http://127.0.0.1:9' });
  const cwd = makeProject({ 'ostiary.yaml': several, 'access/rule.yaml': guardrail('no-drop') });
  const refused = { code: 3, stderr: expect.stringContaining('--target is required') };
  for (const line of ['plan', 'apply --yes']) expect(await ostiaryInProcess(line.split(' '), { cwd, env })).toMatchObject(refused);
  const alone = makeProject({});
  const without = await ostiaryInProcess('get agents --url http://x'.split(' '), { cwd: alone, env: { OSTIARY_TOKEN: '' } });
  expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('missing token for http://x') });
  const { code, stderr } = await ostiaryInProcess('get agents --url https://me:hunter2@x'.split(' '), { cwd: alone, env });
  expect([code, stderr]).toEqual([3, expect.stringContaining('invalid gateway URL')]);
  expect(stderr).not.toContain('hunter2');
  const other = await ostiaryInProcess(['get', 'agents'], { cwd: alone, env: { ...env, OSTIARY_URL: 'localhost:8009' } });
  expect(other.stderr).toContain('invalid gateway URL "localhost:8009"');
});

test('help names the exit codes, fits 100 columns, and is the answer to no arguments', async () => {
  const { code, stdout, stderr } = await ostiary(['--help'], { cwd: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Exit codes: 0 done, 1 internal error');
  expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  expect(await ostiaryInProcess([], { cwd: folder })).toMatchObject({ code: 0, stdout, stderr: '' });
  const { stdout: ofPlan } = await ostiaryInProcess(['plan', '--help'], { cwd: folder });
  expect((await ostiaryInProcess(['help', 'plan'], { cwd: folder })).stdout).toBe(ofPlan);
  expect(ofPlan.split('\n').filter((line) => line.length > 100)).toEqual([]);
});
