import schema from '../../schemas/attribute.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { specFields } from './fields.ts';

/** The kind Attribute: the groups that an attribute grants. What it is attached to follows from the connections and rules that name it. */
export const attribute: Kind = {
  name: 'Attribute',
  schema,
  dialect: schema['x-ostiary-dialect'],
  fields: specFields(schema),
  identity: (name) => name,
  named: true,
  renamable: true,
  derived: () => ({}),
  createDefaults: () => ({}),
  check: () => [],
};
