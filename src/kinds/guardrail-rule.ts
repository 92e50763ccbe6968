import schema from '../../schemas/guardrail-rule.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { specFields } from './fields.ts';

/** The kind GuardrailRule: what is blocked in the input and the output of which connections. */
export const guardrailRule: Kind = {
  name: 'GuardrailRule',
  schema,
  fields: specFields(schema),
  identity: (name) => name,
  named: true,
  renamable: true,
  derived: () => ({}),
  createDefaults: () => ({}),
  check: () => [],
};
