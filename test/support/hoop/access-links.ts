import type { ModelContext } from './call.ts';
import type { JsonObject } from './json.ts';
import type { ConnectionRow } from './rows.ts';

/** Which access-request rules reach a connection, by its name or by an attribute they share. */
export function accessLinksOf(
  { store }: ModelContext,
  row: ConnectionRow,
): { readonly command: boolean; readonly hasJit: boolean; readonly jit: JsonObject } {
  const reached = [...store.accessRules.values()].filter(
    (rule) =>
      rule.connectionNames.includes(row.name) ||
      store.accessRuleAttributes.leftsOf(rule.name).some((attribute) => store.connectionAttributes.has(attribute, row.name)),
  );
  const jit = reached.filter((rule) => rule.accessType.includes('jit'));
  const seconds = jit.flatMap((rule) => rule.accessMaxDuration ?? [])[0];
  return {
    command: reached.some((rule) => rule.accessType.includes('command')),
    hasJit: jit.length > 0,
    jit: seconds === undefined ? {} : { jit_access_duration_sec: seconds },
  };
}
