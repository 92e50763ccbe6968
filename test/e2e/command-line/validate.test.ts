import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, guardrail, useProjects, type Files } from '../project.ts';

const makeProject = useProjects();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };
let server: FlakyServer;
beforeAll(async () => {
  server = await startFlakyServer(json(200, []));
});
afterAll(() => server.close());
const writes = (): FlakyServer['seen'] => server.seen.filter(({ method }) => method !== 'GET');

const head = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: orders }\n';
const modes = 'access_mode_connect: enabled, access_mode_exec: enabled, access_mode_runbooks: enabled, access_schema: enabled';
const spec = `type: database, agent_id: default, ${modes}`;

type Case = readonly [what: string, files: Files, at: string, code: string];

// Each code has a test of its own in unit/manifest or unit/disk.
const cases: readonly Case[] = [
  ['an unknown field', { 'a.yaml': `${head}spec: { ${spec},\n  reviewer: [dba] }\n` }, 'a.yaml:5:3', 'manifest/unknown-field'],
  ['a line break in a file name', { 'a\nb.yaml': guardrail('no-drop') }, 'a\ufffdb.yaml:1:1', 'manifest/bad-file-name'],
];

type Found = { readonly head: string; readonly text: string };

/** Runs apply over manifests that are wrong: it ends with one diagnostic. */
async function applied(files: Files): Promise<Found> {
  const below = Object.fromEntries(Object.entries(files).map(([path, text]) => [`access/${path}`, text]));
  const cwd = makeProject({ 'ostiary.yaml': config(server.url), 'access/.keep': '', ...below });
  const { code, stdout, stderr } = await ostiaryInProcess(['apply', '--yes'], { cwd, env });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/\n1 error\n$/);
  expect(stderr).not.toMatch(/^ +at /m);
  return { head: stderr.slice(0, stderr.indexOf('  ')), text: stderr };
}

test.each(cases)('%s: one diagnostic at its position, and no write', async (_what, files, at, code) => {
  expect((await applied(files)).head).toBe(`access/${at} error ${code}`);
  expect(writes()).toEqual([]);
});

const hunk = (ours: string, theirs: string): string => `<<<<<<< HEAD\n${ours}=======\n${theirs}>>>>>>> topic\n`;
const conflicts: readonly (readonly [where: string, text: string, line: number])[] = [
  ['a map', `${head}spec:\n  ${spec.split(', ').join('\n  ')}\n${hunk('  reviewers: [dba]\n', '  reviewers: [sre]\n')}`, 11],
  ['JSON', connection('orders').replace('    "type"', `${hunk('    "reviewers": ["dba"],\n', '')}    "type"`), 8],
  ['a secret', `${head}spec:\n  secret:\n${hunk('    envvar:A: canary\n', '    envvar:A: { value: canary }\n')}`, 6],
];

test.each(conflicts)('a merge conflict in %s: one diagnostic at its first marker', async (_where, text, line) => {
  const found = await applied({ 'a.yaml': text, 'b.yaml': guardrail('other', ['x'], { connection_ids: ['orders'] }) });
  expect(found.head).toBe(`access/a.yaml:${line}:1 error manifest/merge-conflict`);
  expect(found.text).toContain(`error manifest/merge-conflict  unresolved merge conflict\n`);
  expect(found.text).not.toContain('canary');
});

/** Matches the output of a run that found a single conflict. */
const oneConflict = (at: string): unknown =>
  expect.stringMatching(new RegExp(`^${at}:1 error manifest/merge-conflict  .*\n(?:.*\n)*1 error\n$`));

test('a merge conflict in the config, an overlay or a policy is one diagnostic, too; indented markers are text', async () => {
  const policy = 'apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: p }\nspec:\n';
  const files = {
    'ostiary.yaml': config(server.url).replace(' }', ', overlays: [over/] }'),
    'access/a.yaml': connection('orders'),
  };
  const over = connection('orders', { reviewers: ['dba'] });
  const validated = async (more: Files): Promise<string> => {
    const cwd = makeProject({ ...files, 'over/a.yaml': over, ...more });
    return (await ostiaryInProcess(['validate'], { cwd, env })).stderr;
  };
  expect(await validated({ 'ostiary.yaml': `${files['ostiary.yaml']}${hunk('  b: { url: x }\n', '')}` })).toEqual(
    oneConflict('ostiary\\.yaml:7'),
  );
  expect(await validated({ 'over/a.yaml': hunk(over, '') })).toEqual(oneConflict('over/a\\.yaml:1'));
  expect(await validated({ 'access/p.yaml': `${policy}${hunk('  match: {}\n', '')}` })).toEqual(oneConflict('access/p\\.yaml:5'));
  const quoted = `# <<<<<<<\n${head}spec:\n  ${spec.split(', ').join('\n  ')}\n  command:\n  - |\n    ${hunk('a\n', 'b\n').split('\n').join('\n    ')}\n`;
  expect(await validated({ 'access/a.yaml': quoted })).not.toContain('error');
});

function ruleWith(word: string): string {
  return `apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: words }\nspec:\n  input:\n    rules:\n      - name: ddl\n        type: deny_words_list\n        words:\n${word}`;
}

function validateRule(word: string, ...flags: readonly string[]): ReturnType<typeof ostiaryInProcess> {
  const files = { 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/rule.yaml': ruleWith(word) };
  return ostiaryInProcess(['validate', ...flags], { cwd: makeProject(files) });
}

describe('a comment that acknowledges a finding', () => {
  test('accepts it with the code and a reason, on its line or the line above; --verbose lists it', async () => {
    expect((await validateRule('          - DROP TABLE\n')).stderr).toContain('access/rule.yaml:10:13 warning rule/case-variant  ');
    for (const word of [
      '          - DROP TABLE # ostiary:ok rule/case-variant the client sends upper case\n',
      '          # ostiary:ok rule/case-variant the client sends upper case\n          - DROP TABLE\n',
    ]) {
      expect(await validateRule(word)).toMatchObject({ code: 0, stderr: '', stdout: 'Valid. 1 resource.\n' });
      const { stderr } = await validateRule(word, '--verbose');
      expect(stderr).toMatch(
        /^access\/rule\.yaml:1[01]:13 acknowledged rule\/case-variant {2}.*\n {2}because: the client sends upper case\n$/,
      );
    }
  });

  test('never accepts an error', async () => {
    const text = ruleWith('          - x\n').replace(
      /type: deny[\s\S]*/,
      "type: pattern_match\n        pattern_regex: '(?=x)' # ostiary:ok rule/pattern-refused we know\n",
    );
    const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/rule.yaml': text });
    expect(await ostiaryInProcess(['validate'], { cwd })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('error rule/pattern-refused'),
    });
  });
});
