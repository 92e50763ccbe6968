import schema from '../../schemas/guardrail-rule.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { ruleKind } from './rule-kind.ts';

/** The kind GuardrailRule: what is blocked in the input and the output of which connections. */
export const guardrailRule: Kind = ruleKind('GuardrailRule', schema, { renamable: true });
