import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/model/json.ts';
import { distinctParts, isEmpty, inlineValue, pathText, valueText, withUnits } from '../../../../src/report/wording/value.ts';

describe('jsonText', () => {
  const table: readonly (readonly [Json, string])[] = [
    ['enabled', 'enabled'],
    ['', '""'],
    ['two words', 'two words'],
    [' edge', '" edge"'],
    ['true', '"true"'],
    ['42', '"42"'],
    ['1.5e3', '"1.5e3"'],
    ['(none)', '"(none)"'],
    ['[a]', '"[a]"'],
    ['a → b', '"a → b"'],
    ['a\tb\u202e', String.raw`"a\tb\u202e"`],
    [String.raw`EMP-\d{6}`, String.raw`EMP-\d{6}`],
    ['Customer data, never in clear', 'Customer data, never in clear'],
    [true, 'true'],
    [null, 'null'],
    [3600, '3600'],
    [['a', 'b c', 'd,e'], '[a, b c, "d,e"]'],
    [[], '[]'],
    [{}, '{}'],
    [{ type: 'deny_words_list', words: ['DROP'], 'a: b': 1 }, '{ type: deny_words_list, words: [DROP], "a: b": 1 }'],
  ];

  it.each(table)('prints %j', (value, text) => {
    expect(inlineValue(value)).toBe(text);
  });

  it('clips to a width', () => {
    expect(inlineValue('a long sentence', 8)).toBe('a long …');
  });
});

describe('valueText', () => {
  it('describes absent, hidden and secret values', () => {
    expect(valueText({ absent: true })).toBe('(none)');
    expect(valueText({ unknown: 'not for this role' })).toBe('(unknown: not for this role)');
    expect(valueText({ secret: 'env:OSTIARY_SECRET_X', state: 'set' })).toBe('(secret env:OSTIARY_SECRET_X)');
  });
});

describe('pathText', () => {
  it.each([
    ['/reviewers', 'reviewers'],
    ['/connection_tags/env', 'connection_tags.env'],
    ['/connection_tags/a.b~1c', 'connection_tags["a.b/c"]'],
    ['/command/0', 'command[0]'],
    ['/runbooks/{"name":"ops~1"}/name', 'runbooks[{ name: ops/ }].name'],
    ['/runbooks/{ops', 'runbooks["{ops"]'],
    ['/a/\u001b', String.raw`a["\u001b"]`],
    ['', ''],
  ])('prints %s', (path, text) => {
    expect(pathText(path)).toBe(text);
  });
});

describe('distinctParts', () => {
  it('keeps short texts', () => {
    expect(distinctParts('a', 'b', 10)).toEqual(['a', 'b']);
  });

  it('shows the first difference of long texts', () => {
    const same = 'x'.repeat(500);
    const [before, after] = distinctParts(`${same}one`, `${same}two`, 60);
    expect([before, after]).toEqual([`…${'x'.repeat(12)}one`, `…${'x'.repeat(12)}two`]);
  });
});

describe('isEmpty', () => {
  it.each([
    [null, true],
    ['', true],
    [[], true],
    [{}, true],
    [false, false],
    [0, false],
    ['a', false],
    [['a'], false],
  ] as const)('judges %j', (value, empty) => {
    expect(isEmpty(value)).toBe(empty);
  });
});

describe('withUnits', () => {
  it.each([
    ['/access_max_duration', 5400, '1 h 30 min'],
    ['/git_hook_ttl', 90, '1 min 30 s'],
    ['/other', 90, 90],
    ['/access_max_duration/0', 90, 90],
    ['/access_max_duration', '90', '90'],
  ])('prints %s, %j, as %j', (path, value, shown) => {
    expect(withUnits(path, { value })).toEqual({ value: shown });
  });
});
