import schema from '../../schemas/attribute.schema.json' with { type: 'json' };
import type { Kind } from '../model/kind.ts';
import { ruleKind } from './rule-kind.ts';

/** The kind Attribute: the groups that an attribute grants. What it is attached to follows from the connections and rules that name it. */
export const attribute: Kind = ruleKind('Attribute', schema, { renamable: true });
