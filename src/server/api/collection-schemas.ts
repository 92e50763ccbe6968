import { wireSchema } from '../../kinds/wire.ts';
import type { FieldRule } from '../../model/field.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Collection } from '../collections.ts';
import { idSchema, ignoredField, timeSchema } from './api-section.ts';

/** What only the gateway knows of objects, whatever their kind. */
const commonFields: JsonObject = {
  id: idSchema,
  managed_by: { type: 'string', description: 'Who manages the object, which nobody else may then write; empty: nobody.' },
  created_at: timeSchema,
  updated_at: timeSchema,
};

const secretFields: JsonObject = {
  secrets_updated_at: { type: ['string', 'null'], format: 'date-time', description: 'When a secret last changed; null: never had one.' },
};

const readOnlySchemas: JsonObject = {
  default_database: { type: 'string', description: 'The value of the secret `envvar:DB`; empty where it is a reference, or not set.' },
  status: { enum: ['online', 'offline'], description: 'online: the agent is connected and alive.' },
  repository: { type: 'string', description: 'Host and path of the repository, which identify it.' },
};

/** The schema of a body that creates or replaces an object; read-only fields are let through, so that an answer can be sent back. */
export function objectBodySchema(collection: Collection): JsonObject {
  const { kind, readOnly, narrows } = collection;
  const wire = wireSchema(kind);
  const passed = [
    ...Object.keys(commonFields),
    ...Object.keys(secretFields),
    ...Object.keys(readOnly({ name: '', secrets: {}, online: false })),
  ];
  const readOnlyFields = passed.map((field) => [field, ignoredField]);
  return {
    ...wire,
    title: `${kind.name}Body`,
    properties: { ...fieldSchemas(collection), ...Object.fromEntries(readOnlyFields) },
    allOf: [{ properties: narrows }],
  };
}

/** The schema of an object as it is answered: every field, none more. */
export function objectSchema(collection: Collection): JsonObject {
  const { kind, fields, hasSecrets, readOnly } = collection;
  const wire = wireSchema(kind);
  const spoken = fieldSchemas(collection);
  const properties: Record<string, Json> = { ...commonFields, ...(hasSecrets ? secretFields : {}) };
  if (kind.named) properties['name'] = spoken['name'] ?? true;
  for (const field of fields) properties[field.name] = answeredSchema(field, spoken[field.name]);
  for (const field of Object.keys(readOnly({ name: '', secrets: {}, online: false }))) properties[field] = readOnlySchema(field);
  return { ...wire, required: Object.keys(properties), properties };
}

/** The fields of a kind as they travel, with the forms that they have here alone. */
function fieldSchemas({ kind, otherForms = {} }: Collection): JsonObject {
  const { properties } = wireSchema(kind);
  const entries = Object.entries(isObject(properties) ? properties : {}).map(([field, schema]): [string, Json] => {
    const [other, usual] = [otherForms[field], isObject(schema) ? schema['pattern'] : undefined];
    return [
      field,
      other !== undefined && isObject(schema) && typeof usual === 'string' ? { ...schema, pattern: `${usual}|${other}` } : schema,
    ];
  });
  return Object.fromEntries(entries);
}

function readOnlySchema(field: string): Json {
  const schema = readOnlySchemas[field];
  if (schema === undefined) throw new Error(`the read-only field ${field} has no schema`);
  return schema;
}

/** An answer has a value for every field: null only where that is the empty one, or a secret that is not shown. */
function answeredSchema({ empty, secret }: FieldRule, schema: Json | undefined): Json {
  if (!isObject(schema)) return schema ?? true;
  const { default: _default, writeOnly: _writeOnly, type, ...rest } = schema;
  const types = (Array.isArray(type) ? type : [type ?? 'string']).filter(
    (name: Json) => name !== 'null' || empty === null || secret === 'plain',
  );
  return { type: types.length === 1 ? (types[0] ?? 'string') : types, ...rest };
}
