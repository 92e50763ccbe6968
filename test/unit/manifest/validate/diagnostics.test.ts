import { describe, expect, test } from 'vitest';
import { connection, guardrail, load, manifest, toLines } from '../manifest-fixtures.ts';

type ErrorCase = readonly [name: string, text: string, expected: string, ...message: readonly string[]];

/** Each invalid file gives exactly one diagnostic, at its position. */
const errors: readonly ErrorCase[] = [
  // documents
  ['broken YAML', 'apiVersion: ostiary/v1\nkind: [Connection\n', '3:1 error manifest/yaml'],
  ['a duplicate key', 'kind: Connection\nkind: Connection\n', '2:1 error manifest/duplicate-key'],
  ['a key that is no text', 'apiVersion: ostiary/v1\n5: x\n', '2:1 error manifest/non-string-key'],
  ['__proto__', 'apiVersion: ostiary/v1\n__proto__: x\n', '2:1 error manifest/unsafe-key'],
  ['no apiVersion', 'kind: Connection\nmetadata: { name: a }\nspec: {}\n', '1:1 error manifest/missing-field'],
  ['a later version', 'apiVersion: ostiary/v2\nkind: Connection\n', '1:13 error manifest/unsupported-version'],
  ['a misspelled version', 'apiVersion: ostairy/v1\nkind: Connection\n', '1:13 error manifest/unsupported-version'],
  ['no kind', 'apiVersion: ostiary/v1\nmetadata: {}\n', '1:1 error manifest/missing-field'],
  ['an unknown kind', 'apiVersion: ostiary/v1\nkind: Conection\n', '2:7 error manifest/unknown-kind'],
  ['a kind that is no text', 'apiVersion: ostiary/v1\nkind: 5\n', '2:7 error manifest/unknown-kind'],
  ['the config file elsewhere', 'apiVersion: ostiary/v1\nkind: Config\ntargets: {}\n', '2:7 error manifest/misplaced-config'],
  // fields
  ['an unknown field', connection('a', 'reviewrs: [x]'), '11:3 error manifest/unknown-field'],
  ['an unknown field of metadata', guardrail('a\n  nam: b'), '5:3 error manifest/unknown-field'],
  ['a field a level too high', `${guardrail('a')}description: x\n`, '6:1 error manifest/unknown-field'],
  ['a field of a nested map', guardrail('a', 'input: { rules: [], x: 1 }'), '6:23 error manifest/unknown-field'],
  ['a missing field', connection('a').replace('  type: database\n', ''), '5:1 error manifest/missing-field'],
  ['no spec', 'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\n', '1:1 error manifest/missing-field'],
  ['an empty spec', 'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec:\n', '4:1 error manifest/wrong-type'],
  ['a text for a list', connection('a', 'reviewers: dba'), '11:14 error manifest/wrong-type'],
  ['a number for a text', connection('a', 'connection_tags: { env: 5 }'), '11:27 error manifest/wrong-type'],
  ['a text for a number', connection('a', 'access_max_duration: "60"'), '11:24 error manifest/wrong-type'],
  ['a fraction for a whole number', connection('a', 'access_max_duration: 1.5'), '11:24 error manifest/wrong-type'],
  ['null for a required field', connection('a').replace('prod-agent', 'null'), '7:13 error manifest/wrong-type'],
  ['a word outside an enum', connection('a').replace('exec: enabled', 'exec: enable'), '9:21 error manifest/not-allowed-value'],
  ['a boolean for an enum', connection('a').replace('exec: enabled', 'exec: true'), '9:21 error manifest/not-allowed-value'],
  ['a read-only field', connection('a', 'id: x'), '11:3 error manifest/read-only-field'],
  ['a name inside spec', guardrail('a', 'name: b'), '6:3 error manifest/read-only-field'],
  ['a name with a slash', connection('a/b'), '4:9 error manifest/pattern'],
  ['a name with a bidi override', guardrail('"a\\u202eb"'), '4:9 error manifest/pattern'],
  ['an empty name', guardrail('""'), '4:9 error manifest/too-short'],
  ['a name that is too long', guardrail('x'.repeat(129)), '4:9 error manifest/too-long'],
  ['a number that is too low', connection('a', 'access_max_duration: 0'), '11:24 error manifest/out-of-range'],
  ['a number that is too high', manifest('DataMaskingRule', 'a', 'score_threshold: 1.1'), '6:20 error manifest/out-of-range'],
  ['a tag key', connection('a', 'connection_tags: { env-: x }'), '11:22 error manifest/pattern'],
  ['an entry twice', connection('a', 'reviewers: [x, y, x]'), '11:21 error manifest/duplicate-entry'],
  [
    'a keyed entry twice',
    rules('{ name: n, type: deny_words_list, words: [a] }', '{ name: n, type: deny_words_list, words: [b] }'),
    '9:17 error manifest/duplicate-entry',
  ],
  ['words that are missing', rules('{ type: deny_words_list }'), '8:9 error manifest/missing-field'],
  [
    'a pattern in a list of words',
    rules('{ type: deny_words_list, words: [a], pattern_regex: b }'),
    '8:61 error manifest/not-allowed-value',
  ],
  ['an empty custom entity', manifest('DataMaskingRule', 'a', 'custom_entity_types: [{ name: X }]'), '6:25 error manifest/missing-field'],
  [
    'credentials in git_url',
    manifest('RunbookConfiguration', 'a', 'git_url: https://me:hunter2@example.com/x'),
    '6:12 error secret/in-url',
  ],
  [
    'redact_enabled against redact_types',
    connection('a', 'redact_types: [X]', 'redact_enabled: false'),
    '12:19 error manifest/redact-contradiction',
  ],
  // metadata
  ['ignore of no field', meta('ignore: [/comand]'), '5:12 error manifest/bad-ignore'],
  ['ignore of no pointer', meta('ignore: [command]'), '5:12 error manifest/pattern'],
  ['ignore of a read-only field', meta('ignore: [/status]'), '5:12 error manifest/bad-ignore'],
  ['ignore below a scalar', meta('ignore: [/type/x]'), '5:12 error manifest/bad-ignore'],
  ['ignore of a position in a list', meta('ignore: [/command/0]'), '5:12 error manifest/bad-ignore'],
  ['ignore of a position in a set', meta('ignore: [/reviewers/0]'), '5:12 error manifest/bad-ignore'],
  ['ignore of the end of a set', meta('ignore: [/attributes/-]'), '5:12 error manifest/bad-ignore'],
  ['ignore of a position in attachments', meta('ignore: [/guardrail_rules/1]'), '5:12 error manifest/bad-ignore'],
  [
    'ignore of a position in a list of entries',
    ignoring('GuardrailRule', '/input/rules/0', 'input: { rules: [{ name: ddl, type: deny_words_list, words: [a] }] }'),
    '5:12 error manifest/bad-ignore',
  ],
  [
    'ignore of a position in the words of an entry',
    ignoring('GuardrailRule', '/input/rules/ddl/words/0', 'input: { rules: [{ name: ddl, type: deny_words_list, words: [a] }] }'),
    '5:12 error manifest/bad-ignore',
  ],
  [
    'ignore of a field at a position',
    ignoring('DataMaskingRule', '/custom_entity_types/1/score', 'score_threshold: 0.5'),
    '5:12 error manifest/bad-ignore',
  ],
  ['an unknown target', meta('targets: [prod, stagin]'), '5:19 error manifest/unknown-target'],
  // secrets
  ['a secret that is no base64', secret('envvar:A: localhost'), '12:15 error secret/not-base64'],
  ['a reference of another gateway', secret('envvar:A: _cloudsecret:a:b'), '12:15 error secret/not-base64'],
  ['half a reference', secret('envvar:A: "_cloudsecrets:a"'), '12:15 error secret/bad-reference'],
  ['a reference under filesystem:', secret('filesystem:A: _cloudsecrets:a:b'), '12:19 error secret/reference-place'],
  ['a reference as a value', secret('envvar:A: { value: "_envjson:a:b" }'), '12:15 error secret/reference-as-value'],
  ['a variable without the prefix', secret('envvar:A: { valueFrom: { env: HOME } }'), '12:35 error secret/env-prefix'],
  ['a file outside', secret('envvar:A: { valueFrom: { file: ../x } }'), '12:36 error secret/file-outside'],
  ['a file of a dot-folder', secret('envvar:A: { valueFrom: { file: .git/x } }'), '12:36 error secret/file-hidden'],
  ['a secret with two sources', secret('envvar:A: { value: x, keep: true }'), '12:15 error secret/form'],
  ['a secret that is a number', secret('envvar:A: 5'), '12:15 error secret/form'],
  ['a secret that is null', secret('envvar:A:'), '12:5 error secret/form'],
  ['a secret value that is a number', secret('envvar:A: { value: 5432 }'), '12:15 error secret/form'],
  ['keep: false', secret('envvar:A: { keep: false }'), '12:15 error secret/form'],
  ['a source without its level', secret('envvar:A: { env: OSTIARY_SECRET_A }'), '12:15 error secret/form'],
  ['a secret key', secret('PASS: { keep: true }'), '12:5 error manifest/pattern'],
  ['secrets that are a text', connection('a', 'secret: hunter2'), '11:11 error manifest/wrong-type'],
  [
    'a plain secret as a bare text',
    manifest('RunbookConfiguration', 'a', 'git_url: https://h/x', 'git_password: hunter2'),
    '7:17 error secret/form',
  ],
];

