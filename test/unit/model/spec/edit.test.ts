import { describe, expect, it } from 'vitest';
import { editSpec, specValueAt, type Edit } from '../../../../src/model/spec/edit.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { normalizeObject } from '../../../../src/model/spec/normalize.ts';
import { pointer } from '../../../../src/model/pointer.ts';
import { someFields } from '../../../support/field.ts';

const entry = { words: [], limit: null, note: '' };
const unnamed = '{"limit":1,"name":"","note":"","words":[]}';

type Edits = Readonly<Record<string, Edit['value']>>;

function edited(spec: JsonObject, edits: Edits): JsonObject {
  const list = Object.entries(edits).map(([path, value]) => ({ path, value }));
  return editSpec(someFields, normalizeObject(someFields, spec), list);
}

describe('editSpec', () => {
  it.each<[string, JsonObject, Edits, JsonObject]>([
    ['sets a field', { text: 'a' }, { '/text': 'b' }, { text: 'b' }],
    ['empties a field', { text: 'a', order: ['x'] }, { '/text': undefined, '/order': null }, {}],
    ['adds to a set and removes from it', { tags: ['a', 'b'] }, { '/tags/b': undefined, '/tags/c': 'c' }, { tags: ['a', 'c'] }],
    ['adds what is there', { tags: ['a'] }, { '/tags/a': 'a' }, { tags: ['a'] }],
    [
      'sets and removes keys of a map',
      { labels: { a: '1', b: '2' } },
      { '/labels/a': '3', '/labels/b': undefined, '/labels/c': '4' },
      { labels: { a: '3', c: '4' } },
    ],
    ['goes into an object', { inner: { tags: ['a'] } }, { '/inner/tags/b': 'b' }, { inner: { tags: ['a', 'b'] } }],
    [
      'changes an entry and keeps its unknown keys',
      { rules: [{ name: 'a', words: ['x'], vendor: 1 }] },
      { '/rules/a/words/y': 'y', '/rules/a/limit': 2 },
      { rules: [{ ...entry, name: 'a', words: ['x', 'y'], limit: 2, vendor: 1 }] },
    ],
    [
      'adds and removes an entry',
      { rules: [{ name: 'a' }] },
      { '/rules/a': undefined, '/rules/b': { name: 'b' } },
      { rules: [{ ...entry, name: 'b' }] },
    ],
    ['replaces an entry', { rules: [{ name: 'a', limit: 1 }] }, { '/rules/a': { name: 'a' } }, { rules: [{ ...entry, name: 'a' }] }],
    ['takes away an entry that is not there', { rules: [] }, { '/rules/a': undefined }, { rules: [] }],
    ['changes nothing inside an entry that is not there', { rules: [] }, { '/rules/a/limit': 1 }, { rules: [] }],
    [
      'removes an entry without a name',
      { rules: [{ limit: 1 }, { limit: 2 }] },
      { [pointer('rules', unnamed)]: undefined },
      { rules: [{ ...entry, name: '', limit: 2 }] },
    ],
    [
      'leaves one of the entries of a name that it changes inside',
      { rules: [{ name: 'a', limit: 1 }, { name: 'a', limit: 2 }, { limit: 3 }] },
      { '/rules/a/limit': 2 },
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
      { '/text/x': 'y', '/order/0': 'y' },
      { text: 'a', order: ['x'] },
    ],
    ['passes over a field that is not one', { text: 'a' }, { '/other': 'b', '': 'b' }, { text: 'a' }],
    ['accepts an entry that is not an object', { rules: ['x'] }, { [pointer('rules', '"x"', 'limit')]: 1 }, { rules: ['x'] }],
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
    expect(edited({ labels: { a: '1' } }, { '/labels/a/b': '2' })).toEqual(edited({ labels: { a: '2' } }, {}));
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
