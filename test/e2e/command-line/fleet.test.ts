import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKey } from '../../server/client.ts';
import { expectValid, type DocumentName } from '../../support/documents.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const { make } = useRepositories();

const nowhere = 'http://127.0.0.1:9';

test('several targets in one run: each has a section, an unreachable one does not stop the others, the most important exit code wins', async () => {
  const cwd = makeProject({
    'ostiary.yaml': config({ one: gateway.url(), down: nowhere, two: gateway.url() }),
    'access/a.yaml': connection('a'),
  });
  const planned = await gateway.run('plan --all-targets --report json=plan-{target}.json', cwd);
  expect(planned.code).toBe(4);
  expect(planned.stdout).toMatch(
    /^Plan for one: [\s\S]*\n\nFailed on down: gateway unreachable or access denied \(exit 4\)\.\n\n\nPlan for two: /,
  );
  expect(planned.stderr).toMatch(
    /api\/unreachable[\s\S]*target: down\n[\s\S]*one {3}[^\n]*1 to create\n {2}down {2}exit 4, gateway unreachable or access denied\n {2}two {3}[^\n]*1 to create\n/,
  );
  const written = ['one', 'down', 'two'].map((name) => readDocument('plan', readFileSync(join(cwd, `plan-${name}.json`), 'utf8')));
  expect(written).toEqual([{ plans: ['one'] }, { plans: [], failures: [['down', 4, 'api/unreachable']] }, { plans: ['two'] }]);
  const markdown = await gateway.run('plan --all-targets --format markdown', cwd);
  expect(markdown.stdout).toMatch(
    /### Plan for `one`[\s\S]*### Failed on down: [^\n]*\(exit 4\)[\s\S]*`api\/unreachable`[\s\S]*### Plan for `two`/,
  );
  const json = await gateway.run('plan --target one,two --format json --detailed-exitcode', cwd);
  const document: { readonly plans: readonly { readonly target: { readonly name: string } }[] } = JSON.parse(json.stdout);
  expect([json.code, document.plans.map(({ target }) => target.name)]).toEqual([2, ['one', 'two']]);

  expect(json.stderr).toMatch(/one {2}exit 2, changes: [^\n]*1 to create\n/);

  expect(await gateway.run('apply --yes --target one,two --no-origin', cwd)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/one {2}Applied: 1 created\n {2}two {2}Applied: nothing to do\n/),
  });
  expect(await gateway.run('drift --target two,one', cwd)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/No drift[\s\S]*No drift/),
    stderr: expect.stringMatching(/two {2}No drift\n {2}one {2}No drift\n/),
  });
});

test('validate of several targets prints each diagnostic once, and names its targets', async () => {
  const cwd = makeProject({
    'ostiary.yaml': config({ one: nowhere, two: nowhere, three: nowhere }).replace(/( {2}two: {[^}]*) }/, '$1, secret_prefixes: [TWO_] }'),
    'access/a.yaml': connection('a', { agent_id: '4d1d9b0a-1111-4222-8333-444455556666', secret: { 'envvar:PASS': { value: 'canary' } } }),
    'access/b.yaml': guardrail('b', ['x'], {}, { targets: ['three'] }),
  });
  const valid = await gateway.run('validate --target one,two', cwd);
  expect(valid).toMatchObject({ code: 0, stdout: 'Valid. 1 resource in 2 targets. 2 warnings, 1 notice.\n' });
  expect(valid.stderr.match(/^access.*$/gm)).toEqual([
    expect.stringMatching(/notice manifest\/deferred-reference .* \(one, two\)$/),
    expect.stringMatching(/^access\/a\.yaml:\d+:\d+ warning secret\/inline {2}.* its value \(one\)$/),
    expect.stringMatching(/^access\/a\.yaml:\d+:\d+ warning secret\/inline {2}.* its value \(two\)$/),
  ]);
  expect(valid.stderr).toContain('{ valueFrom: { env: TWO_… } }');
  expect((await gateway.run('validate --all-targets', cwd)).stdout).toBe((await gateway.run('validate', cwd)).stdout);

  writeFileSync(join(cwd, 'access/a.yaml'), connection('a', { reviewer: ['dba'] }));
  writeFileSync(join(cwd, 'access/b.yaml'), guardrail('b', ['x'], { connection_ids: ['none'] }, { targets: ['three'] }));
  const invalid = await gateway.run('validate --all-targets', cwd);
  expect(invalid).toMatchObject({ code: 3, stdout: '' });
  expect(invalid.stderr.match(/^access.*error.*$/gm)).toEqual([
    expect.stringContaining('unknown field "reviewer" in Connection (one, two, three)'),
  ]);
  const json = await gateway.run('validate --target one,two --format json', cwd);
  expectValid('diagnostics', json.stdout);
  expect(JSON.parse(json.stdout).diagnostics).toEqual([
    expect.objectContaining({ code: 'manifest/unknown-field', targets: ['one', 'two'] }),
  ]);
  const sarif: { readonly runs: readonly { readonly results: readonly unknown[] }[] } = JSON.parse(
    (await gateway.run('validate --all-targets --format sarif', cwd)).stdout,
  );
  expect(sarif.runs.map(({ results }) => results.length)).toEqual([1]);
});

