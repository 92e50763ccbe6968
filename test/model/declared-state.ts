import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { resourceId } from '../../src/model/resource.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import type { Manifest } from '../support/scenario.ts';

/** Returns the gateway that has exactly what manifests declare, read without Ostiary's code. */
export function stateOf(manifests: readonly Manifest[]): readonly MemoryResource[] {
  const connections = manifests.filter(({ kind }) => kind === 'Connection');
  return manifests.map(({ kind, metadata: { name }, spec }): MemoryResource => {
    const { guardrail_rules: _, connection_ids: listed, connection_selector: selector, secret, ...fields } = spec;
    const id = resourceId(kind, name);
    if (kind === 'Connection') {
      const secrets = Object.entries(storedSecrets(secret)).map(([key, value]) => [`/secret/${key}`, value] as const);
      return { id, spec: fields, secrets: Object.fromEntries(secrets) };
    }
    const wanted = isObject(selector) ? JSON.stringify(selector['match_tags']) : undefined;
    const attached = connections.filter((connection) => {
      const isListed = [listed, connection.spec['guardrail_rules']].some(
        (list, index) => Array.isArray(list) && list.some((end: Json) => end === (index === 0 ? connection.metadata.name : name)),
      );
      // A selector adds connections with a manifest only; the unmanaged ones of a gateway have none.
      return isListed || (wanted !== undefined && JSON.stringify(connection.spec['connection_tags']) === wanted);
    });
    return {
      id,
      spec: fields,
      edges: { connection_ids: attached.map((connection) => resourceId('Connection', connection.metadata.name)) },
    };
  });
}

/** Returns secrets of a manifest as the gateway stores them: base64. A source outside the manifests resolves to its own text. */
export function storedSecrets(secret: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(secret) ? secret : {});
  return Object.fromEntries(entries.map(([key, value]) => [key, btoa(isObject(value) ? plainText(key, value) : '')]));
}

function plainText(key: string, { value, valueFrom }: JsonObject): string {
  if (typeof value === 'string') return value;
  return valueFrom === undefined ? `${keptValue}${key}` : JSON.stringify(valueFrom);
}

// A credential that a manifest keeps has a value that no other key has. Nine bytes are twelve characters in base64.
const keptValue = 'the kept ';

/** Returns whether a secret of a manifest has the value that is live. */
export function isKept(value: string): boolean {
  return value.startsWith(btoa(keptValue));
}

/** The value of every credential from outside the manifests starts like this. */
export const sharedCredential: string = btoa('{"env":"OSTIARY_SECRET_').slice(0, -2);

/** Lists the attachments that manifests declare, from either end and by selectors. */
export function declaredEdges(manifests: readonly Manifest[]): ReadonlySet<string> {
  const bySelector = stateOf(manifests).flatMap(({ id, edges }) => (edges?.['connection_ids'] ?? []).map((end) => `${id} ${end}`));
  const listed = manifests.flatMap(({ kind, metadata: { name }, spec }) => {
    const [field, end] = kind === 'Connection' ? ['guardrail_rules', 'GuardrailRule'] : ['connection_ids', 'Connection'];
    const others = spec[field];
    return (Array.isArray(others) ? others : []).map((other) =>
      kind === 'Connection' ? `${end}/${String(other)} ${kind}/${name}` : `${kind}/${name} ${end}/${String(other)}`,
    );
  });
  return new Set([...bySelector, ...listed]);
}
