import { wireSchema } from '../../kinds/fields.ts';
import type { FieldRule } from '../../model/kind.ts';
import { asObject, asText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import {
  type ApiSection,
  idSchema,
  ignoredField,
  listOrPage,
  pagingParameters,
  schemaRef,
  timeSchema,
  undecryptableFields,
} from './api-section.ts';
import type { Collection } from '../collections.ts';

/** Describes the create, list, read, replace and delete operations of one kind. */
export function collectionSection(collection: Collection): ApiSection {
  const { kind, path, byName, texts } = collection;
  const { one, many, create, replace } = texts;
  const body = `${kind.name}Body`;
  const ofOne = { named: byName ? `The ID or name of the ${one}.` : `The ID of the ${one}.`, tagged: true } as const;
  return {
    name: many,
    description: asText(kind.schema['description']),
    schemas: {
      [kind.name]: objectSchema(collection),
      ...(collection.hasSecrets ? { [unreadableName(kind.name)]: unreadableSchema(collection) } : {}),
      [`${kind.name}Body`]: objectBodySchema(collection),
    },
    operations: [
      {
        route: `GET ${path}`,
        id: `list${kind.name}s`,
        summary: `List ${many.toLowerCase()}`,
        description: `Sorted by \`${collection.identityField}\`. Without parameters the whole list as an array; with \`page\` or \`page_size\` one page.`,
        parameters: pagingParameters,
        answer: [200, 'The list, or a page of it.', listOf(collection)],
        errors: [422],
      },
      {
        route: `POST ${path}`,
        id: `create${kind.name}`,
        summary: `Create a ${one}`,
        description: create,
        tagged: true,
        body,
        answer: [201, 'The created object.', kind.name],
        errors: [409],
      },
      { ...ofOne, route: `GET ${path}/:id`, id: `read${kind.name}`, summary: `Read a ${one}`, answer: [200, `The ${one}.`, kind.name] },
      {
        ...ofOne,
        route: `PUT ${path}/:id`,
        id: `replace${kind.name}`,
        summary: `Replace a ${one}`,
        description: replace,
        body,
        answer: [200, 'The updated object.', kind.name],
        errors: [409],
      },
      {
        ...ofOne,
        route: `DELETE ${path}/:id`,
        id: `delete${kind.name}`,
        summary: `Delete a ${one}`,
        description: 'Its attachments are also deleted.',
        answer: [204, 'The object is deleted.'],
        errors: [409],
      },
    ],
  };
}

function listOf({ kind: { name }, hasSecrets }: Collection): JsonObject {
  const row = hasSecrets ? { anyOf: [schemaRef(name), schemaRef(unreadableName(name))] } : schemaRef(name);
  return listOrPage(row);
}

function unreadableName(kind: string): string {
  return `Unreadable${kind}`;
}

/** Returns the schema of an object in a list whose secrets cannot be decrypted. */
function unreadableSchema(collection: Collection): JsonObject {
  const { fields, readOnly } = collection;
  const schema = objectSchema(collection);
  const secrets = new Set([
    ...fields.flatMap(({ name, secret }) => (secret === undefined ? [] : [name])),
    ...Object.entries(readOnly).flatMap(([name, { source }]) => (typeof source === 'function' ? [name] : [])),
  ]);
  const shown = Object.entries(asObject(schema['properties'])).filter(([name]) => !secrets.has(name));
  const properties = { ...Object.fromEntries(shown), ...undecryptableFields };
  return { ...schema, title: unreadableName(collection.kind.name), required: Object.keys(properties), properties };
}

/** Read-only fields of objects of every kind. */
const commonFields: JsonObject = {
  id: idSchema,
  managed_by: { type: 'string', description: 'The manager of the object; if set, only this manager can write it.' },
  revision: {
    type: 'integer',
    description: 'Grows with every write of the object or of the attachments that it lists. The `ETag` of the object is `"ID.REVISION"`.',
  },
  created_at: timeSchema,
  updated_at: timeSchema,
};

const secretFields: JsonObject = {
  secrets_updated_at: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'The time of the last change of a secret; null if it never had one.',
  },
};

/** Returns the schema of a body that creates or replaces an object. It accepts read-only fields, so that a response can be sent back. */
export function objectBodySchema(collection: Collection): JsonObject {
  const { kind, readOnly, narrowed } = collection;
  const wire = wireSchema(kind);
  const ignored = [commonFields, secretFields, readOnly].flatMap((fields) => Object.keys(fields));
  const readOnlyFields = ignored.map((field) => [field, ignoredField]);
  return {
    ...wire,
    title: `${kind.name}Body`,
    properties: { ...fieldSchemas(collection), ...Object.fromEntries(readOnlyFields) },
    allOf: [{ properties: narrowed }],
  };
}

/** Returns the schema of an object in responses: exactly its fields, all of them. */
function objectSchema(collection: Collection): JsonObject {
  const { kind, fields, hasSecrets, readOnly } = collection;
  const wire = wireSchema(kind);
  const wireFields = fieldSchemas(collection);
  const properties: Record<string, Json> = { ...commonFields, ...(hasSecrets ? secretFields : {}) };
  if (kind.named) properties['name'] = wireFields['name'] ?? true;
  for (const field of fields) properties[field.name] = answeredSchema(field, wireFields[field.name]);
  for (const [field, { schema }] of Object.entries(readOnly)) properties[field] = schema;
  return { ...wire, required: Object.keys(properties), properties };
}

/** Returns the schemas of the fields of a kind, including the extra forms of `localForms`. */
function fieldSchemas({ kind, localForms }: Collection): JsonObject {
  const { properties } = wireSchema(kind);
  const entries = Object.entries(asObject(properties)).map(([field, schema]): [string, Json] => {
    const [local, pattern] = [localForms[field], isObject(schema) ? schema['pattern'] : undefined];
    const isWidened = local !== undefined && isObject(schema) && typeof pattern === 'string';
    return [field, isWidened ? { ...schema, pattern: `${pattern}|${local}` } : schema];
  });
  return Object.fromEntries(entries);
}

/** Returns the schema of a field in responses, where it always has a value: null only as the empty value or for a hidden secret. */
function answeredSchema({ empty, secret }: FieldRule, schema: Json | undefined): Json {
  if (!isObject(schema)) return schema ?? true;
  const { default: _default, writeOnly: _writeOnly, type, ...rest } = schema;
  const types = (Array.isArray(type) ? type : [type ?? 'string']).filter(
    (name: Json) => name !== 'null' || empty === null || secret === 'plain',
  );
  return { type: types.length === 1 ? (types[0] ?? 'string') : types, ...rest };
}