type TargetEntry = { readonly target: { readonly name: string } };
type Failure = { readonly target: string; readonly exitCode: number; readonly diagnostics: readonly { readonly code: string }[] };
type FleetDocument = {
  readonly version: 1;
  readonly plans?: readonly TargetEntry[];
  readonly drifts?: readonly { readonly plan: TargetEntry }[];
  readonly targets?: readonly TargetEntry[];
  readonly failures?: readonly Failure[];
};

/** A valid document: which targets each of its lists has, and which failed with what. */
function readDocument(name: DocumentName, text: string): object {
  expectValid(name, text);
  const { version: _, failures, drifts, ...lists }: FleetDocument = JSON.parse(text);
  if (name !== 'plan') for (const plan of lists.plans ?? []) expectValid('plan', JSON.stringify({ version: 1, plans: [plan] }));
  if (name !== 'apply' && lists.targets !== undefined) expectValid('apply', JSON.stringify({ version: 1, targets: lists.targets }));
  const named = Object.entries(lists).map(([list, all]) => [list, all.map(({ target }) => target.name)]);
  const failed = failures?.map(({ target, exitCode, diagnostics }) => [target, exitCode, ...diagnostics.map(({ code }) => code)]);
  return {
    ...(drifts === undefined ? {} : { drifts: drifts.map(({ plan: { target } }) => target.name) }),
    ...Object.fromEntries(named),
    ...(failed === undefined ? {} : { failures: failed }),
  };
}

/** A good target and two that fail: one rejects the token, and the manifests of the other are invalid. */
function unevenProject(): string {
  const tokens = { good: 'OSTIARY_TOKEN', shut: 'WRONG_TOKEN', wrong: 'OSTIARY_TOKEN' };
  const targets = Object.entries(tokens).map(
    ([name, token]) => `  ${name}: { url: '${gateway.url()}', token: { env: ${token} }, manifests: [${name}/] }\n`,
  );
  return makeProject({
    'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n${targets.join('')}`,
    'access/a.yaml': connection('uneven'),
    'good/rule.yaml': guardrail('uneven-rule'),
    'shut/rule.yaml': guardrail('uneven-rule'),
    'wrong/b.yaml': connection('worse', { reviewer: ['dba'], secret: { 'envvar:KEY': { value: 'canary-key' } } }),
  });
}

const uneven = [
  ['shut', 4, 'api/unauthorized'],
  ['wrong', 3, 'manifest/unknown-field'],
];

test.each([
  ['plan', 'plan', 'plans'],
  ['drift --no-origin', 'drift', 'drifts'],
  ['apply --yes --no-origin', 'apply', 'targets'],
] as const)('%s: JSON of several targets names those that failed, and why', async (line, name, list) => {
  const cwd = unevenProject();
  const run = (words: string): ReturnType<typeof gateway.run> => gateway.run(`${line} ${words}`, cwd, { WRONG_TOKEN: 'canary-token' });
  const report = (target: string): string => join(cwd, `report-${target}.json`);
  writeFileSync(report('shut'), '{ "version": 1, "plans": [{ "target": { "name": "yesterday" } }] }');
  const ended = await run('--all-targets --format json --report json=report-{target}.json');
  expect(ended.code).toBe(3);
  expect(readDocument(name, ended.stdout)).toEqual({ [list]: ['good'], failures: uneven });
  expect(JSON.parse(ended.stdout)).toMatchObject({
    failures: [
      { diagnostics: [{ severity: 'error', message: expect.stringContaining(gateway.url()), hint: expect.any(String) }] },
      { diagnostics: [{ at: { file: 'wrong/b.yaml', line: expect.any(Number) }, hint: 'did you mean "reviewers"?' }] },
    ],
  });
  expect(ended.stdout).not.toMatch(/canary-(?:key|token)/);
  const alone = await run('--target good --format json');
  const reports = ['good', 'shut', 'wrong'].map((target) => readFileSync(report(target), 'utf8'));
  expect(reports.map((text) => readDocument(name, text))).toEqual([
    readDocument(name, alone.stdout),
    ...uneven.map((failure) => ({ [list]: [], failures: [failure] })),
  ]);

  const none = await run('--target wrong,shut --format json --quiet');
  expect(readDocument(name, none.stdout)).toEqual({ [list]: [], failures: uneven.toReversed() });
  expect(none.code).toBe(3);
  const text = await run('--target good,shut --report json=report-{target}.json');
  expect([text.code, readDocument(name, readFileSync(report('shut'), 'utf8'))]).toEqual([4, { [list]: [], failures: [uneven[0]] }]);
});

