import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectValid, type DocumentName } from '../../support/documents.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();

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

test.each([
  ['plan --target one,one', 'duplicate target "one"'],
  ['plan --all-targets --report json=plan.json', 'several targets would use the same file "plan.json"'],
  ['plan --all-targets --snapshot all.bin', 'several targets would use the same file "all.bin"'],
  ['plan --all-targets --url http://127.0.0.1:9', '--url can be used with only one target'],
  ['apply --yes --all-targets --plan plan.json', '--plan and --digest can be used with only one target'],
])('%s: %s', async (line, message) => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': connection('a') });
  expect(await gateway.run(line, cwd)).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
});
