import { wireSchema } from '../../kinds/fields.ts';
import type { FieldRule } from '../../model/kind.ts';
import { asObject, asText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import {
  type ApiSection,
  idSchema,
  ignoredField,
  listOrPage,
  pageSchema,
  type Parameter,
  queryParameter,
  schemaRef,
  timeSchema,
  undecryptableFields,
} from './api-section.ts';
import { pagingParameters } from './paging.ts';
import type { Collection } from '../collections.ts';
import { collectionHandlers, type CollectionOptions } from './object-routes.ts';

/** Describes and serves the create, list, read, replace and delete of one kind. */
export function collectionSection(collection: Collection, options: CollectionOptions): ApiSection {
  const serve = collectionHandlers(collection, options);
  const { kind, path, byName, texts, filters, agentField } = collection;
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
        description: `Sorted by \`${collection.identityField}\`. ${filters === undefined ? wholeOrPage : filtered}`,
        parameters: [...pagingParameters, ...filterParameters(filters, agentField)],
        answer: [200, 'The list, or a page of it.', listOf(collection)],
        errors: [422],
        serve: serve.list,
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
        serve: serve.create,
      },
      {
        ...ofOne,
        route: `GET ${path}/:id`,
        id: `read${kind.name}`,
        summary: `Read a ${one}`,
        answer: [200, `The ${one}.`, kind.name],
        serve: serve.read,
      },
      {
        ...ofOne,
        route: `PUT ${path}/:id`,
        id: `replace${kind.name}`,
        summary: `Replace a ${one}`,
        description: replace,
        body,
        answer: [200, 'The updated object.', kind.name],
        errors: [409],
        serve: serve.replace,
      },
      {
        ...ofOne,
        route: `DELETE ${path}/:id`,
        id: `delete${kind.name}`,
        summary: `Delete a ${one}`,
        description: 'Its attachments are also deleted.',
        answer: [204, 'The object is deleted.'],
        errors: [409],
        serve: serve.remove,
      },
    ],
  };
}

const wholeOrPage = 'Without parameters the whole list as an array; with `page` or `page_size` one page.';
const filtered = `Always one page. The parameters are not part of the interface: filters are exact and combined with AND, an empty filter
matches all; \`search\` is a part of one of the other texts, ignores case and has no wildcards.`;

function filterParameters(filters: readonly string[] | undefined, agentField: string | undefined): readonly Parameter[] {
  if (filters === undefined) return [];
  return ['search', ...filters].map((name) =>
    queryParameter(name, name === 'search' ? 'A part of a text.' : `The exact \`${name}\`.`, {
      type: 'string',
      ...(name === agentField
        ? { pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$', $comment: 'the ID of an agent' }
        : {}),
    }),
  );
}

function listOf({ kind: { name }, hasSecrets, filters }: Collection): JsonObject {
  const row = hasSecrets ? { anyOf: [schemaRef(name), schemaRef(unreadableName(name))] } : schemaRef(name);
  return filters === undefined ? listOrPage(row) : pageSchema(row);
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
function objectBodySchema(collection: Collection): JsonObject {
  const { kind, readOnly, narrowed } = collection;
  const wire = wireSchema(kind);
  const ignored = [commonFields, secretFields, readOnly].flatMap((fields) => Object.keys(fields));
  const readOnlyFields = ignored.map((field) => [field, ignoredField]);
  return {
    ...wire,
    title: `${kind.name}Body`,
    properties: { ...asObject(wireSchema(kind)['properties']), ...Object.fromEntries(readOnlyFields) },
    allOf: [{ properties: narrowed }],
  };
}

/** Returns the schema of an object in responses: exactly its fields, all of them. */
function objectSchema(collection: Collection): JsonObject {
  const { kind, fields, hasSecrets, readOnly } = collection;
  const wire = wireSchema(kind);
  const wireFields = asObject(wire['properties']);
  const properties: Record<string, Json> = { ...commonFields, ...(hasSecrets ? secretFields : {}) };
  if (kind.named) properties['name'] = wireFields['name'] ?? true;
  for (const field of fields) properties[field.name] = answeredSchema(field, wireFields[field.name]);
  for (const [field, { schema }] of Object.entries(readOnly)) properties[field] = schema;
  return { ...wire, required: Object.keys(properties), properties };
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
