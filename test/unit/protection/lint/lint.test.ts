import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { codesIn, guardrailSpec, inspectText, ruleText } from '../rule-fixtures.ts';

function entry(name: string): JsonObject {
  return { name, type: 'deny_words_list', words: ['xp_cmdshell'] };
}

function custom(...types: readonly JsonObject[]): JsonObject {
  return { custom_entity_types: types, score_threshold: 0.5 };
}

describe('guardrails', () => {
  test.each<readonly [string, JsonObject, readonly string[]]>([
    ['a pattern that RE2 refuses', guardrailSpec([], ['a(?=b)']), ['rule/pattern-refused']],
    [
      'a pattern that is too large',
      guardrailSpec([], ['(?:ab{500}){2}(?:cd{900}){1}(?:e{900})(?:f{900})(?:g{900})(?:h{900})(?:i{900})']),
      ['rule/pattern-too-large'],
    ],
    ['the empty text', guardrailSpec([], ['x*']), ['rule/matches-empty']],
    ['an empty line', guardrailSpec([], ['^$']), ['rule/matches-empty']],
    ['everything but nothing', guardrailSpec([], ['.']), ['rule/matches-harmless']],
    ['a harmless statement', guardrailSpec([], ['(?i)select']), ['rule/matches-harmless']],
    ['a harmless word', guardrailSpec(['LIMIT', 'limit']), ['rule/matches-harmless']],
    ['a harmless output', guardrailSpec([], ['[0-9]'], 'output'), ['rule/matches-harmless']],
    ['a word in another', guardrailSpec(['xp_cmdshell', 'xp_']), ['rule/word-shadowed']],
    ['a missing small spelling', guardrailSpec(['DROP TABLE']), ['rule/case-variant']],
    ['a missing spelling in capitals', guardrailSpec(['drop table']), ['rule/case-variant']],
    ['mixed letters', guardrailSpec(['Drop Table', 'DROP TABLE']), ['rule/case-variant', 'rule/case-variant']],
    ['a pattern that explodes', guardrailSpec([], ['(x+x+)+y']), ['rule/pattern-backtracks']],
    ['repeats that take the same text', guardrailSpec([], ['x.*a.*b.*c']), []],
    ['a pattern that is too long to judge', guardrailSpec([], ['xa{100}b{100}c']), []],
    ['a class of letters beside one of them', guardrailSpec([], ['(\\pL|é)+x$']), ['rule/pattern-backtracks']],
    ['two groups with one name', guardrailSpec([], ['(?P<a>xy)z|(?P<a>zz)y']), []],
    ['a repeat before something', guardrailSpec([], ['xa.*x']), []],
    ['a pattern twice', guardrailSpec([], ['DROP', 'DROP']), ['rule/duplicate']],
    ['both spellings', guardrailSpec(['DROP TABLE', 'drop table']), []],
    ['a pattern beside that blocks the other spelling', guardrailSpec(['DROP TABLE'], ['(?i)drop\\s+table']), []],
    ['commands of a shell', guardrailSpec(['mkfifo', 'nc -e', '/dev/tcp/']), []],
    ['words in output', guardrailSpec(['PRIVATE KEY'], [], 'output'), []],
    ['repeats one after another', guardrailSpec([], ['xa+b+']), []],
    ['an unknown type', { input: { rules: [{ type: 'mine', words: ['SELECT'] }] } }, ['manifest/unfamiliar-value']],
  ])('%s', (_, spec, codes) => {
    expect(codesIn('GuardrailRule', spec)).toEqual(codes);
  });

  test('a duplicate word is reported within one side, not across sides', () => {
    expect(codesIn('GuardrailRule', { input: { rules: [entry('a'), entry('b')] } })).toEqual(['rule/duplicate']);
    expect(codesIn('GuardrailRule', { input: { rules: [entry('a')] }, output: { rules: [entry('a')] } })).toEqual([]);
  });

  test('a pattern that RE2 rejects is an error; everything else is a warning', () => {
    const found = inspectText(ruleText('GuardrailRule', guardrailSpec(['DROP', 'DROP TABLE'], ['x*', '(', '(a+)+b'])));
    const severe = found.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    expect(severe).toEqual(['rule/pattern-refused']);
  });
});

