import { createHash } from 'node:crypto';
import type { DesiredResource } from '../model/desired.ts';
import { canonical, sortedKeys, type Json, type JsonObject } from '../model/json.ts';
import type { Change, EdgeChange, TargetIdentity, Value } from '../model/plan.ts';

/**
 * What two runs must agree on to be the same plan: target, actions, non-secret values, edges and secret sources.
 * Positions, reasons, the state of secrets and edges that are not ours are outside it; resources come sorted.
 */
export function digestOf(
  target: TargetIdentity,
  changes: readonly Change[],
  edges: readonly EdgeChange[],
  resources: readonly DesiredResource[],
): string {
  const document: Json = {
    target: { ...target },
    changes: changes
      .filter((change) => change.action === 'create' || !onlySecrets(change) || writesEdge(change, edges))
      .map(changeDocument),
    edges: edges.filter(({ action }) => action !== 'foreign').map(({ rule, connection, action }) => ({ rule, connection, action })),
  };
  return createHash('sha256').update(canonical(document)).update(sourcesOf(resources)).digest('hex');
}

/** Where every secret comes from, a line each. */
function sourcesOf(resources: readonly DesiredResource[]): string {
  let text = '';
  for (const { id, secrets } of resources) {
    for (const path of sortedKeys(secrets)) {
      const source = secrets[path]?.source ?? '';
      text += `\n${id.length} ${path.length} ${source.length} ${id} ${path} ${source}`;
    }
  }
  return text;
}

function changeDocument(change: Change): JsonObject {
  const fields = change.fields.filter((field) => !isSecret(field.before) && !isSecret(field.after));
  return {
    id: change.id,
    action: change.action,
    fields: fields.map((field) => ({ path: field.path, before: { ...field.before }, after: { ...field.after } })),
  };
}

function onlySecrets(change: Change): boolean {
  return change.fields.every((field) => isSecret(field.before) || isSecret(field.after));
}

function writesEdge(change: Change, edges: readonly EdgeChange[]): boolean {
  return edges.some((edge) => edge.by === (change.key ?? change.id));
}

function isSecret(value: Value): boolean {
  return 'secret' in value;
}
