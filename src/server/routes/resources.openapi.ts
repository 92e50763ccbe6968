import { maxResourceNameLength, secretValueSchema, servedConnectionTypes } from '../../model/served-rules.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import {
  type ApiSection,
  type Parameter,
  exactObject,
  idSchema,
  ignoredField,
  pageSchema,
  pagingParameters,
  schemaRef,
  timeSchema,
  undecryptableFields,
} from './api-section.ts';
import type { Context, Hono } from 'hono';
import { decidingGroups } from '../rules/connection-access.ts';
import { InvalidBody, Rejection, requireNoProblems } from '../rejection.ts';
import { bodyValidator } from '../rules/body-validator.ts';
import { readBody } from './request-body.ts';
import { type AppEnv, authorOf, writeTargetOf } from './request-context.ts';
import { entityTag } from '../rules/versions.ts';
import {
  deleteResource,
  findResource,
  insertResource,
  listResourcePage,
  readResourceDraft,
  replaceResource,
  type ResourceDraft,
  type ResourceFilter,
  type StoredResource,
} from '../rules/resources.ts';
import { reportUndecryptable } from './report-undecryptable.ts';
import type { Log } from '../log.ts';
import { Undecryptable } from '../secrets.ts';
import { defaultPage, readPageRequest } from './paging.ts';
import { type Store } from '../store/store.ts';
import { uuidPattern } from '../store/schema.ts';

type ResourceRoutesOptions = { readonly store: Store; readonly now: () => Date; readonly log: Log };

