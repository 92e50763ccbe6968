import { asObject, isObject, type Json, type JsonObject } from '../model/json.ts';

/** Returns the schema node of the value at the tokens; undefined if the schema has no such place. */
export function findNode(schema: JsonObject, tokens: readonly string[]): JsonObject | undefined {
  let node: JsonObject | undefined = schema;
  for (const token of tokens) node = node === undefined ? undefined : findChildNode(schema, node, token);
  return node;
}

/** Returns the node of one child: a field, a map's value or a list's entry. It searches alternatives in order. */
export function findChildNode(schema: JsonObject, node: JsonObject, token: string): JsonObject | undefined {
  const fields = fieldNodes(node);
  const own = Object.hasOwn(fields, token) ? fields[token] : (node['additionalProperties'] ?? node['items']);
  if (isObject(own)) return resolveReference(schema, own);
  for (const alternatives of [node['anyOf'], node['oneOf']]) {
    if (!Array.isArray(alternatives)) continue;
    for (const alternative of alternatives) {
      const child: JsonObject | undefined = isObject(alternative)
        ? findChildNode(schema, resolveReference(schema, alternative), token)
        : undefined;
      if (child !== undefined) return child;
    }
  }
  return undefined;
}

/** Returns the fields that the node itself declares. */
export function fieldNodes(node: JsonObject): JsonObject {
  const fields = node['properties'];
  return asObject(fields);
}

/** Resolves a local `$ref`; keywords beside it win. */
export function resolveReference(schema: JsonObject, node: JsonObject): JsonObject {
  const reference = node['$ref'];
  if (typeof reference !== 'string') return node;
  let target: Json | undefined = schema;
  for (const token of reference.slice(2).split('/')) target = isObject(target) ? target[token] : undefined;
  return isObject(target) ? { ...target, ...node } : node;
}

/** Returns a string annotation of the node. */
export function readAnnotation(node: JsonObject | undefined, name: string): string | undefined {
  const text = node?.[name];
  return typeof text === 'string' ? text : undefined;
}

/** Returns whether the node describes a map with arbitrary keys. */
export function isOpenMap(node: JsonObject | undefined): boolean {
  return isObject(node?.['additionalProperties']);
}
