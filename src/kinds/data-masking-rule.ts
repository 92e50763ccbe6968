import schema from '../../schemas/data-masking-rule.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { ruleKind } from './rule-kind.ts';

/** The kind DataMaskingRule: which types of text are masked in the output of which connections. */
export const dataMaskingRule: Kind = ruleKind('DataMaskingRule', schema, { renamable: false });
