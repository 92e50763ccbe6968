import { registry } from '../../kinds/index.ts';
import { toText } from '../../manifest/json-values.ts';
import { toKebabCase } from '../../manifest/draft/draft-manifests.ts';
import { configSchema } from '../../manifest/read-config.ts';
import { defaultsSchema } from '../../manifest/read-defaults.ts';
import { accessTestSchema } from '../../manifest/read-access-tests.ts';
import { policySchema } from '../../manifest/read-policies.ts';
import { gatewayNames } from '../../gateway/dialects/choose-dialect.ts';
import { asObject, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { fieldName, type KindNames, noNames } from '../../model/spec/spelling.ts';

/** Returns the schemas that the first lines of manifests, policies, defaults and the config name: the path below the project's folder, and the text. */
export function schemaFiles(): readonly (readonly [path: string, text: string])[] {
  const { toGateway } = gatewayNames();
  const kinds = [...registry.values()].map(({ name, schema }) => withGatewayNames(schema, toGateway.get(name) ?? noNames));
  return [...kinds, configSchema, defaultsSchema, policySchema, accessTestSchema].map((schema) => [
    schemaPath(toText(schema['title'])),
    `${JSON.stringify(forEditors(schema), null, 2)}\n`,
  ]);
}

/** Returns the path of a kind's schema below the project's folder. */
export function schemaPath(kind: string): string {
  return `schemas/${toKebabCase(kind)}.schema.json`;
}

/** Returns the schema of a kind with the names that gateways have for fields and values. */
function withGatewayNames(schema: JsonObject, names: KindNames): JsonObject {
  const definitions = asObject(schema['$defs']);
  const spec = asObject(definitions['spec']);
  const properties = Object.entries(asObject(spec['properties'])).flatMap(([field, node]) => {
    const others = Object.values(names.values[field] ?? {});
    const known = isObject(node) && Array.isArray(node['x-ostiary-known']) ? [...node['x-ostiary-known'], ...others] : undefined;
    const own = known !== undefined && isObject(node) ? { ...node, 'x-ostiary-known': known } : node;
    return [...new Set([field, fieldName(names, field)])].map((name) => [name, own] as const);
  });
  return { ...schema, $defs: { ...definitions, spec: { ...spec, properties: Object.fromEntries(properties) } } };
}

/** Returns a schema without annotations of Ostiary: editors suggest known values, show defaults, and do not know fields that no document may have. */
function forEditors(node: Json): Json {
  if (Array.isArray(node)) return node.map(forEditors);
  if (!isObject(node)) return node;
  const entries = Object.entries(node).filter(([key, value]) => !key.startsWith('x-ostiary-') && !isForbidden(value));
  const kept = Object.fromEntries(entries.map(([key, value]) => [key, forEditors(value)]));
  return { ...kept, ...describeDefault(node), ...suggestKnown(node['x-ostiary-known']) };
}

function isForbidden(value: Json): boolean {
  return isObject(value) && ('x-ostiary-read-only' in value || 'x-ostiary-no-default' in value);
}

/** Editors show the description alone. */
function describeDefault({ description, default: value, 'x-ostiary-omitted': omitted }: JsonObject): JsonObject {
  if (typeof description !== 'string' || value === undefined || omitted !== undefined) return {};
  return { description: `${description} Omitted: ${JSON.stringify(value)}.` };
}

/** Suggests values without excluding others, and without a list in every hover text, as `examples` would show. */
function suggestKnown(known: Json | undefined): JsonObject {
  return Array.isArray(known) ? { defaultSnippets: known.map((value) => ({ label: value, body: value })) } : {};
}
