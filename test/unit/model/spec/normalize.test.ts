import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { normalizeObject } from '../../../../src/model/spec/normalize.ts';
import { someFields } from '../../../support/field.ts';

const blank: JsonObject = { text: '', order: [], tags: [], labels: {}, inner: { tags: [] }, rules: [] };
const entry = { words: [], limit: null, note: '' };

describe('normalizeObject', () => {
  it.each<[string, Json, JsonObject]>([
    ['fills in what is absent or null', { text: null, tags: null }, {}],
    ['sorts a set and drops doubles', { tags: ['b', 'a', 'b'] }, { tags: ['a', 'b'] }],
    ['leaves a set that is in order', { tags: ['a', 'b'] }, { tags: ['a', 'b'] }],
    ['drops the double of a set that is in order', { tags: ['a', 'a'] }, { tags: ['a'] }],
    ['leaves a list as it is', { order: ['b', 'a', 'b'] }, { order: ['b', 'a', 'b'] }],
    ['leaves a map as it is', { labels: { b: '1', a: '2' } }, { labels: { b: '1', a: '2' } }],
    ['goes into an object', { inner: { tags: ['b', 'a'] } }, { inner: { tags: ['a', 'b'] } }],
    [
      'descends into the entries of a keyed list',
      { rules: [{ name: 'a', words: ['y', 'x'] }] },
      { rules: [{ ...entry, name: 'a', words: ['x', 'y'] }] },
    ],
    [
      'sorts entries by their key, then by their content',
      { rules: [{ name: 'b' }, { limit: 2 }, { limit: 1 }, { name: 'a' }] },
      {
        rules: [
          { ...entry, name: '', limit: 1 },
          { ...entry, name: '', limit: 2 },
          { ...entry, name: 'a' },
          { ...entry, name: 'b' },
        ],
      },
    ],
    ['keeps unknown keys', { vendor: 1, rules: [{ name: 'a', vendor: 2 }] }, { vendor: 1, rules: [{ ...entry, name: 'a', vendor: 2 }] }],
    ['leaves what is of another shape', { tags: 'x', rules: 'x', inner: 'x' }, { tags: 'x', rules: 'x', inner: 'x' }],
    ['leaves entries of another shape', { rules: ['y', 'x'] }, { rules: ['x', 'y'] }],
  ])('%s', (_, value, expected) => {
    const normal = normalizeObject(someFields, JSON.parse(JSON.stringify(value)));
    expect(normal).toEqual({ ...blank, ...expected });
    expect(normalizeObject(someFields, normal)).toEqual(normal);
  });
});
