import { describe, expect, it } from 'vitest';
import { overlapTest, pointer, tokensOf } from '../../../src/model/pointer.ts';

describe('pointer', () => {
  it.each<[readonly string[], string]>([
    [[], ''],
    [['a'], '/a'],
    [['secret', 'envvar:A/B~C'], '/secret/envvar:A~1B~0C'],
    [[''], '/'],
    [['~1'], '/~01'],
  ])('writes %j, and reads it again', (tokens, text) => {
    expect(pointer(...tokens)).toBe(text);
    expect(tokensOf(text)).toEqual(tokens);
  });
});

describe('overlapTest', () => {
  it.each([
    ['/a/b', true],
    ['/a/b/c', true],
    ['/a', true],
    ['', true],
    ['/a/bc', false],
    ['/b', false],
  ])('returns whether %j overlaps one of two pointers', (path, expected) => {
    expect(overlapTest(['/a/b', '/d'])(path)).toBe(expected);
  });

  it('overlaps everything where it has the root, and nothing where it has no pointer', () => {
    expect(overlapTest([''])('/a')).toBe(true);
    expect(overlapTest([])('')).toBe(false);
  });
});
