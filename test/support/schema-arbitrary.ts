import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { isObject, type Json, type JsonObject, textsIn } from '../../src/model/json.ts';

/** Any JSON value, including those that often break programs. */
export const anyJson: Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((value): Json => JSON.parse(JSON.stringify(value))),
  fc.constantFrom<Json>(
    '',
    '\u0000',
    '\ud800',
    'a\u202eb',
    '__proto__',
    '%',
    "'; drop table connections; --",
    '{{',
    -1,
    1e308,
    9007199254740992,
    [],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constant({ ['__proto__']: { a: 1 }, constructor: null }),
);

/** Generates values for a schema of the document. Nearly all are valid: `not` and `if` are only approximated. */
export function arbitraryOf(schema: Json | undefined, document: JsonObject): Arbitrary<Json> {
  if (!isObject(schema) || Object.keys(schema).length === 0) return anyJson;
  const { $ref: reference, allOf, oneOf, anyOf, ...rest } = schema;
  if (typeof reference === 'string') return arbitraryOf(follow(document, reference), document);
  if (Array.isArray(allOf)) return fc.oneof(...branches(rest, allOf).map((branch) => arbitraryOf(branch, document)));
  for (const choices of [oneOf, anyOf]) {
    if (Array.isArray(choices)) return fc.oneof(...choices.map((choice: Json) => arbitraryOf(merge(rest, choice), document)));
  }
  if ('const' in schema) return fc.constant(schema['const'] ?? null);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'].map((value: Json) => value));
  const types: readonly Json[] = Array.isArray(schema['type']) ? schema['type'] : [schema['type'] ?? 'object'];
  return fc.oneof(...types.map((type) => ofType(type, schema, document)));
}

function ofType(type: Json, schema: JsonObject, document: JsonObject): Arbitrary<Json> {
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer(bounds(schema, 'minimum', 'maximum'));
  if (type === 'number') return fc.double({ ...bounds(schema, 'minimum', 'maximum'), noNaN: true, noDefaultInfinity: true });
  if (type === 'string') return text(schema);
  if (type === 'array') {
    const entries = arbitraryOf(schema['items'], document);
    const lengths = { minLength: 0, maxLength: 3, ...lengthsOf(schema, 'minItems', 'maxItems') };
    return schema['uniqueItems'] === true
      ? fc.uniqueArray(entries, { ...lengths, comparator: (left, right) => JSON.stringify(left) === JSON.stringify(right) })
      : fc.array(entries, lengths);
  }
  return object(schema, document);
}

function object(schema: JsonObject, document: JsonObject): Arbitrary<Json> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const fields = Object.entries(properties).map(([name, property]) => [name, arbitraryOf(property, document)] as const);
  const known: Arbitrary<JsonObject> = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  const values = schema['additionalProperties'];
  if (!isObject(values)) return known;
  const keys = isObject(schema['propertyNames']) ? text(schema['propertyNames']) : fc.string({ minLength: 1 });
  return fc.dictionary(keys, arbitraryOf(values, document), { maxKeys: 3, noNullPrototype: true });
}

function text(schema: JsonObject): Arbitrary<string> {
  const lengths = { minLength: 0, maxLength: 20, ...lengthsOf(schema, 'minLength', 'maxLength') };
  if (schema['format'] === 'uuid') return fc.uuid();
  if (schema['format'] === 'HH:MM') return fc.stringMatching(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/);
  if (schema['format'] === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  const { pattern } = schema;
  if (typeof pattern !== 'string')
    return fc.string({ ...lengths, maxLength: Math.max(lengths.minLength, Math.min(lengths.maxLength, 20)) });
  const matching = textsLike(pattern);
  const others = textsIn(schema[otherPatterns]).map((one) => new RegExp(one, 'u'));
  const fits = (value: string): boolean => value.length >= lengths.minLength && value.length <= Math.max(lengths.maxLength, 60);
  return matching.filter((value) => fits(value) && others.every((one) => one.test(value)));
}

const matchingTexts = new Map<string, Arbitrary<string>>();

/** Returns the texts of a pattern; they take long to make, and the schemas have few patterns. */
function textsLike(pattern: string): Arbitrary<string> {
  const known = matchingTexts.get(pattern) ?? fc.stringMatching(new RegExp(pattern), { maxLength: 60 });
  matchingTexts.set(pattern, known);
  return known;
}

function bounds(schema: JsonObject, least: string, most: string): { readonly min?: number; readonly max?: number } {
  const [min, max] = [schema[least], schema[most]];
  return { ...(typeof min === 'number' ? { min } : {}), ...(typeof max === 'number' ? { max } : {}) };
}

function lengthsOf(schema: JsonObject, least: string, most: string): { readonly minLength?: number; readonly maxLength?: number } {
  const [min, max] = [schema[least], schema[most]];
  return { ...(typeof min === 'number' ? { minLength: min } : {}), ...(typeof max === 'number' ? { maxLength: max } : {}) };
}

/** Returns the schema, then the schema with each `if … then` applied. */
function branches(schema: JsonObject, conditions: readonly Json[]): readonly Json[] {
  const always = conditions.filter((condition) => !isObject(condition) || condition['if'] === undefined);
  const whole = always.reduce((merged, condition) => merge(merged, condition), schema);
  const made = conditions.flatMap((condition) =>
    isObject(condition) && condition['if'] !== undefined ? [merge(merge(whole, condition['then'] ?? {}), condition['if'])] : [],
  );
  return [whole, ...made];
}

/** Returns the patterns that a text must match in addition to the one that generates it. */
const otherPatterns = 'x-other-patterns';

function merge(left: Json, right: Json): Json {
  if (!isObject(left) || !isObject(right)) return right;
  const merged = new Map(Object.entries(left));
  for (const [key, value] of Object.entries(right)) {
    const known = merged.get(key);
    if (key === 'required' && Array.isArray(known) && Array.isArray(value)) merged.set(key, [...new Set([...known, ...value])]);
    else if (key === 'pattern' && typeof known === 'string') merged.set(otherPatterns, [...textsIn(merged.get(otherPatterns)), value]);
    else merged.set(key, known === undefined ? value : merge(known, value));
  }
  return Object.fromEntries(merged);
}

function follow(document: JsonObject, reference: string): Json {
  let node: Json = document;
  for (const token of reference.slice(2).split('/')) node = isObject(node) ? (node[token] ?? {}) : {};
  return node;
}
