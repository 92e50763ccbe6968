import type { FieldRule, Protects, Shape, Kind } from '../model/kind.ts';
import { asObject, asArray, isObject, type Json, type JsonObject, textOrUndefined } from '../model/json.ts';

/** Returns the field rules of a manifest schema's spec, without read-only fields. */
export function specFields(schema: JsonObject): readonly FieldRule[] {
  return objectFields(schema, follow(schema, '#/$defs/spec'));
}

/** Returns a node with its local `$ref` (`#/$defs/name`) resolved; siblings of the `$ref` win. Throws where it is not in the schema. */
function dereference(schema: JsonObject, node: JsonObject): JsonObject {
  const reference = node['$ref'];
  return typeof reference === 'string' ? { ...follow(schema, reference), ...node } : node;
}

function follow(schema: JsonObject, reference: string): JsonObject {
  let node: Json | undefined = schema;
  for (const token of reference.slice(2).split('/')) node = isObject(node) ? node[token] : undefined;
  if (!isObject(node)) throw new Error(`the schema has no ${reference}`);
  return node;
}

function objectFields(schema: JsonObject, node: JsonObject): readonly FieldRule[] {
  const properties = asObject(node['properties']);
  const required = asArray(node['required']);
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property) || 'not' in property) return [];
    return [fieldRule(schema, name, dereference(schema, property), required.includes(name))];
  });
}

function fieldRule(schema: JsonObject, name: string, node: JsonObject, required: boolean): FieldRule {
  const type = typeOf(node);
  const reference = node['x-ostiary-ref'];
  const refers = isObject(reference) ? textOrUndefined(reference['kind']) : undefined;
  const omitted = oneOf(node['x-ostiary-omitted'], ['kept', 'derived'] as const) ?? 'empty';
  const protects = oneOf<Protects>(node['x-ostiary-protects'], [
    'entries',
    'union',
    'everybody',
    'fewer',
    'lower',
    'higher',
    'most',
    'threshold',
    'enabled',
    'disabled',
    'tools',
    'steps',
  ]);
  const late = oneOf(node['x-ostiary-late'], ['replaced', 'joined'] as const);
  const edge = oneOf(node['x-ostiary-edge'], ['rule', 'connection'] as const);
  const secret = oneOf(node['x-ostiary-secret'], ['base64', 'plain'] as const);
  const closed = node['x-ostiary-closed'];
  const dialect = textOrUndefined(node['x-ostiary-dialect']);
  const borrowed = textOrUndefined(node['x-ostiary-borrowed']);
  const implied = textOrUndefined(node['x-ostiary-implied']);
  const timed = textOrUndefined(node['x-ostiary-timed']);
  return {
    ...shapeOf(schema, node, type),
    name,
    required,
    empty: 'default' in node ? (node['default'] ?? null) : emptyOf(type),
    omitted,
    ...(protects === undefined ? {} : { protects }),
    ...(refers === undefined ? {} : { refers }),
    ...(edge === undefined ? {} : { edge }),
    ...(node['x-ostiary-by-name'] === true ? { byName: true } : {}),
    ...(node['x-ostiary-open'] === true ? { open: true } : {}),
    ...(secret === undefined ? {} : { secret }),
    ...(closed === undefined ? {} : { closed }),
    ...(node['x-ostiary-manifest-only'] === true ? { manifestOnly: true } : {}),
    ...(dialect === undefined ? {} : { dialect }),
    ...(borrowed === undefined ? {} : { borrowed }),
    ...(implied === undefined ? {} : { implied }),
    ...(timed === undefined ? {} : { timed }),
    ...(late === undefined ? {} : { late }),
    ...(typeof node['x-ostiary-counts'] === 'string' ? { counts: node['x-ostiary-counts'] } : {}),
  };
}

function shapeOf(schema: JsonObject, node: JsonObject, type: string): Shape {
  if (type === 'array') {
    if (node['x-ostiary-set'] === true) return { shape: 'set' };
    const key = textOrUndefined(node['x-ostiary-key']);
    const entry = isObject(node['items']) ? dereference(schema, node['items']) : {};
    return key === undefined ? { shape: 'list' } : { shape: 'keyed', key, fields: objectFields(schema, entry) };
  }
  if (type !== 'object') return { shape: 'scalar' };
  return isObject(node['properties']) ? { shape: 'object', fields: objectFields(schema, node) } : { shape: 'map' };
}

function typeOf(node: JsonObject): string {
  const type = node['type'];
  if (Array.isArray(type)) return String(type.find((entry: Json) => entry !== 'null') ?? 'string');
  return typeof type === 'string' ? type : 'string';
}

function emptyOf(type: string): Json {
  if (type === 'array') return [];
  if (type === 'object') return {};
  if (type === 'boolean') return false;
  return type === 'string' ? '' : null;
}

function oneOf<T extends string>(value: Json | undefined, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

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
  for (const [field, node] of Object.entries(asObject(spec['properties']))) {
    if (field in properties || !isObject(node) || node['x-ostiary-manifest-only'] === true) continue;
    if (node['x-ostiary-dialect'] !== undefined && node['x-ostiary-borrowed'] === undefined) continue;
    properties[field] = 'not' in node ? true : wireField(dereference(kind.schema, node));
  }
  const required = asArray(spec['required']);
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
    return { type: ['string', 'null'], writeOnly: true, description: node['x-ostiary-on-wire'] ?? '' };
  }
  if (node['x-ostiary-secret'] === 'base64') {
    return { ...withoutAnnotations(node), additionalProperties: { type: ['string', 'null'] } };
  }
  if (node['x-ostiary-ref'] !== undefined) {
    const reference = { type: 'string', pattern: uuid, $comment: 'an ID (UUID)' };
    return node['type'] === 'string' ? { ...withoutAnnotations(node), ...reference } : { ...withoutAnnotations(node), items: reference };
  }
  const traveling = node['x-ostiary-timed'] === undefined ? node : { ...node, items: { type: 'string', minLength: 1 } };
  // Where the field travels, an empty list is what null is in a manifest.
  return node['x-ostiary-implied'] === undefined ? plain(traveling) : { ...withoutAnnotations(traveling), default: [] };
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
