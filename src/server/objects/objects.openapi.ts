import type { JsonObject } from '../../model/json.ts';
import { objectSchema, objectBodySchema } from '../api/collection-schemas.ts';
import { ifMatchParameter, pathParameter, pageSchema, pagingParameters, schemaRef, type ApiResponse, type ApiSection } from '../api/api-section.ts';
import type { Collection } from '../collections.ts';

/** What only one kind has to say; `one` follows "a", `create` and `replace` tell of choices. */
type Words = { readonly one: string; readonly many: string; readonly create: string; readonly replace: string };

const words: Readonly<Record<string, Words>> = {
  Connection: {
    one: 'connection',
    many: 'Connections',
    create: `Filled in where the body leaves it out: \`command\` for databases of known subtypes, \`resource_name\` (the connection's name).
\`redact_enabled\` follows \`redact_types\`, whatever the body says.
A name that has the form of an id is refused. \`agent_id\` and \`guardrail_rules\` are ids that exist.`,
    replace: 'The name cannot change. Rules that `guardrail_rules` leaves out are detached; masking rules stay as they are.',
  },
  DataMaskingRule: {
    one: 'data masking rule',
    many: 'Data masking rules',
    create: '`score_threshold` and the scores of custom types are 0 to 1. A custom type has a regex, a deny list, or both.',
    replace: 'The name cannot change.',
  },
  GuardrailRule: {
    one: 'guardrail rule',
    many: 'Guardrail rules',
    create: 'A rule of another type than `deny_words_list` and `pattern_match` is kept as it is.',
    replace: 'The name may change. `connection_ids` and the `guardrail_rules` of connections are two views of the same.',
  },
  RunbookConfiguration: {
    one: 'runbook configuration',
    many: 'Runbook configurations',
    create: `An address with credentials, a query or a fragment in it is refused, and so is a second address of the same repository.
The repository is not contacted: whether it can be read, the listing of runbooks tells.`,
    replace: 'The address may change its form (https, ssh), not the repository that it names.',
  },
};

/** Tells of create, list, read, full replace and delete of one kind. */
export function collectionSection(collection: Collection): ApiSection {
  const { kind, path, byName } = collection;
  const { one, many, create, replace } = wordsOf(kind.name);
  const id = pathParameter('id', byName ? `The id of the ${one}, or its name.` : `The id of the ${one}.`);
  const body = schemaRef(`${kind.name}Body`);
  const found = (description: string): ApiResponse => ({ description, schema: schemaRef(kind.name), headers: ['ETag'] });
  const ofOne = { path: `${path}/:id`, parameters: [id] } as const;
  const written = { parameters: [id, ifMatchParameter], refuses: [409, 412] } as const;
  return {
    name: many,
    description: typeof kind.schema['description'] === 'string' ? kind.schema['description'] : '',
    schemas: { [kind.name]: objectSchema(collection), [`${kind.name}Body`]: objectBodySchema(collection) },
    operations: [
      {
        method: 'get',
        path,
        id: `list${kind.name}s`,
        summary: `List ${many.toLowerCase()}`,
        description: `Sorted by \`${collection.identityField}\`. Without parameters the whole list as an array; with \`page\` or \`page_size\` one page.`,
        parameters: pagingParameters,
        responses: { 200: { description: 'The list, or a page of it.', schema: listOf(kind.name) } },
        errors: [422],
      },
      {
        method: 'post',
        path,
        id: `create${kind.name}`,
        summary: `Create a ${one}`,
        description: create,
        body,
        responses: { 201: { ...found('It exists now.'), headers: ['Location', 'ETag'] } },
        errors: [409],
      },
      { ...ofOne, method: 'get', id: `read${kind.name}`, summary: `Read a ${one}`, responses: { 200: found(`The ${one}.`) } },
      {
        ...ofOne,
        ...written,
        method: 'put',
        id: `replace${kind.name}`,
        summary: `Replace a ${one}`,
        description: replace,
        body,
        responses: { 200: found('It is so now.') },
      },
      {
        ...ofOne,
        ...written,
        method: 'delete',
        id: `delete${kind.name}`,
        summary: `Delete a ${one}`,
        description: 'Its edges go with it.',
        responses: { 204: { description: 'It is gone.' } },
      },
    ],
  };
}

function wordsOf(kind: string): Words {
  return words[kind] ?? { one: kind, many: `${kind}s`, create: '', replace: '' };
}

function listOf(kind: string): JsonObject {
  return { oneOf: [{ type: 'array', items: schemaRef(kind) }, pageSchema(schemaRef(kind))] };
}
