import type { Context, Hono } from 'hono';
import type { Json, JsonObject } from '../../model/json.ts';
import { InvalidBody, Rejection, requireNoProblems } from '../http/rejection.ts';
import { compileBodyValidator, readBody } from '../http/request-body.ts';
import { type AppEnv, authorOf, entityTag, writeTargetOf } from '../http/request-context.ts';
import { resourceBodySchema } from './resources.openapi.ts';
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
import { defaultPage, readPageRequest } from '../store/paging.ts';
import type { Store } from '../store/store.ts';
import { uuidPattern } from '../store/tables.ts';

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
