import schema from '../../schemas/data-masking-rule.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { specFields } from './fields.ts';

/** The kind DataMaskingRule: which types of text are masked in the output of which connections. */
export const dataMaskingRule: Kind = {
  name: 'DataMaskingRule',
  schema,
  fields: specFields(schema),
  identity: (name) => name,
  named: true,
  renamable: false,
  derived: () => ({}),
  createDefaults: () => ({}),
  check: () => [],
};
