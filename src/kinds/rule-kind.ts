import type { JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { specFields } from './fields.ts';

/** Returns a kind whose objects have a name on the gateway, and only the values that their manifests state. */
export function ruleKind(
  name: string,
  schema: JsonObject,
  { renamable, check = () => [] }: Pick<Kind, 'renamable'> & Partial<Pick<Kind, 'check'>>,
): Kind {
  const { 'x-ostiary-dialect': dialect, 'x-ostiary-combines': combines } = schema;
  return {
    name,
    schema,
    ...(typeof dialect === 'string' ? { dialect } : {}),
    ...(combines === 'granted' || combines === 'governed' ? { combines } : {}),
    fields: specFields(schema),
    identity: (own) => own,
    named: true,
    renamable,
    derived: () => ({}),
    createDefaults: () => ({}),
    check,
  };
}
