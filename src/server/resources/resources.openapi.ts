import {
  exactObject,
  idSchema,
  ifMatchParameter,
  pathParameter,
  pageSchema,
  pagingParameters,
  schemaRef,
  timeSchema,
  type ApiResponse,
  type ApiSection,
  type Parameter,
} from '../api/api-section.ts';
import { resourceBodySchema } from '../resource-schema.ts';

const text = { type: 'string' } as const;
const name = pathParameter('name', 'The name of the resource, or its id.');
const found = (description: string): ApiResponse => ({ description, schema: schemaRef('Resource'), headers: ['ETag'] });

function filter(of: string, description: string, schema: Parameter['schema'] = text): Parameter {
  return { name: of, in: 'query', description, schema };
}

/** Tells of the resources that connections belong to. */
export const resourceSection: ApiSection = {
  name: 'Resources',
  description: `Groupings of connections. Writing a connection makes the resource of its \`resource_name\`, with its type, subtype and agent;
one that exists is left as it is, and stays when its last connection leaves.`,
  schemas: {
    Resource: exactObject({
      id: idSchema,
      name: text,
      type: text,
      subtype: text,
      agent_id: { ...text, description: 'Empty: none.' },
      env_vars: {
        type: 'object',
        additionalProperties: { type: ['string', 'null'] },
        description: 'Secrets of all its connections, where one of the same key goes first; null: the key may not see the value.',
      },
      created_at: timeSchema,
      updated_at: timeSchema,
    }),
    ResourceBody: resourceBodySchema,
  },
  operations: [
    {
      method: 'get',
      path: '/resources',
      id: 'listResources',
      summary: 'List resources',
      description: `Always one page, sorted by name. The interface shows no parameters: filters are exact and hold all together, an empty one asks
for all; \`search\` is in any case, and no character of it stands for another.`,
      parameters: [
        ...pagingParameters,
        filter('search', 'A part of name, type or subtype.'),
        filter('name', 'The whole name.'),
        filter('type', 'The whole type.'),
        filter('subtype', 'The whole subtype.'),
        filter('agent_id', 'The id of the agent.', { ...text, pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$' }),
      ],
      responses: { 200: { description: 'One page.', schema: pageSchema(schemaRef('Resource')) } },
      errors: [422],
    },
    {
      method: 'post',
      path: '/resources',
      id: 'createResource',
      summary: 'Create a resource',
      body: schemaRef('ResourceBody'),
      responses: { 201: { ...found('It exists now.'), headers: ['Location', 'ETag'] } },
      errors: [409],
    },
    {
      method: 'get',
      path: '/resources/:name',
      id: 'readResource',
      summary: 'Read a resource',
      parameters: [name],
      responses: { 200: found('The resource.') },
    },
    {
      method: 'put',
      path: '/resources/:name',
      id: 'replaceResource',
      summary: 'Replace a resource',
      description: 'Its connections follow a new name. While it has any, its type and subtype cannot change.',
      parameters: [name, ifMatchParameter],
      body: schemaRef('ResourceBody'),
      responses: { 200: found('It is so now.') },
      errors: [409, 412],
    },
    {
      method: 'delete',
      path: '/resources/:name',
      id: 'deleteResource',
      summary: 'Delete a resource',
      description: 'One with connections is refused.',
      parameters: [name, ifMatchParameter],
      responses: { 204: { description: 'It is gone.' } },
      errors: [409, 412],
    },
  ],
};
