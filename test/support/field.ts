import type { FieldRule, Shape } from '../../src/model/kind.ts';
import type { Json } from '../../src/model/json.ts';

const empties: Readonly<Record<Shape['shape'], Json>> = { scalar: null, list: [], set: [], map: {}, object: {}, keyed: [] };

/** Creates a field with the default empty value of its shape, omitted when empty; the rest is as given. */
export function fieldOf(name: string, shape: Shape, rest: Partial<Omit<FieldRule, 'shape'>> = {}): FieldRule {
  return { name, required: false, empty: empties[shape.shape], omitted: 'empty', ...rest, ...shape };
}

/** Fields of every shape: `text`, `order`, `tags`, `labels`, `inner` (with `tags`) and `rules` (keyed by `name`, with `words`, `limit` and `note`). */
export const someFields: readonly FieldRule[] = [
  fieldOf('text', { shape: 'scalar' }, { empty: '' }),
  fieldOf('order', { shape: 'list' }),
  fieldOf('tags', { shape: 'set' }),
  fieldOf('labels', { shape: 'map' }),
  fieldOf('inner', { shape: 'object', fields: [fieldOf('tags', { shape: 'set' })] }, { empty: { tags: [] } }),
  fieldOf('rules', {
    shape: 'keyed',
    key: 'name',
    fields: [
      fieldOf('name', { shape: 'scalar' }, { empty: '' }),
      fieldOf('words', { shape: 'set' }, { protects: 'entries' }),
      fieldOf('limit', { shape: 'scalar' }, { protects: 'lower' }),
      fieldOf('note', { shape: 'scalar' }, { empty: '' }),
    ],
  }),
];
