import schema from '../../schemas/runbook-rule.schema.json' with { type: 'json' };
import { type DocumentDiagnostic, documentError } from '../model/diagnostic.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { ruleKind } from './rule-kind.ts';

/** The kind RunbookRule: which groups can run which runbooks on which connections. */
export const runbookRule: Kind = ruleKind('RunbookRule', schema, {
  renamable: true,
  check: (_, stated) => (stated === undefined ? [] : unstatedConnections(stated)),
});

/** Reports a rule that does not say on which connections it allows runbooks: the gateway would take every connection. */
function unstatedConnections({ connections, connection_selector: selector }: JsonObject): readonly DocumentDiagnostic[] {
  if (Array.isArray(connections) || isObject(selector)) return [];
  return [
    documentError(
      'manifest/unstated-connections',
      ['connections'],
      'nothing says on which connections the rule allows runbooks',
      'add connections or connection_selector; connections: [] alone means every connection',
    ),
  ];
}