describe('an error', () => {
  test.each([
    ['a list', '- a\n', 'the document is a list, not a map'],
    ['a string', 'hello\n', 'the document is a string, not a map'],
  ])('%s is reported without a code frame', (_, text, message) => {
    const { diagnostics } = load(text);
    expect(diagnostics).toMatchObject([{ code: 'manifest/not-a-map', message, at: { line: 1, column: 1 } }]);
    expect(diagnostics[0]?.frame).toBeUndefined();
  });

  test.each(errors)('%s', (_, text, expected) => {
    const { value, diagnostics } = load(text);
    expect(toLines(diagnostics)).toEqual([`a.yaml:${expected}`]);
    expect(value).toBeUndefined();
    const [diagnostic] = diagnostics;
    expect(diagnostic?.frame?.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
  });

  test('keeps its pointer, that of a missing field too', () => {
    const text = connection('a', 'reviewers: [a, a]', 'bogus: 1').replace('  agent_id: prod-agent\n', '');
    expect(load(text).diagnostics.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['manifest/missing-field', '/spec/agent_id'],
      ['manifest/duplicate-entry', '/spec/reviewers/1'],
      ['manifest/unknown-field', '/spec/bogus'],
    ]);
  });

  test('is reported together with all others, in order', () => {
    const files = { 'b.yaml': connection('b', 'x: 1', 'reviewers: y'), 'a.yaml': `${connection('a').replace('database', '5')}---\n- 1\n` };
    expect(toLines(load(files).diagnostics)).toEqual([
      'a.yaml:6:9 error manifest/wrong-type',
      'a.yaml:13:1 error manifest/not-a-map',
      'b.yaml:11:3 error manifest/unknown-field',
      'b.yaml:12:14 error manifest/wrong-type',
    ]);
  });
});