test('a refused plan of one target is in the merged document', async () => {
  const cwd = makeProject({
    'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }).replace(/( {2}two: {[^}]*) }/, '$1, overlays: [two/] }'),
    'access/a.yaml': connection('fleet-refused', { reviewers: ['dba'] }),
    'two/a.yaml': 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: fleet-refused }\nspec: { reviewers: [] }\n',
  });
  expect((await gateway.run('apply --yes --target one --no-origin', cwd)).code).toBe(0);
  const fleet = '--all-targets --format json --report json=report-{target}.json --no-origin';
  const refused = await gateway.run(`apply --yes --max-risk neutral ${fleet}`, cwd);
  const two = ['two', 6, 'risk/reviewer-removed'];
  expect(refused.code).toBe(6);
  expect(readDocument('apply', refused.stdout)).toEqual({ targets: ['one'], plans: ['two'], failures: [two] });
  const report = readFileSync(join(cwd, 'report-two.json'), 'utf8');
  expect(readDocument('apply', report)).toEqual({ targets: [], plans: ['two'], failures: [two] });
});

test('drift --revert merges the result of one target with the drift or the refused plan of another', async () => {
  const urls = config({ one: gateway.url(), two: gateway.url() });
  const repository = make({
    'ostiary.yaml': urls.replace(/( {2}two: {[^}]*) }/, '$1, token: { env: TOKEN_TWO } }'),
    'access/a.yaml': connection('fleet-undone'),
  });
  const key = gateway.env()['OSTIARY_TOKEN'] ?? '';
  const run = (line: string, two: string): ReturnType<typeof gateway.run> =>
    gateway.run(`${line} --yes`, repository.folder, { ...gitEnv, TOKEN_TWO: two });
  const loosen = async (): Promise<void> => {
    const { body } = await gateway.call('GET', '/connections/fleet-undone');
    await gateway.call('PUT', '/connections/fleet-undone', { body: { ...body, access_max_duration: 60 } });
  };
  expect((await run('apply --all-targets', key)).code).toBe(0);
  await loosen();
  const undone = await run('drift --revert --all-targets --format json', key);
  expect([undone.code, readDocument('drift', undone.stdout)]).toEqual([0, { drifts: ['two'], targets: ['one'] }]);
  await loosen();
  const auditor = await createKey(gateway.call, 'looks', ['auditor']);
  const denied = await run('drift --revert --target two,one --format json --report json=report-{target}.json', auditor);
  const failures = [['two', 4, 'api/read-only-role']];
  expect([denied.code, readDocument('drift', denied.stdout)]).toEqual([4, { drifts: [], plans: ['two'], targets: ['one'], failures }]);
  const report = readFileSync(join(repository.folder, 'report-two.json'), 'utf8');
  expect(readDocument('drift', report)).toEqual({ drifts: [], plans: ['two'], failures });
});

test('a report folder that cannot be written is one error per target and stops no target', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': connection('a') });
  const { code, stdout, stderr } = await gateway.run('plan --all-targets --format json --report json=none/{target}.json', cwd);
  expect([code, readDocument('plan', stdout)]).toEqual([
    3,
    {
      plans: [],
      failures: [
        ['one', 3, 'cli/usage'],
        ['two', 3, 'cli/usage'],
      ],
    },
  ]);
  expect(stderr.match(/cannot be written/g)).toHaveLength(2);
});

test.each([
  ['plan --all-targets --target one', '--all-targets and --target cannot be combined'],
  ['plan --target one,one', 'duplicate target "one"'],
  ['plan --target one,', 'invalid value "one," for --target'],
  ['plan --all-targets --report json=plan.json', 'several targets would write the same file "plan.json"'],
  ['plan --all-targets --url http://127.0.0.1:9', '--url can be used with only one target'],
  ['apply --yes --all-targets --plan plan.json', '--plan and --digest can be used with only one target'],
  ['plan --target one,tow', 'unknown target "tow"'],
])('%s: %s', async (line, message) => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': connection('a') });
  expect(await gateway.run(line, cwd)).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
});
