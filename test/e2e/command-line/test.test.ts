import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { config, manifest, useProjects, type Files } from '../project.ts';

const makeProject = useProjects();

const words = { input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['xp_cmdshell'] }] } };
const staff = {
  score_threshold: 0.5,
  supported_entity_types: [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }],
  custom_entity_types: [{ name: 'EMP_ID', score: 0.8, regex: 'EMP-[0-9]{6}' }],
};

/** A rule's manifest with samples. */
function rule(kind: string, name: string, spec: JsonObject, tests: readonly JsonObject[]): string {
  return JSON.stringify({ ...JSON.parse(manifest(kind, name, spec)), tests }, null, 2);
}

function project(tests: readonly JsonObject[], more: Files = {}): string {
  return makeProject({
    'ostiary.yaml': config('http://127.0.0.1:9'),
    'access/words.yaml': rule('GuardrailRule', 'words', words, tests),
    'access/untested.yaml': manifest('GuardrailRule', 'untested', words),
    ...more,
  });
}

const passing = [
  { input: 'exec xp_cmdshell', expect: 'blocked', by: 'words' },
  { name: 'reads', input: 'SELECT 1', expect: 'allowed' },
];
const failing = { input: 'exec xp_CMDSHELL', expect: 'blocked' };
const hostile = { name: `<x> & "y" 'z' \u0007 \uFFFE ]]> \u202e`, input: `-- <script>&\u0000\u001b[31m ]]>`, expect: 'blocked' };

describe('ostiary test', () => {
  test('passes without a gateway and a token, and lists rules without samples', async () => {
    const { code, stdout, stderr } = await runInFolder(project(passing), ['test']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('  pass  input "exec xp_cmdshell"  blocked by words (the word "xp_cmdshell")\n');
    expect(stdout).toContain('No sample:\n  GuardrailRule/untested\n');
    expect(stdout).toMatch(/2 samples: 2 passed, 0 failed\. 1 of 2 rules without a sample\.\n\n/);
  });

  test('a failing sample is reported with its position, and the exit code is 3', async () => {
    const { code, stdout } = await runInFolder(project([...passing, failing]), ['test']);
    expect(code).toBe(3);
    expect(stdout).toContain('  FAIL  input "exec xp_CMDSHELL"\n      access/words.yaml:31:5\n      expected blocked, found allowed\n');
  });

  test('registered types are never passed', async () => {
    const samples = [{ text: 'EMP-123456 ada@example.com', finds: ['EMP_ID', 'EMAIL_ADDRESS'] }];
    const folder = project(passing, { 'access/staff.yaml': rule('DataMaskingRule', 'staff', staff, samples) });
    const { code, stdout } = await runInFolder(folder, ['test', '--only', 'DataMaskingRule/staff']);
    expect(code).toBe(0);
    expect(stdout).toContain('not simulated');
    expect(stdout).toContain('1 sample: 0 passed, 0 failed, 1 not simulated.');
    expect(stdout).not.toContain('GuardrailRule/words');
  });

  test('paths select rules; without samples the command passes', async () => {
    const { code, stdout } = await runInFolder(project([failing]), ['test', 'access/untested.yaml']);
    expect({ code, first: stdout.split('\n')[0] }).toEqual({ code: 0, first: 'No samples. 1 rule, none with a sample.' });
  });

  test('the JSON matches its schema', async () => {
    const { code, stdout } = await runInFolder(project([...passing, failing, hostile]), ['test', '--format', 'json']);
    const document = JSON.parse(stdout);
    const schema = JSON.parse(readFileSync('schemas/documents/test.schema.json', 'utf8'));
    const ajv = new Ajv2020({ strict: false });
    expect({ valid: ajv.validate(schema, document), errors: ajv.errors }).toEqual({ valid: true, errors: null });
    expect(code).toBe(3);
    expect(document.counts).toEqual({ passed: 2, failed: 2, notSimulated: 0, rules: 2, untested: 1 });
    expect(document.targets[0].rules[1].samples[3]).toMatchObject({ text: hostile.input, outcome: 'failed' });
  });

  test('the JUnit XML is well-formed, whatever is in it, and holds every sample', async () => {
    const folder = project([...passing, failing, hostile]);
    const { code, stdout } = await runInFolder(folder, [
      'test',
      '--format',
      'junit',
      '--report',
      'junit=results.xml',
      '--report',
      'json=results.json',
    ]);
    expect(code).toBe(3);
    expect(readFileSync(join(folder, 'results.xml'), 'utf8')).toBe(stdout);
    expect(JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')).version).toBe(1);
    expect(elementsOf(stdout)).toMatchObject({ testsuites: 1, testsuite: 2, testcase: 5, failure: 2, skipped: 1 });
    expect(stdout).toContain('<testsuites name="ostiary" tests="5" failures="2" errors="0" skipped="1"');
    expect(stdout).toContain('file="access/words.yaml" line="31"');
  });

  test('overlays of the target count, and may replace the samples', async () => {
    const text = config({ production: 'http://127.0.0.1:9', staging: 'http://127.0.0.1:9' }).replace(
      "staging: { url: 'http://127.0.0.1:9' }",
      "staging: { url: 'http://127.0.0.1:9', overlays: [overlays] }",
    );
    const loose = { input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['shutdown'] }] } };
    const files = { 'ostiary.yaml': text, 'overlays/words.yaml': manifest('GuardrailRule', 'words', loose) };
    expect(await runInFolder(project(passing, files), ['test', '--target', 'production', '--quiet'])).toMatchObject({ code: 0 });
    expect(await runInFolder(project(passing, files), ['test', '--target', 'staging', '--quiet'])).toMatchObject({ code: 3 });
    const both = await runInFolder(project(passing, files), ['test', '--quiet']);
    expect(both.code).toBe(3);
    expect(both.stdout).toContain('4 samples: 3 passed, 1 failed.');
    const replaced = { ...files, 'overlays/words.yaml': rule('GuardrailRule', 'words', loose, [{ input: 'shutdown', expect: 'blocked' }]) };
    expect(await runInFolder(project(passing, replaced), ['test', '--quiet'])).toMatchObject({ code: 0 });
    const none = { ...files, 'overlays/words.yaml': rule('GuardrailRule', 'words', loose, []) };
    expect(await runInFolder(project(passing, none), ['test', '--target', 'staging', '--quiet'])).toMatchObject({ code: 0 });
  });

  test.each<readonly [string, JsonObject, string]>([
    ['both sides', { input: 'a', output: 'b', expect: 'blocked' }, 'give either input or output'],
    ['neither side', { expect: 'blocked' }, 'give input, what a user sends, or output'],
    ['by with allowed', { input: 'a', expect: 'allowed', by: 'words' }, 'only with expect: blocked'],
    ['another word', { input: 'a', expect: 'denied' }, 'expected one of: blocked, allowed'],
    ['no expectation', { input: 'a' }, 'expected one of: blocked, allowed'],
    ['a field of the other kind', { input: 'a', expect: 'blocked', finds: [] }, 'unknown field "finds" in tests[0]'],
  ])('a sample with %s is refused at its place', async (_, sample, hint) => {
    for (const command of ['test', 'validate']) {
      const { code, stderr } = await runInFolder(project([sample]), [command]);
      expect(code).toBe(3);
      expect(stderr).toMatch(/access\/words\.yaml:\d+:\d+ error manifest\//);
      expect(stderr).toContain(hint);
    }
  });
});

