import { describe, expect, it } from 'vitest';
import { combineDirections, specDirection, type Direction } from '../../../../src/model/spec/direction.ts';
import type { Protects } from '../../../../src/model/kind.ts';
import type { Json } from '../../../../src/model/json.ts';
import { fieldOf, someFields } from '../../../support/field.ts';

const strengthens: Direction = { strengthens: true, weakens: false };
const weakens: Direction = { strengthens: false, weakens: true };
const both: Direction = { strengthens: true, weakens: true };
const incomparable: Direction = { strengthens: true, weakens: true, incomparable: true };
const neither: Direction = { strengthens: false, weakens: false };

describe('specDirection', () => {
  it.each<[Protects, Json, Json, Direction]>([
    ['entries', ['a'], ['a', 'b'], strengthens],
    ['entries', ['a'], [], weakens],
    ['entries', ['a'], ['b'], both],
    ['entries', ['a'], ['a'], neither],
    ['entries', ['a'], 'odd', weakens],
    ['fewer', ['a'], ['a', 'b'], weakens],
    ['fewer', ['a'], [], strengthens],
    ['lower', 5, 3, strengthens],
    ['lower', 3, 5, weakens],
    ['lower', 3, null, weakens],
    ['lower', null, 3, strengthens],
    ['higher', 3, 5, strengthens],
    ['higher', 5, null, weakens],
    ['most', 1, 2, strengthens],
    ['most', 2, null, strengthens],
    ['most', null, 2, weakens],
    ['threshold', 0.5, 0.3, strengthens],
    ['threshold', 0.3, 0.5, weakens],
    ['threshold', null, 0.5, incomparable],
    ['threshold', 0.5, null, incomparable],
    ['enabled', 'disabled', 'enabled', strengthens],
    ['enabled', false, true, strengthens],
    ['enabled', true, false, weakens],
    ['disabled', 'enabled', 'disabled', strengthens],
    ['disabled', true, false, strengthens],
    ['disabled', 'disabled', 'enabled', weakens],
  ])('where %s protects: %j → %j', (protects, before, after, expected) => {
    const shape = Array.isArray(before) ? ({ shape: 'set' } as const) : ({ shape: 'scalar' } as const);
    expect(specDirection([fieldOf('field', shape, { protects })], { field: before }, { field: after })).toEqual(expected);
  });

  it.each<[string, Json, Json, Direction]>([
    ['an entry that comes', [], [{ name: 'a' }], strengthens],
    ['an entry that goes', [{ name: 'a' }], [], weakens],
    ['more inside an entry', [{ name: 'a', words: ['x'] }], [{ name: 'a', words: ['x', 'y'] }], strengthens],
    ['less inside an entry', [{ name: 'a', limit: 1 }], [{ name: 'a', limit: 2 }], weakens],
    ['what has no rule inside an entry', [{ name: 'a', note: 'x' }], [{ name: 'a', note: 'y' }], incomparable],
    ['nothing', [{ name: 'a' }], [{ name: 'a' }], neither],
    ['an entry beside one that stays', [{ name: 'a' }, { name: 'b' }], [{ name: 'a' }, { name: 'c' }], both],
    ['an entry in another shape', [{ name: 'a' }], ['a'], both],
  ])('of a keyed list: %s', (_, before, after, expected) => {
    const keyed = someFields.flatMap((field) => (field.shape === 'keyed' ? [{ ...field, protects: 'entries' as const }] : []));
    expect(specDirection(keyed, { rules: before }, { rules: after })).toEqual(expected);
  });

  it.each<[string, Json, Json, Direction]>([
    ['goes into an object', { tags: ['a'] }, { tags: [] }, weakens],
    ['cannot judge another shape', { tags: ['a'] }, 'odd', incomparable],
  ])('%s', (_, before, after, expected) => {
    const inner = fieldOf('inner', { shape: 'object', fields: [fieldOf('tags', { shape: 'set' }, { protects: 'entries' })] });
    expect(specDirection([inner], { inner: before }, { inner: after })).toEqual(expected);
  });

  it('treats an absent value as empty and a field without a rule as no effect', () => {
    const field = fieldOf('tags', { shape: 'set' }, { protects: 'entries' });
    expect(specDirection([field], {}, { tags: ['a'] })).toEqual(strengthens);
    expect(specDirection([field], { tags: ['a'] }, {})).toEqual(weakens);
    expect(specDirection([fieldOf('text', { shape: 'scalar' })], { text: 'a' }, { text: 'b' })).toEqual(neither);
  });

  it('ignores the description of an entry', () => {
    const keyed = fieldOf(
      'rules',
      { shape: 'keyed', key: 'name', fields: [fieldOf('description', { shape: 'scalar' })] },
      { protects: 'entries' },
    );
    const [before, after] = [{ rules: [{ name: 'a', description: 'x' }] }, { rules: [{ name: 'a', description: 'y' }] }];
    expect(specDirection([keyed], before, after)).toEqual(neither);
  });
});

describe('combineDirections', () => {
  it.each<[readonly Direction[], Direction]>([
    [[], neither],
    [[strengthens, neither], strengthens],
    [[strengthens, weakens], both],
    [[strengthens, incomparable], incomparable],
  ])('joins %j', (directions, expected) => {
    expect(combineDirections(directions)).toEqual(expected);
  });
});
