import { isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { dereference } from './fields.ts';

const uuid = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/**
 * Returns the schema of the wire form: the manifest's spec and name, references as uuids, secrets as strings (null: not
 * shown). It omits manifest-only fields and those of other dialects, except borrowed ones; it allows read-only fields, which
 * the receiver ignores.
 */
export function wireSchema(kind: Kind): JsonObject {
  const spec = definition(kind, 'spec');
  const name = isObject(definition(kind, 'metadata')['properties']) ? definition(kind, 'metadata')['properties'] : {};
  const properties: Record<string, Json> = kind.named && isObject(name) && name['name'] !== undefined ? { name: plain(name['name']) } : {};
  for (const [field, node] of Object.entries(isObject(spec['properties']) ? spec['properties'] : {})) {
    if (field in properties || !isObject(node) || node['x-ostiary-manifest-only'] === true) continue;
    if (node['x-ostiary-dialect'] !== undefined && node['x-ostiary-borrowed'] === undefined) continue;
    properties[field] = 'not' in node ? true : wireField(dereference(kind.schema, node));
  }
  const required = Array.isArray(spec['required']) ? spec['required'] : [];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: kind.name,
    type: 'object',
    additionalProperties: false,
    required: kind.named ? ['name', ...required] : required,
    properties,
    ...(isObject(kind.schema['$defs']) && isObject(kind.schema['$defs']['rule'])
      ? { $defs: { rule: plain(kind.schema['$defs']['rule']) } }
      : {}),
  };
}

function definition(kind: Kind, name: string): JsonObject {
  return dereference(kind.schema, { $ref: `#/$defs/${name}` });
}

function wireField(node: JsonObject): Json {
  if (node['x-ostiary-secret'] === 'plain') {
    return { type: ['string', 'null'], writeOnly: true, description: node['x-ostiary-on-wire'] ?? node['description'] ?? '' };
  }
  if (node['x-ostiary-secret'] === 'base64') {
    return { ...withoutAnnotations(node), additionalProperties: { type: ['string', 'null'] } };
  }
  if (node['x-ostiary-ref'] !== undefined) {
    const reference = { type: 'string', pattern: uuid, $comment: 'an id, which is a UUID' };
    return node['type'] === 'string' ? { ...withoutAnnotations(node), ...reference } : { ...withoutAnnotations(node), items: reference };
  }
  return plain(node);
}

function withoutAnnotations(node: JsonObject): JsonObject {
  const kept = Object.entries(node).filter(([key]) => !key.startsWith('x-ostiary-') && key !== '$ref');
  const described = node['x-ostiary-on-wire'] === undefined ? {} : { description: node['x-ostiary-on-wire'] };
  const hint = node['x-ostiary-pattern-hint'] === undefined ? {} : { $comment: node['x-ostiary-pattern-hint'] };
  return { ...Object.fromEntries(kept.map(([key, value]) => [key, plain(value)])), ...described, ...hint };
}

function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => plain(entry));
  if (!isObject(value)) return value;
  const reference = value['$ref'];
  return typeof reference === 'string' ? { ...withoutAnnotations(value), $ref: reference } : withoutAnnotations(value);
}
