import { describe, expect, it } from 'vitest';
import { entriesByToken, elementToken } from '../../../../src/model/spec/edit.ts';
import type { Json } from '../../../../src/model/json.ts';
import { fieldOf } from '../../../support/field.ts';

const keyed = fieldOf('rules', {
  shape: 'keyed',
  key: 'name',
  fields: [fieldOf('name', { shape: 'scalar' }, { empty: '' }), fieldOf('words', { shape: 'set' })],
});

function tokens(entries: readonly Json[]): readonly string[] {
  return keyed.shape === 'keyed' ? [...entriesByToken(keyed, entries).keys()] : [];
}

describe('entriesByToken', () => {
  it.each<[string, readonly Json[], readonly string[]]>([
    ['takes the key', [{ name: 'a' }, { name: 'b' }], ['a', 'b']],
    ['takes the content where there is no key', [{ words: ['x'] }, { name: '' }], ['{"name":"","words":["x"]}', '{"name":"","words":[]}']],
    ['leaves what it does not know out of the content', [{ words: ['x'], vendor: 1 }], ['{"name":"","words":["x"]}']],
    ['takes the content where the key is taken', [{ name: 'a' }, { name: 'a', words: ['x'] }], ['a', '{"name":"a","words":["x"]}']],
    ['distinguishes equal entries', [{}, {}, {}], ['{"name":"","words":[]}', '{"name":"","words":[]}+', '{"name":"","words":[]}++']],
    ['takes anything', ['text', 1], ['"text"', '1']],
  ])('%s', (_, entries, expected) => {
    expect(tokens(entries)).toEqual(expected);
  });
});

describe('elementToken', () => {
  it.each<[Json, string]>([
    ['dba', 'dba'],
    [1, '1'],
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
  ])('names %j', (element, expected) => {
    expect(elementToken(element)).toBe(expected);
  });
});
