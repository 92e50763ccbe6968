import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { normalizeObject } from '../../../../src/model/spec/normalize.ts';
import type { Value } from '../../../../src/model/plan/plan.ts';
import { pointer } from '../../../../src/model/pointer.ts';
import { compareSpecs } from '../../../../src/reconcile/compare/compare-specs.ts';
import { someFields } from '../../../support/field.ts';

type Row = readonly [path: string, before: Json | undefined, after: Json | undefined];

function differences(desired: JsonObject, live: JsonObject, skip: readonly string[] = []): readonly Row[] {
  return compareSpecs(someFields, desired, live, skip).map(({ path, before, after }) => [path, side(before), side(after)]);
}

const normal = (spec: JsonObject): JsonObject => normalizeObject(someFields, spec);
const entry = { words: [], limit: null, note: '' };
const unnamed = (limit: number): string => `{"limit":${limit},"name":"","note":"","words":[]}`;

function side(value: Value): Json | undefined {
  return 'value' in value ? value.value : undefined;
}

describe('compareSpecs', () => {
  it.each<[string, JsonObject, JsonObject, readonly Row[]]>([
    ['nothing', { text: 'a', tags: ['b', 'a'] }, { text: 'a', tags: ['a', 'b'] }, []],
    ['a field', { text: 'a' }, { text: 'b' }, [['/text', 'b', 'a']]],
    ['a list as one', { order: ['a', 'b'] }, { order: ['b', 'a'] }, [['/order', ['b', 'a'], ['a', 'b']]]],
    [
      'a set by its elements',
      { tags: ['a', 'c'] },
      { tags: ['a', 'b'] },
      [
        ['/tags/b', 'b', undefined],
        ['/tags/c', undefined, 'c'],
      ],
    ],
    [
      'a map by its keys',
      { labels: { a: '1', 'c/d': '3' } },
      { labels: { a: '2', b: '2' } },
      [
        ['/labels/a', '2', '1'],
        ['/labels/b', '2', undefined],
        ['/labels/c~1d', undefined, '3'],
      ],
    ],
    ['an object by its fields', { inner: { tags: ['a'] } }, { inner: { tags: [] } }, [['/inner/tags/a', undefined, 'a']]],
    [
      'an entry by its fields',
      { rules: [{ name: 'a', words: ['x'], limit: 1 }] },
      { rules: [{ name: 'a', words: ['y'], limit: 1 }] },
      [
        ['/rules/a/words/x', undefined, 'x'],
        ['/rules/a/words/y', 'y', undefined],
      ],
    ],
    [
      'entries that come and go',
      { rules: [{ name: 'a' }] },
      { rules: [{ name: 'b' }] },
      [
        ['/rules/a', undefined, { ...entry, name: 'a' }],
        ['/rules/b', { ...entry, name: 'b' }, undefined],
      ],
    ],
    [
      'entries without a name by their content',
      { rules: [{ limit: 1 }] },
      { rules: [{ limit: 2 }] },
      [
        [pointer('rules', unnamed(1)), undefined, { ...entry, name: '', limit: 1 }],
        [pointer('rules', unnamed(2)), { ...entry, name: '', limit: 2 }, undefined],
      ],
    ],
    [
      'a name that live has twice',
      { rules: [{ name: 'a', limit: 1 }] },
      {
        rules: [
          { name: 'a', limit: 1 },
          { name: 'a', limit: 2 },
        ],
      },
      [[pointer('rules', '{"limit":2,"name":"a","note":"","words":[]}'), { ...entry, name: 'a', limit: 2 }, undefined]],
    ],
    ['no unknown key', { rules: [{ name: 'a' }] }, { rules: [{ name: 'a', vendor: 1 }], vendor: 2 }, []],
    ['entries that are no objects', { rules: ['x'] }, { rules: ['x', 'y'] }, [[pointer('rules', '"y"'), 'y', undefined]]],
  ])('finds %s', (_, desired, live, expected) => {
    expect(differences(normal(desired), normal(live))).toEqual(expected);
  });

  it('treats an absent live value as empty, and skips fields that are not desired', () => {
    expect(differences({ text: '', tags: ['a'] }, { order: ['x'] })).toEqual([['/tags/a', undefined, 'a']]);
  });

  it('compares values of different shapes as a whole', () => {
    expect(
      differences({ tags: 'x', rules: [], inner: { tags: [] }, labels: {} }, { tags: ['a'], rules: 'x', inner: 'x', labels: 'x' }),
    ).toEqual([
      ['/tags', ['a'], 'x'],
      ['/labels', 'x', {}],
      ['/inner', 'x', { tags: [] }],
      ['/rules', 'x', []],
    ]);
  });

  it.each([
    ['/tags', '/text /labels/a /inner/tags/a /rules/a/limit /rules/b'],
    ['/tags/x', '/text /labels/a /inner/tags/a /rules/a/limit /rules/b'],
    ['/labels/a', '/text /tags/x /inner/tags/a /rules/a/limit /rules/b'],
    ['/inner', '/text /tags/x /labels/a /rules/a/limit /rules/b'],
    ['/rules/a', '/text /tags/x /labels/a /inner/tags/a /rules/b'],
    ['/rules/a/limit', '/text /tags/x /labels/a /inner/tags/a /rules/b'],
    ['/rules/b', '/text /tags/x /labels/a /inner/tags/a /rules/a/limit'],
  ])('passes over what lies at or below %s', (skip, expected) => {
    const desired = normal({ text: 'a', tags: ['x'], labels: { a: '1' }, inner: { tags: ['a'] }, rules: [{ name: 'a', limit: 1 }] });
    const found = differences(desired, normal({ rules: [{ name: 'a' }, { name: 'b' }] }), [skip]);
    expect(found.map(([path]) => path).join(' ')).toBe(expected);
  });
});
