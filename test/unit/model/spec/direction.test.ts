import { describe, expect, it } from 'vitest';
import { combineDirections, specDirection, type Direction } from '../../../../src/model/spec/direction.ts';
import type { Protects } from '../../../../src/model/field.ts';
import type { Json } from '../../../../src/model/json.ts';
import { fieldOf, someFields } from '../../../support/field.ts';

const gains: Direction = { strengthens: true, weakens: false };
const loses: Direction = { strengthens: false, weakens: true };
const both: Direction = { strengthens: true, weakens: true };
const unsure: Direction = { strengthens: true, weakens: true, incomparable: true };
const neither: Direction = { strengthens: false, weakens: false };

describe('specDirection', () => {
  it.each<[Protects, Json, Json, Direction]>([
    ['entries', ['a'], ['a', 'b'], gains],
    ['entries', ['a'], [], loses],
    ['entries', ['a'], ['b'], both],
    ['entries', ['a'], ['a'], neither],
    ['entries', ['a'], 'odd', loses],
    ['fewer', ['a'], ['a', 'b'], loses],
    ['fewer', ['a'], [], gains],
    ['lower', 5, 3, gains],
    ['lower', 3, 5, loses],
    ['lower', 3, null, loses],
    ['lower', null, 3, gains],
    ['higher', 3, 5, gains],
    ['higher', 5, null, loses],
    ['most', 1, 2, gains],
    ['most', 2, null, gains],
    ['most', null, 2, loses],
    ['threshold', 0.5, 0.3, gains],
    ['threshold', 0.3, 0.5, loses],
    ['threshold', null, 0.5, unsure],
    ['threshold', 0.5, null, unsure],
    ['enabled', 'disabled', 'enabled', gains],
    ['enabled', false, true, gains],
    ['enabled', true, false, loses],
    ['disabled', 'enabled', 'disabled', gains],
    ['disabled', true, false, gains],
    ['disabled', 'disabled', 'enabled', loses],
  ])('where %s protects: %j → %j', (protects, before, after, expected) => {
    const shape = Array.isArray(before) ? ({ shape: 'set' } as const) : ({ shape: 'scalar' } as const);
    expect(specDirection([fieldOf('field', shape, { protects })], { field: before }, { field: after })).toEqual(expected);
  });

  it.each<[string, Json, Json, Direction]>([
    ['an entry that comes', [], [{ name: 'a' }], gains],
    ['an entry that goes', [{ name: 'a' }], [], loses],
    ['more inside an entry', [{ name: 'a', words: ['x'] }], [{ name: 'a', words: ['x', 'y'] }], gains],
    ['less inside an entry', [{ name: 'a', limit: 1 }], [{ name: 'a', limit: 2 }], loses],
    ['what has no rule inside an entry', [{ name: 'a', note: 'x' }], [{ name: 'a', note: 'y' }], unsure],
    ['nothing', [{ name: 'a' }], [{ name: 'a' }], neither],
    ['an entry beside one that stays', [{ name: 'a' }, { name: 'b' }], [{ name: 'a' }, { name: 'c' }], both],
    ['an entry in another shape', [{ name: 'a' }], ['a'], both],
  ])('of a keyed list: %s', (_, before, after, expected) => {
    const keyed = someFields.flatMap((field) => (field.shape === 'keyed' ? [{ ...field, protects: 'entries' as const }] : []));
    expect(specDirection(keyed, { rules: before }, { rules: after })).toEqual(expected);
  });

  it.each<[string, Json, Json, Direction]>([
    ['goes into an object', { tags: ['a'] }, { tags: [] }, loses],
    ['cannot judge another shape', { tags: ['a'] }, 'odd', unsure],
  ])('%s', (_, before, after, expected) => {
    const inner = fieldOf('inner', { shape: 'object', fields: [fieldOf('tags', { shape: 'set' }, { protects: 'entries' })] });
    expect(specDirection([inner], { inner: before }, { inner: after })).toEqual(expected);
  });

  it('takes an absent value for the empty one, and what protects nothing for neutral', () => {
    const field = fieldOf('tags', { shape: 'set' }, { protects: 'entries' });
    expect(specDirection([field], {}, { tags: ['a'] })).toEqual(gains);
    expect(specDirection([field], { tags: ['a'] }, {})).toEqual(loses);
    expect(specDirection([fieldOf('text', { shape: 'scalar' })], { text: 'a' }, { text: 'b' })).toEqual(neither);
  });

  it('lets the description of an entry change', () => {
    const keyed = fieldOf(
      'rules',
      { shape: 'keyed', key: 'name', fields: [fieldOf('description', { shape: 'scalar' })] },
      { protects: 'entries' },
    );
    const [before, after] = [{ rules: [{ name: 'a', description: 'x' }] }, { rules: [{ name: 'a', description: 'y' }] }];
    expect(specDirection([keyed], before, after)).toEqual(neither);
  });
});

describe('joinDirections', () => {
  it.each<[readonly Direction[], Direction]>([
    [[], neither],
    [[gains, neither], gains],
    [[gains, loses], both],
    [[gains, unsure], unsure],
  ])('joins %j', (directions, expected) => {
    expect(combineDirections(directions)).toEqual(expected);
  });
});
