import { maxResourceNameLength, secretValueSchema, servedConnectionTypes } from '../../model/served-rules.ts';
import type { JsonObject, Json } from '../../model/json.ts';
import {
  type ApiResponse,
  type ApiSection,
  exactObject,
  idSchema,
  ifMatchParameter,
  ignoredField,
  pageSchema,
  pagingParameters,
  type Parameter,
  pathParameter,
  schemaRef,
  timeSchema,
} from '../api/api-section.ts';
import type { Context, Hono } from 'hono';
import { InvalidBody, Rejection, requireNoProblems } from '../http/rejection.ts';
import { compileBodyValidator, readBody } from '../http/request-body.ts';
import { type AppEnv, authorOf, entityTag, writeTargetOf } from '../http/request-context.ts';
import {
  insertResource,
  findResource,
  listResourcePage,
  readResourceDraft,
  deleteResource,
  replaceResource,
  type ResourceDraft,
  type ResourceFilter,
  type StoredResource,
} from './resources.ts';
import { defaultPage, readPageRequest, type Store } from '../store/store.ts';
import { uuidPattern } from '../store/migrations.ts';

/** Serves the resources that connections belong to: list with filters, read, create, replace and delete, by name. */
export function serveResources(app: Hono<AppEnv>, { store, now }: { readonly store: Store; readonly now: () => Date }): void {
  const validate = compileBodyValidator(resourceBodySchema);
  const read = async (c: Context<AppEnv>): Promise<ResourceDraft> => {
    const body = await readBody(c.env.incoming);
    requireNoProblems(validate(body));
    return readResourceDraft(body);
  };

  app.get('/resources', async (c) => {
    const page = readPageRequest(c.req) ?? defaultPage;
    const { rows, total } = await listResourcePage(store, filterOf(c), page);
    return c.json({ data: rows.map((resource) => resourceJson(c, resource)), pages: { ...page, total } });
  });
  app.post('/resources', async (c) => {
    const created = await insertResource(store, await read(c), authorOf(c, now()));
    c.header('Location', `/resources/${encodeURIComponent(created.name)}`);
    return respond(c, created, 201);
  });
  app.get('/resources/:name', async (c) => {
    const { text } = writeTargetOf(c, 'name');
    const found = await findResource(store, text);
    if (found === undefined) throw new Rejection(404, `there is no resource ${text}`);
    return respond(c, found, 200);
  });
  app.put('/resources/:name', async (c) =>
    respond(c, await replaceResource(store, writeTargetOf(c, 'name'), await read(c), authorOf(c, now())), 200),
  );
  app.delete('/resources/:name', async (c) => {
    await deleteResource(store, writeTargetOf(c, 'name'), authorOf(c, now()));
    return c.body(null, 204);
  });
}

function respond(c: Context<AppEnv>, resource: StoredResource, status: 200 | 201): Response {
  return c.json(resourceJson(c, resource), status, { ETag: entityTag(resource) });
}

function filterOf(c: Context<AppEnv>): ResourceFilter {
  const asked = (key: string): string => {
    const value = c.req.query(key) ?? '';
    if (value.includes('\0')) throw new InvalidBody([{ field: key, reason: 'holds a NUL' }]);
    return value;
  };
  const agentId = asked('agent_id').toLowerCase();
  if (agentId !== '' && !uuidPattern.test(agentId)) throw new InvalidBody([{ field: 'agent_id', reason: 'must be the id of an agent' }]);
  return { search: asked('search'), name: asked('name'), type: asked('type'), subtype: asked('subtype'), agentId };
}

/** Returns the JSON of a resource in responses. Only admins see the values of its environment. */
function resourceJson(c: Context<AppEnv>, { id, name, type, subtype, agentId, secrets, createdAt, updatedAt }: StoredResource): JsonObject {
  const values = Object.entries(typeof secrets['env_vars'] === 'object' ? secrets['env_vars'] : {});
  const seen = c.get('principal').role === 'admin';
  const environment = Object.fromEntries(values.map(([key, value]): [string, Json] => [key, seen ? value : null]));
  const times = { created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
  return { id, name, type, subtype, agent_id: agentId, env_vars: environment, ...times };
}

const text = { type: 'string' } as const;
const name = pathParameter('name', 'The name of the resource, or its id.');
const found = (description: string): ApiResponse => ({ description, schema: schemaRef('Resource'), headers: ['ETag'] });

function filter(of: string, description: string, schema: Parameter['schema'] = text): Parameter {
  return { name: of, in: 'query', description, schema };
}

/** The schema of a body that creates or replaces a resource; read-only fields are accepted and ignored. */
export const resourceBodySchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Resource',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'type'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: maxResourceNameLength,
      description: 'Unique; a new name is given to its connections too.',
    },
    type: { enum: [...servedConnectionTypes], description: 'The same kind of value as the type of a connection.' },
    subtype: {
      type: ['string', 'null'],
      maxLength: 64,
      default: '',
      description: 'The same kind of value as the subtype of a connection.',
    },
    agent_id: {
      type: ['string', 'null'],
      pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
      default: '',
      description: 'The agent of the resource; empty: none.',
    },
    env_vars: {
      type: ['object', 'null'],
      propertyNames: { pattern: '^(envvar|filesystem):[A-Za-z_][A-Za-z0-9_.-]*$', $comment: 'envvar:NAME or filesystem:NAME' },
      additionalProperties: { type: ['string', 'null'], ...secretValueSchema },
      default: {},
      description: 'Secrets of all connections of the resource, written like those of a connection; null keeps the stored value.',
    },
    id: ignoredField,
    created_at: ignoredField,
    updated_at: ignoredField,
  },
};

/** Describes the resources that connections belong to. */
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