/** Serves the resources that connections belong to: list with filters, read, create, replace and delete, by name. */
export function serveResources(app: Hono<AppEnv>, { store, now, log }: ResourceRoutesOptions): void {
  const validate = bodyValidator(resourceBodySchema);
  const read = async (c: Context<AppEnv>): Promise<ResourceDraft> => {
    const body = await readBody(c.env.incoming);
    requireNoProblems(validate(body));
    return readResourceDraft(body);
  };

  app.get('/resources', async (c) => {
    const page = readPageRequest(c.req) ?? defaultPage;
    const { rows, total } = await listResourcePage(store, filterOf(c), { visibleTo: decidingGroups(c.get('principal')), page });
    reportUndecryptable(
      c,
      log,
      rows.flatMap(({ secrets }) => (secrets instanceof Undecryptable ? [secrets] : [])),
    );
    return c.json({ data: rows.map((resource) => resourceJson(c, resource)), pages: { ...page, total } });
  });
  app.post('/resources', async (c) => {
    const created = await insertResource(store, await read(c), authorOf(c, now()));
    c.header('Location', `/resources/${encodeURIComponent(created.name)}`);
    return respond(c, created, 201);
  });
  app.get('/resources/:name', async (c) => {
    const { text } = writeTargetOf(c, 'name');
    const found = await findResource(store, { text, visibleTo: decidingGroups(c.get('principal')) });
    if (found === undefined) throw new Rejection(404, `unknown resource ${text}`);
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
  if (resource.secrets instanceof Undecryptable) throw resource.secrets;
  return c.json(resourceJson(c, resource), status, { ETag: entityTag(resource) });
}

function filterOf(c: Context<AppEnv>): ResourceFilter {
  const asked = (key: string): string => {
    const value = c.req.query(key) ?? '';
    if (value.includes('\0')) throw new InvalidBody([{ field: key, reason: 'contains a NUL character' }]);
    return value;
  };
  const agentId = asked('agent_id').toLowerCase();
  if (agentId !== '' && !uuidPattern.test(agentId)) throw new InvalidBody([{ field: 'agent_id', reason: 'must be the ID of an agent' }]);
  return { search: asked('search'), name: asked('name'), type: asked('type'), subtype: asked('subtype'), agentId };
}

/** Returns the JSON of a resource in responses. Only admins see the values of its environment. */
function resourceJson(c: Context<AppEnv>, { secrets, ...resource }: StoredResource): JsonObject {
  const { id, name, type, subtype, agentId, createdAt, updatedAt } = resource;
  const times = { created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
  const described = { id, name, type, subtype, agent_id: agentId, ...times };
  if (secrets instanceof Undecryptable) return { ...described, error: secrets.message };
  const values = Object.entries(typeof secrets['env_vars'] === 'object' ? secrets['env_vars'] : {});
  const seen = c.get('principal').role === 'admin';
  const environment = Object.fromEntries(values.map(([key, value]): [string, Json] => [key, seen ? value : null]));
  return { ...described, env_vars: environment };
}

const text = { type: 'string' } as const;
const name = 'The name or ID of the resource.';

function filter(of: string, description: string, schema: Parameter['schema'] = text): Parameter {
  return { name: of, in: 'query', description, schema };
}

/** The schema of a body that creates or replaces a resource; read-only fields are accepted and ignored. */
const resourceBodySchema: JsonObject = {
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
      description: 'Unique; renaming also updates its connections.',
    },
    type: { enum: [...servedConnectionTypes], description: 'Same values as the type of a connection.' },
    subtype: {
      type: ['string', 'null'],
      maxLength: 64,
      default: '',
      description: 'Same values as the subtype of a connection.',
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

const resource = {
  id: idSchema,
  name: text,
  type: text,
  subtype: text,
  agent_id: { ...text, description: 'Empty: none.' },
  created_at: timeSchema,
  updated_at: timeSchema,
} as const;

/** Describes the resources that connections belong to. */
export const resourceSection: ApiSection = {
  name: 'Resources',
  description: `Groups of connections. Writing a connection creates the resource of its \`resource_name\` with its type, subtype and agent;
an existing resource is not changed, and is kept after its last connection is deleted.`,
  schemas: {
    Resource: exactObject({
      ...resource,
      env_vars: {
        type: 'object',
        additionalProperties: { type: ['string', 'null'] },
        description:
          'Secrets of all its connections; a secret of a connection with the same key takes precedence. null: the key cannot see the value.',
      },
    }),
    UnreadableResource: exactObject({ ...resource, ...undecryptableFields }),
    ResourceBody: resourceBodySchema,
  },
  operations: [
    {
      route: 'GET /resources',
      id: 'listResources',
      summary: 'List resources',
      description: `Always one page, sorted by name. The parameters are not part of the interface: filters are exact and combined with AND, an empty filter
matches all; \`search\` ignores case and has no wildcards.`,
      parameters: [
        ...pagingParameters,
        filter('search', 'A part of name, type or subtype.'),
        filter('name', 'The exact name.'),
        filter('type', 'The exact type.'),
        filter('subtype', 'The exact subtype.'),
        filter('agent_id', 'The ID of the agent.', { ...text, pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$' }),
      ],
      answer: [200, 'One page.', pageSchema({ anyOf: [schemaRef('Resource'), schemaRef('UnreadableResource')] })],
      errors: [422],
    },
    {
      route: 'POST /resources',
      id: 'createResource',
      summary: 'Create a resource',
      body: 'ResourceBody',
      tagged: true,
      answer: [201, 'The created object.', 'Resource'],
      errors: [409],
    },
    {
      route: 'GET /resources/:name',
      id: 'readResource',
      summary: 'Read a resource',
      named: name,
      tagged: true,
      answer: [200, 'The resource.', 'Resource'],
    },
    {
      route: 'PUT /resources/:name',
      id: 'replaceResource',
      summary: 'Replace a resource',
      description: 'Renaming also updates its connections. While it has connections, its type and subtype cannot change.',
      named: name,
      tagged: true,
      body: 'ResourceBody',
      answer: [200, 'The updated object.', 'Resource'],
      errors: [409],
    },
    {
      route: 'DELETE /resources/:name',
      id: 'deleteResource',
      summary: 'Delete a resource',
      description: 'A resource with connections cannot be deleted.',
      named: name,
      tagged: true,
      answer: [204, 'The object is deleted.'],
      errors: [409],
    },
  ],
};
