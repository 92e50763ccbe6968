import { expect, it } from 'vitest';
import type { Json } from '../../../../src/model/json.ts';
import { inlineValue, pathText, valueText } from '../../../../src/report/wording/value.ts';

it.each<readonly [Json, string]>([
  ['', '""'],
  ['two words', 'two words'],
  ['true', '"true"'],
  ['42', '"42"'],
  ['(none)', '"(none)"'],
  ['a → b', '"a → b"'],
  ['a\tb\u202e', String.raw`"a\tb\u202e"`],
  [['a', 'b c', 'd,e'], '[a, b c, "d,e"]'],
  [{ words: ['DROP'], 'a: b': 1 }, '{ words: [DROP], "a: b": 1 }'],
])('a value is never mistaken for another one: %j', (value, text) => {
  expect(inlineValue(value)).toBe(text);
});

it('absent, hidden and secret values are described', () => {
  expect(valueText({ absent: true })).toBe('(none)');
  expect(valueText({ unknown: 'not for this role' })).toBe('(unknown: not for this role)');
  expect(valueText({ secret: 'env:OSTIARY_SECRET_X', state: 'set' })).toBe('(secret env:OSTIARY_SECRET_X)');
});

it.each([
  ['/connection_tags/a.b~1c', 'connection_tags["a.b/c"]'],
  ['/command/0', 'command[0]'],
  ['/runbooks/{ops', 'runbooks["{ops"]'],
  ['/a/\u001b', String.raw`a["\u001b"]`],
])('a path is unambiguous: %s', (path, text) => {
  expect(pathText(path)).toBe(text);
});