test.each<readonly [string, RegExp]>([
  ['(a{500}){3}', /at most 1000 times/],
  ['a{2,1}', /the lower count is first/],
  ['a++b', /in \(\?:…\)/],
  ['[[:foo:]]', /\[:alpha:\]/],
  ['[z-a]', /the lower character of a range first/],
  ['a\\h', /the code of one as \\x41/],
  ['a\\', /write \\\\/],
  ['(a', /write \\ before the character/],
])('the pattern %s: what to write instead', (pattern, hint) => {
  const [found] = inspectText(ruleText('GuardrailRule', guardrailSpec([], [pattern])));
  expect(found).toMatchObject({ code: 'rule/pattern-refused', hint: expect.stringMatching(hint) });
});

describe('positions', () => {
  const head =
    'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec:\n  input:\n    rules:\n      - type: pattern_match\n';

  test.each<readonly [string, string, number]>([
    ['plain', '        pattern_regex: abc(?=d)', 27],
    ['single quotes', "        pattern_regex: 'abc(?=d)'", 28],
    ['double quotes', '        pattern_regex: "abc(?=d)"', 28],
    ['escapes before', '        pattern_regex: "\\\\w(?=d)"', 24],
    ['a block', '        pattern_regex: |-\n          abc(?=d)', 24],
  ])('%s: the character in the pattern, if the text is not escaped', (_, line, column) => {
    const [found] = inspectText(`${head}${line}\n`);
    expect(found).toMatchObject({ code: 'rule/pattern-refused', at: { file: 'rule.yaml', line: 8, column } });
    expect(found?.message).toContain('invalid or unsupported Perl syntax, at character ');
  });
});

describe('masking', () => {
  const registered = [{ name: 'G', entity_types: ['PERSON'] }];

  test.each<readonly [string, JsonObject, readonly string[]]>([
    ['a score below the threshold, and nothing else', custom({ name: 'A', score: 0.4, regex: 'AA' }), ['error rule/score-below-threshold']],
    ['no score, and nothing else', custom({ name: 'A', regex: 'AA' }), ['error rule/score-below-threshold']],
    [
      'a score below the threshold beside another type',
      custom({ name: 'A', score: 0.4, regex: 'AA' }, { name: 'B', score: 0.5, regex: 'BB' }),
      ['warning rule/score-below-threshold'],
    ],
    [
      'a score below the threshold beside registered types',
      { ...custom({ name: 'A', score: 0.4, regex: 'AA' }), supported_entity_types: registered },
      ['warning rule/score-below-threshold'],
    ],
    ['no score and no threshold', { custom_entity_types: [{ name: 'A', regex: 'AA' }] }, ['warning rule/score-below-threshold']],
    ['a look-behind, that a provider may take', custom({ name: 'A', score: 1, regex: '(?<=x)A' }), ['warning rule/pattern-refused']],
    ['an open bracket', custom({ name: 'A', score: 1, regex: '(A' }), ['error rule/pattern-refused']],
    ['the empty text', custom({ name: 'A', score: 1, regex: 'A*' }), ['warning rule/matches-empty']],
    ['any digit', custom({ name: 'A', score: 1, regex: '\\d+' }), ['warning rule/matches-harmless']],
    ['a harmless word', custom({ name: 'A', score: 1, deny_list: ['null'] }), ['warning rule/matches-harmless']],
    ['an explosion', custom({ name: 'A', score: 1, regex: '(A+)+B' }), ['warning rule/pattern-backtracks']],
    [
      'a word of two types',
      custom({ name: 'A', score: 1, deny_list: ['Blue'] }, { name: 'B', score: 1, deny_list: ['Blue'] }),
      ['warning rule/duplicate'],
    ],
    ['nothing', custom({ name: 'A', score: 0.5, regex: 'EMP-[0-9]{6}', deny_list: ['Bluebird', 'Blue'] }), []],
  ])('%s', (_, spec, found) => {
    const all = inspectText(ruleText('DataMaskingRule', spec)).map(({ severity, code }) => `${severity} ${code}`);
    expect(all).toEqual(found);
  });
});

test('the examples have no findings', () => {
  const files = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((path) => /access\/.*\.yaml$/.test(path));
  const found = files.flatMap((path) => inspectText(readFileSync(join('examples', path), 'utf8')).map(({ code }) => `${path} ${code}`));
  expect(found.filter((one) => one.includes(' rule/'))).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});