test('an error in one field does not hide an error in another', () => {
  const text = connection(
    'a\n  targets: [x]',
    'bogus: 1',
    'subtype: postgress',
    'secret:',
    '  envvar:A: localhost',
    '  envvar:B: 5',
  ).replace('  agent_id: prod-agent\n', '');
  expect(toLines(load(text).diagnostics)).toEqual([
    'a.yaml:5:13 error manifest/unknown-target',
    'a.yaml:6:1 error manifest/missing-field',
    'a.yaml:11:3 error manifest/unknown-field',
    'a.yaml:12:12 warning manifest/unfamiliar-value',
    'a.yaml:14:15 error secret/not-base64',
    'a.yaml:15:15 error secret/form',
  ]);
});

describe('a warning', () => {
  const warnings: readonly ErrorCase[] = [
    [
      'an unfamiliar type',
      connection('a').replace('database', 'databse'),
      '6:9 warning manifest/unfamiliar-value',
      'did you mean "database"?',
    ],
    ['an unfamiliar subtype', connection('a', 'subtype: postgress'), '11:12 warning manifest/unfamiliar-value', 'did you mean "postgres"?'],
    ['an unfamiliar rule type', rules('{ type: something_else }'), '8:17 warning manifest/unfamiliar-value', 'add it to allow_values'],
    ['an inline credential', secret('envvar:DB_PASS: { value: x }'), '12:21 warning secret/inline'],
    ['an inline credential in base64', secret('envvar:API_KEY: aHVudGVyMg=='), '12:21 warning secret/inline'],
    ['a text that is base64 by accident', secret('envvar:HOST: password'), '12:18 warning secret/looks-plain'],
    ['an address with a password', secret('envvar:URL: { value: "postgres://u:p@h" }'), '12:17 warning secret/inline'],
  ];
  test.each(warnings)('%s', (_, text, expected, ...words) => {
    const { value, diagnostics } = load(text);
    expect(toLines(diagnostics)).toEqual([`a.yaml:${expected}`]);
    expect(value?.notices).toEqual(diagnostics);
    for (const word of words) expect(`${diagnostics[0]?.message}\n${diagnostics[0]?.hint}`).toContain(word);
  });
});

function rules(...entries: readonly string[]): string {
  return guardrail('a', 'input:', '  rules:', ...entries.map((entry) => `    - ${entry}`));
}

function meta(line: string): string {
  return connection(`a\n  ${line}`);
}

function ignoring(kind: string, path: string, line: string): string {
  return manifest(kind, `a\n  ignore: [${path}]`, line);
}

function secret(line: string): string {
  return connection('a', 'secret:', `  ${line}`);
}
