import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { config, manifest, useProjects, type Files } from '../project.ts';

const makeProject = useProjects();

const words = { input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['xp_cmdshell'] }] } };

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
});
