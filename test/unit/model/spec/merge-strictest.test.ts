import { describe, expect, it } from 'vitest';
import type { FieldRule, Protects } from '../../../../src/model/kind.ts';
import type { Json } from '../../../../src/model/json.ts';
import { mergeStrictest } from '../../../../src/model/spec/merge-strictest.ts';
import { fieldOf } from '../../../support/field.ts';

function fieldFor(protects: Protects | undefined, value: Json): FieldRule {
  const shape = Array.isArray(value) ? ({ shape: 'set' } as const) : ({ shape: 'scalar' } as const);
  return fieldOf('field', shape, protects === undefined ? {} : { protects });
}

describe('mergeStrictest', () => {
  it.each<[Protects | undefined, Json, Json, Json]>([
    ['entries', ['a'], ['b'], ['a', 'b']],
    ['entries', ['a'], [], ['a']],
    ['fewer', ['a', 'b'], ['b', 'c'], ['b']],
    ['fewer', ['a'], null, ['a']],
    ['fewer', null, ['a'], ['a']],
    ['lower', 3, 5, 3],
    ['lower', 5, 3, 3],
    ['lower', null, 3, 3],
    ['lower', 3, null, 3],
    ['threshold', 0.3, 0.5, 0.3],
    ['higher', 3, 5, 5],
    ['enabled', 'enabled', 'disabled', 'enabled'],
    ['enabled', false, true, true],
    ['disabled', 'enabled', 'disabled', 'disabled'],
    ['disabled', false, true, false],
    [undefined, 'new', 'live', 'live'],
  ])('where %s protects: desired %j and live %j', (protects, desired, live, expected) => {
    const field = fieldFor(protects, live);
    const union = mergeStrictest([field], { field: desired }, { field: live });
    expect(union).toEqual({ field: expected });
  });

  it.each<Protects>(['enabled', 'disabled'])('keeps the live value when neither side is a switch and %s protects', (protects) => {
    expect(mergeStrictest([fieldFor(protects, '')], { field: 'odd' }, { field: 'strange' })).toEqual({ field: 'strange' });
  });

  it.each<Protects>(['entries', 'fewer'])('keeps the live value when %s protects and the shape differs', (protects) => {
    expect(mergeStrictest([fieldFor(protects, [])], { field: 'odd' }, { field: ['a'] })).toEqual({ field: ['a'] });
    expect(mergeStrictest([fieldFor(protects, [])], { field: ['a'] }, { field: 'odd' })).toEqual({ field: 'odd' });
  });

  it('keeps two entries of one name, and an unchanged one once', () => {
    const keyed = fieldOf('rules', { shape: 'keyed', key: 'name', fields: [fieldOf('words', { shape: 'set' })] }, { protects: 'entries' });
    const stays = { name: 'b', words: ['z'] };
    const desired = { rules: [{ name: 'a', words: ['x'] }, stays] };
    const live = { rules: [{ name: 'a', words: ['y'] }, stays] };
    expect(mergeStrictest([keyed], desired, live)).toEqual({ rules: [{ name: 'a', words: ['x'] }, { name: 'a', words: ['y'] }, stays] });
  });

  it('merges objects, starts with the empty value, and keeps unstated fields', () => {
    const inner = fieldOf('inner', { shape: 'object', fields: [fieldOf('tags', { shape: 'set' }, { protects: 'entries' })] });
    expect(mergeStrictest([inner], { inner: { tags: ['a'] } }, { inner: { tags: ['b'] } })).toEqual({ inner: { tags: ['a', 'b'] } });
    expect(mergeStrictest([inner], { inner: { tags: ['a'] } }, { inner: 'odd' })).toEqual({ inner: 'odd' });
    expect(mergeStrictest([inner], { inner: { tags: ['a'] } }, {})).toEqual({ inner: { tags: ['a'] } });
    expect(mergeStrictest([inner], {}, { inner: 'live', other: 1 })).toEqual({ inner: 'live', other: 1 });
  });
});
