import { array, assert, nat, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical, canonicalPieces, compareText, equal, sortedKeys, type Json, nestsDeeper } from '../../../src/model/json.ts';
import { json } from '../../support/nasty-values.ts';

describe('equal', () => {
  it.each<[string, Json | undefined, Json | undefined, boolean]>([
    ['the same text', 'a', 'a', true],
    ['a number and its text', 1, '1', false],
    ['two absences', undefined, undefined, true],
    ['absent and null', undefined, null, false],
    ['null and an object', null, {}, false],
    ['keys in another order', { a: 1, b: [2] }, { b: [2], a: 1 }, true],
    ['entries in another order', [1, 2], [2, 1], false],
    ['a list and its beginning', [1, 2], [1], false],
    ['a list and an object', [], {}, false],
    ['an object and a list', {}, [], false],
    ['a key more', { a: 1 }, { a: 1, b: 1 }, false],
    ['another key', { a: 1 }, { b: 1 }, false],
    ['a key of the prototype', { a: 1 }, { toString: 1 }, false],
    ['another value inside', { a: { b: 1 } }, { a: { b: 2 } }, false],
  ])('compares %s', (_, left, right, expected) => {
    expect(equal(left, right)).toBe(expected);
  });
});

describe('canonical', () => {
  it.each<[Json, string]>([
    [null, 'null'],
    ['a"b', '"a\\"b"'],
    [[2, [true]], '[2,[true]]'],
    [{ b: 1, a: { d: null, c: [] } }, '{"a":{"c":[],"d":null},"b":1}'],
    [{}, '{}'],
  ])('writes %j in one way', (value, expected) => {
    expect(canonical(value)).toBe(expected);
  });

  it('is the same in pieces, to any depth', () => {
    assert(
      property(json, nat(6), (value, depth) => {
        expect([...canonicalPieces(value, depth)].join('')).toBe(canonical(value));
      }),
    );
  });
});

it('sorts the keys of small and large objects alike, and leaves the object as it is', () => {
  assert(
    property(array(string(), { maxLength: 40 }), (names) => {
      const object = Object.fromEntries(names.map((name) => [name, 1]));
      const before = Object.keys(object);
      expect(sortedKeys(object)).toEqual(before.toSorted(compareText));
      expect(Object.keys(object)).toEqual(before);
    }),
  );
});

it.each([
  ['[[1]]', false],
  ['[[[1]]]', true],
  ['{"a":{"b":{}}}', true],
  ['[[1],[2],{"a":3}]', false],
  ['["[[[[", "{{{{"]', false],
  [String.raw`["\"[[[[", "\\", [[]]]`, true],
  [String.raw`["\\\"[[[[", []]`, false],
  ['["', false],
  [String.raw`["\"`, false],
])('%s nests deeper than two levels: %s', (text, isDeeper) => {
  expect(nestsDeeper(text, 2)).toBe(isDeeper);
});
