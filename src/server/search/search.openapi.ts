import type { JsonObject } from '../../model/json.ts';
import { exactObject, idSchema, schemaRef, type ApiSection } from '../api/api-section.ts';

const text = { type: 'string' } as const;
const mode = { enum: ['enabled', 'disabled'] } as const;
const described = { id: idSchema, name: text, type: text, subtype: text } as const;

const connection: JsonObject = exactObject({
  ...described,
  resource_name: text,
  status: { enum: ['online', 'offline'] },
  access_mode_runbooks: mode,
  access_mode_exec: mode,
  access_mode_connect: mode,
});

function listOf(entry: JsonObject): JsonObject {
  return { type: 'array', items: entry };
}

/** Describes the search. */
export const searchSection: ApiSection = {
  name: 'Search',
  description: 'One term in connections, resources and runbooks.',
  schemas: {
    SearchResult: exactObject({
      connections: listOf(connection),
      resources: listOf(exactObject(described)),
      runbooks: listOf(exactObject({ name: text, repository: text })),
      errors: { ...listOf(text), description: 'A line for each part that could not be searched.' },
    }),
  },
  operations: [
    {
      method: 'get',
      path: '/search',
      id: 'search',
      summary: 'Search for a term',
      description: `The interface does not show the name of the parameter; it is that of the public gateway. The term is plain text in any case:
connections and resources are found by name, type and subtype, runbooks by repository and path. Each list is sorted, without
limit, and empty where nothing is found. A part that fails is told in \`errors\`; the status stays 200.`,
      parameters: [
        { name: 'term', in: 'query', required: true, description: 'At least one character.', schema: { ...text, minLength: 1 } },
      ],
      responses: { 200: { description: 'What was found.', schema: schemaRef('SearchResult') } },
      errors: [400, 422],
    },
  ],
};
