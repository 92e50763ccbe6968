import apply from '../../schemas/documents/apply.schema.json' with { type: 'json' };
import diagnostics from '../../schemas/documents/diagnostics.schema.json' with { type: 'json' };
import drift from '../../schemas/documents/drift.schema.json' with { type: 'json' };
import explain from '../../schemas/documents/explain.schema.json' with { type: 'json' };
import plan from '../../schemas/documents/plan.schema.json' with { type: 'json' };
import pull from '../../schemas/documents/pull.schema.json' with { type: 'json' };
import test from '../../schemas/documents/test.schema.json' with { type: 'json' };
import { asObject, compareText, isObject, type Json, type JsonObject, objectsIn, textsIn } from '../model/json.ts';

const schemas: Readonly<Record<string, JsonObject>> = { apply, diagnostics, drift, explain, plan, pull, test };

type Writer = (value: unknown) => Json | undefined;

/**
 * Returns a value as the JSON that a definition of `schemas/documents/` describes, such as `plan#/$defs/change`: the fields of the schema in
 * its order, without those that are undefined and without lists that may not be empty. Keys of values that the schema leaves open are sorted.
 */
export function documentJson(value: unknown, definition: string): JsonObject {
  return asObject(writerAt(definition)(value));
}

const writers = new Map<string, Writer>();

function writerAt(definition: string): Writer {
  const [file = '', name = ''] = definition.split('#/$defs/');
  const writer = writers.get(definition) ?? writerOf(asObject(asObject(schemas[file]?.['$defs'])[name]), file);
  writers.set(definition, writer);
  return writer;
}

function writerOf(node: JsonObject, file: string): Writer {
  const { $ref: reference, oneOf, items, properties, type } = node;
  if (typeof reference === 'string') {
    const definition = reference.startsWith('#') ? `${file}${reference}` : reference.replace('.schema.json', '');
    return (value) => writerAt(definition)(value);
  }
  if (oneOf !== undefined) return alternativeWriter(objectsIn(oneOf), file);
  if (items !== undefined) {
    const write = writerOf(asObject(items), file);
    return (value) =>
      Array.isArray(value) && (value.length > 0 || node['minItems'] === undefined)
        ? value.map((one: unknown) => write(one)).filter((one) => one !== undefined)
        : undefined;
  }
  if (properties !== undefined) {
    const fields = Object.entries(asObject(properties)).map(([name, field]) => [name, writerOf(asObject(field), file)] as const);
    return (value) => {
      if (!isObject(value)) return undefined;
      const written: Record<string, Json> = {};
      for (const [name, write] of fields) {
        const one = value[name] === undefined ? undefined : write(value[name]);
        if (one !== undefined) written[name] = one;
      }
      return written;
    };
  }
  if (type === 'object') return (value) => (isObject(value) ? value : undefined);
  return type === undefined && node['enum'] === undefined && node['const'] === undefined ? sortedJson : scalarJson;
}

/** Writes an object as the first alternative whose required fields it has. */
function alternativeWriter(alternatives: readonly JsonObject[], file: string): Writer {
  const all = alternatives.map((one) => ({
    required: textsIn(one['required']),
    write: writerOf(one, file),
    isObject: one['properties'] !== undefined,
  }));
  return (value) => {
    if (!isObject(value)) return scalarJson(value);
    return all.find((one) => one.isObject && one.required.every((name) => value[name] !== undefined))?.write(value);
  };
}

function scalarJson(value: unknown): Json | undefined {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** Returns a value with sorted keys. */
export function sortedJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map((one: unknown) => sortedJson(one));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .toSorted(([left], [right]) => compareText(left, right))
        .map(([key, one]) => [key, sortedJson(one)]),
    );
  return value === 0 ? 0 : (scalarJson(value) ?? null);
}
