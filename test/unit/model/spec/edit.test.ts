import { describe, expect, it } from 'vitest';
import { editSpec, specValueAt, type Edit } from '../../../../src/model/spec/edit.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { normalizeObject } from '../../../../src/model/spec/normalize.ts';
import { pointer } from '../../../../src/model/pointer.ts';
import { someFields } from '../../../support/field.ts';

const entry = { words: [], limit: null, note: '' };
const unnamed = '{"limit":1,"name":"","note":"","words":[]}';

function edited(spec: JsonObject, edits: readonly Edit[]): JsonObject {
  return editSpec(someFields, normalizeObject(someFields, spec), edits);
}

describe('editSpec', () => {
  it.each<[string, JsonObject, readonly Edit[], JsonObject]>([
    ['sets a field', { text: 'a' }, [{ path: '/text', value: 'b' }], { text: 'b' }],
    [
      'empties a field',
      { text: 'a', order: ['x'] },
      [
        { path: '/text', value: undefined },
        { path: '/order', value: null },
      ],
      {},
    ],
    [
      'adds to a set and removes from it',
      { tags: ['a', 'b'] },
      [
        { path: '/tags/b', value: undefined },
        { path: '/tags/c', value: 'c' },
      ],
      { tags: ['a', 'c'] },
    ],
    ['adds what is there', { tags: ['a'] }, [{ path: '/tags/a', value: 'a' }], { tags: ['a'] }],
    [
      'sets and removes keys of a map',
      { labels: { a: '1', b: '2' } },
      [
        { path: '/labels/a', value: '3' },
        { path: '/labels/b', value: undefined },
        { path: '/labels/c', value: '4' },
      ],
      { labels: { a: '3', c: '4' } },
    ],
    ['goes into an object', { inner: { tags: ['a'] } }, [{ path: '/inner/tags/b', value: 'b' }], { inner: { tags: ['a', 'b'] } }],
    [
      'changes an entry and keeps its unknown keys',
      { rules: [{ name: 'a', words: ['x'], vendor: 1 }] },
      [
        { path: '/rules/a/words/y', value: 'y' },
        { path: '/rules/a/limit', value: 2 },
      ],
      { rules: [{ ...entry, name: 'a', words: ['x', 'y'], limit: 2, vendor: 1 }] },
    ],
    [
      'adds and removes an entry',
      { rules: [{ name: 'a' }] },
      [
        { path: '/rules/a', value: undefined },
        { path: '/rules/b', value: { name: 'b' } },
      ],
      { rules: [{ ...entry, name: 'b' }] },
    ],
    [
      'replaces an entry',
      { rules: [{ name: 'a', limit: 1 }] },
      [{ path: '/rules/a', value: { name: 'a' } }],
      { rules: [{ ...entry, name: 'a' }] },
    ],
    ['takes away an entry that is not there', { rules: [] }, [{ path: '/rules/a', value: undefined }], { rules: [] }],
    ['changes nothing inside an entry that is not there', { rules: [] }, [{ path: '/rules/a/limit', value: 1 }], { rules: [] }],
    [
      'removes an entry without a name',
      { rules: [{ limit: 1 }, { limit: 2 }] },
      [{ path: pointer('rules', unnamed), value: undefined }],
      { rules: [{ ...entry, name: '', limit: 2 }] },
    ],
    [
      'leaves one of the entries of a name that it changes inside',
      { rules: [{ name: 'a', limit: 1 }, { name: 'a', limit: 2 }, { limit: 3 }] },
      [{ path: '/rules/a/limit', value: 2 }],
      {
        rules: [
          { ...entry, name: '', limit: 3 },
          { ...entry, name: 'a', limit: 2 },
        ],
      },
    ],
    [
      'leaves what is of another shape below',
      { text: 'a', order: ['x'] },
      [
        { path: '/text/x', value: 'y' },
        { path: '/order/0', value: 'y' },
      ],
      { text: 'a', order: ['x'] },
    ],
    [
      'passes over a field that is not one',
      { text: 'a' },
      [
        { path: '/other', value: 'b' },
        { path: '', value: 'b' },
      ],
      { text: 'a' },
    ],
    ['accepts an entry that is not an object', { rules: ['x'] }, [{ path: pointer('rules', '"x"', 'limit'), value: 1 }], { rules: ['x'] }],
  ])('%s', (_, spec, edits, expected) => {
    expect(edited(spec, edits)).toEqual(normalizeObject(someFields, expected));
  });

  it('starts with the empty value when there is none or its shape differs', () => {
    const edits = ['/tags/a', '/labels/a', '/inner/tags/a', '/rules/a'].map((path) => ({
      path,
      value: path === '/rules/a' ? { name: 'a' } : 'a',
    }));
    const expected = { tags: ['a'], labels: { a: 'a' }, inner: { tags: ['a'] }, rules: [{ ...entry, name: 'a' }] };
    expect(editSpec(someFields, {}, edits)).toEqual(expected);
    expect(editSpec(someFields, { tags: 'x', labels: 'x', inner: 'x', rules: 'x' }, edits)).toEqual(expected);
  });

  it('uses only the first token below a map', () => {
    expect(edited({ labels: { a: '1' } }, [{ path: '/labels/a/b', value: '2' }])).toEqual(edited({ labels: { a: '2' } }, []));
  });
});

describe('specValueAt', () => {
  const spec = normalizeObject(someFields, {
    text: 'a',
    order: ['x'],
    tags: ['b'],
    labels: { 'a/b': '1' },
    inner: { tags: ['c'] },
    rules: [{ name: 'r', words: ['w'], limit: 1 }, { limit: 1 }],
  });

  it.each<[string, Json | undefined]>([
    ['', undefined],
    ['/text', 'a'],
    ['/text/x', undefined],
    ['/order', ['x']],
    ['/order/0', undefined],
    ['/tags/b', 'b'],
    ['/tags/c', undefined],
    ['/labels/a~1b', '1'],
    ['/labels/toString', undefined],
    ['/inner/tags', ['c']],
    ['/inner/tags/c', 'c'],
    ['/rules/r/limit', 1],
    ['/rules/r/words/w', 'w'],
    ['/rules/none', undefined],
    ['/rules/none/limit', undefined],
    [pointer('rules', unnamed), { ...entry, name: '', limit: 1 }],
    ['/nowhere', undefined],
    ['/nowhere/x', undefined],
  ])('finds "%s"', (path, expected) => {
    expect(specValueAt(someFields, spec, path)).toEqual(expected);
  });

  it.each(['/tags/a', '/labels/a', '/inner/tags', '/rules/a'])('finds nothing at %s in another shape', (path) => {
    expect(specValueAt(someFields, { tags: 'x', labels: 'x', inner: 'x', rules: 'x' }, path)).toBeUndefined();
  });
});
