import type { ModelContext } from './call.ts';
import type { JsonObject } from './json.ts';
import type { AccessRuleRow, AnalyzerRuleRow, ConnectionRow } from './rows.ts';
import type { Store } from './store.ts';

/** Returns the types of access-request rules that share a step with a type. */
export function overlappingTypes(type: string): readonly string[] {
  return type === 'jit_command' ? ['jit', 'command', 'jit_command'] : [type, 'jit_command'];
}

/** Returns the rule with the lowest id of the rules that match: the one that the database finds first. */
export function firstRule(store: Store, matches: (rule: AccessRuleRow) => boolean): AccessRuleRow | undefined {
  return [...store.accessRules.values()].filter(matches).toSorted((left, right) => (left.id < right.id ? -1 : 1))[0];
}

/** Returns the rule that governs a step of a connection: one by an attribute of the connection, else one by its name. */
export function governingRule(store: Store, connection: string, type: string): AccessRuleRow | undefined {
  const types = overlappingTypes(type);
  const attributes = store.connectionAttributes.leftsOf(connection);
  const byAttribute = (rule: AccessRuleRow): boolean =>
    attributes.some((attribute) => store.accessRuleAttributes.has(attribute, rule.name));
  return (
    firstRule(store, (rule) => types.includes(rule.accessType) && byAttribute(rule)) ??
    firstRule(store, (rule) => types.includes(rule.accessType) && rule.connectionNames.includes(connection))
  );
}

/** Returns the analyzer rule of a connection: the one that names it before one that shares an attribute with it. */
export function analyzerRuleOf(store: Store, connection: string): AnalyzerRuleRow | undefined {
  const attributes = store.connectionAttributes.leftsOf(connection);
  return [...store.analyzerRules.values()]
    .filter(
      (rule) =>
        rule.connectionNames.includes(connection) || attributes.some((attribute) => store.analyzerAttributes.has(attribute, rule.name)),
    )
    .toSorted((left, right) => right.connectionNames.length - left.connectionNames.length || (left.id < right.id ? -1 : 1))[0];
}

/** Which access-request rules govern a connection. */
export function accessLinksOf(
  { store }: ModelContext,
  row: ConnectionRow,
): { readonly command: boolean; readonly hasJit: boolean; readonly jit: JsonObject } {
  const jit = governingRule(store, row.name, 'jit');
  const seconds = jit?.accessMaxDuration ?? null;
  return {
    command: governingRule(store, row.name, 'command') !== undefined,
    hasJit: jit !== undefined,
    jit: seconds === null ? {} : { jit_access_duration_sec: seconds },
  };
}