describe('ostiary validate', () => {
  test('reports failing samples at their lines, only for selected rules', async () => {
    const folder = project([...passing, failing]);
    const { code, stderr } = await runInFolder(folder, ['validate']);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'access/words.yaml:31:5 error rule/sample-failed  the input "exec xp_CMDSHELL" should be blocked; it is allowed',
    );
    expect(await runInFolder(folder, ['validate', 'access/untested.yaml', '--quiet'])).toMatchObject({ code: 0 });
    expect(await runInFolder(project(passing), ['validate'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('reports rules that cannot work together with other errors', async () => {
    const broken = { input: { rules: [{ type: 'pattern_match', pattern_regex: 'a(?=b)' }] } };
    const folder = project([], {
      'access/broken.yaml': manifest('GuardrailRule', 'broken', broken),
      'access/other.yaml': manifest('GuardrailRule', 'other', { inptu: {} }),
    });
    const { code, stdout } = await runInFolder(folder, ['validate', '--format', 'json']);
    expect(code).toBe(3);
    const codes = JSON.parse(stdout).diagnostics.map((one: { readonly code: string }) => one.code);
    expect(codes).toEqual(['rule/pattern-refused', 'manifest/unknown-field']);
  });
});

/** Counts the elements of an XML text; throws where tags, attributes or characters are not well-formed. */
function elementsOf(xml: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const open: string[] = [];
  const closed: (readonly [string | undefined, string])[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  // What XML 1.0 allows, and entities instead of its own signs.
  expect(body).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
  const rest = body.replaceAll(
    /<(\/?)(\w+)((?: \w+="[^"<&]*(?:&(?:amp|lt|gt|quot|apos);[^"<&]*)*")*)(\/?)>/g,
    (_, close, name, _attributes, empty) => {
      if (close === '') counts[name] = (counts[name] ?? 0) + 1;
      if (close === '/') closed.push([open.pop(), name]);
      else if (empty === '') open.push(name);
      return '';
    },
  );
  expect(open).toEqual([]);
  expect(closed.filter(([opened, name]) => opened !== name)).toEqual([]);
  expect(rest.replaceAll(/&(?:amp|lt|gt|quot|apos);/g, '')).not.toMatch(/[<>&]/);
  return counts;
}
