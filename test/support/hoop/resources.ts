import { readBody } from './body.ts';
import { created, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime } from './clock.ts';
import { viewRole } from './connection-view.ts';
import { ModelError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { byName, matchesLike } from './like.ts';
import { requestsPage, cutToPage, envelope, readPage } from './paging.ts';
import { readRole, saveRole, type Role } from './resource-roles.ts';
import { newResource, resourceProblem } from './resource-rows.ts';
import type { ConnectionRow, ResourceRow } from './rows.ts';
import { toStored } from './secrets.ts';

const audit = 'resources';

export const resourceRoutes: readonly Route[] = [
  { method: 'GET', path: '/resources', access: 'reader', answer: list },
  { method: 'POST', path: '/resources', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/resources/:name', access: 'reader', answer: (call) => ok(view(call, find(call))) },
  { method: 'PUT', path: '/resources/:name', access: 'admin', answer: replace, audit },
];

type ResourceBody = Pick<ResourceRow, 'name' | 'type' | 'subtype' | 'envVars' | 'agentId'> & { readonly roles: readonly Role[] };

/** Lists the resources; without page parameters, an array of at most fifty rows. */
function list(call: Call): Reply {
  const { store, query } = call;
  const page = readPage(call);
  const search = query.get('search') ?? '';
  const rows = [...store.resources.values()]
    .filter((row) => search === '' || [row.name, row.subtype, row.type].some((text) => matchesLike(text, `%${search}%`)))
    .filter((row) => (['name', 'subtype'] as const).every((key) => matchesLike(row[key], query.get(key) || '%')))
    .toSorted(byName);
  const roles = rolesByResource(call);
  const shown = cutToPage(rows, page).map((row) => viewListed(call, row, roles.get(row.name) ?? []));
  if (!requestsPage(call)) return ok(shown);
  return ok(envelope(rows, page, shown.length === 0 ? null : shown));
}

function create(call: Call): Reply {
  const { store, context } = call;
  const body = readResource(call.text);
  if (store.resources.has(body.name)) throw new ModelError(409, 'resource name already exists');
  const taken = body.roles.find((role) => store.connections.has(role.name));
  if (taken !== undefined) throw new ModelError(409, `connection with the same name, ${taken.name}`);
  if (body.roles.some((role) => role.subtype === 'mssql' && role.secret === null)) throw new ModelError(500, '');
  check(body, 'failed creating resource: ');
  const { roles, ...fields } = body;
  const row = newResource(context, fields);
  store.resources.set(row.name, row);
  for (const role of roles) saveRole(call, row.name, role);
  return created(view(call, row));
}

function replace(call: Call): Reply {
  const { store, context } = call;
  const body = readResource(call.text);
  const before = find(call);
  const used = connectionsOf(call, before.name);
  if (used.length > 0 && (before.type !== body.type || before.subtype !== body.subtype))
    throw new ModelError(403, 'cannot change resource type or subtype with existing connections');
  if (body.name !== before.name && store.resources.has(body.name)) throw new ModelError(409, 'resource name already exists');
  check(body, 'failed updating resource: ');
  const { roles: _, ...fields } = body;
  const row: ResourceRow = { ...before, ...fields, updatedAt: context.clock.now() };
  store.resources.delete(before.name);
  store.resources.set(row.name, row);
  for (const connection of used) store.saveConnection({ ...connection, resourceName: row.name });
  return ok(view(call, row));
}

function find(call: Call): ResourceRow {
  const row = call.store.resources.get(param(call, 'name'));
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

function readResource(text: string): ResourceBody {
  const body = readBody(text, 'ResourceRequest');
  const type = body.string('type');
  const envVars = body.map('env_vars');
  const result = {
    name: body.string('name'),
    type,
    subtype: body.string('subtype') || type,
    envVars: toStored(envVars),
    agentId: body.text('agent_id') || null,
    roles: (body.structs('roles', 'ResourceRoleRequest') ?? []).map(readRole),
  };
  body.require({ Name: result.name, Type: type, EnvVars: envVars });
  return result;
}

function check(body: ResourceBody, prefix: string): void {
  const problem = resourceProblem(body);
  if (problem !== undefined) throw new ModelError(500, `${prefix}${problem}`);
}

function connectionsOf({ store }: Call, resource: string): readonly ConnectionRow[] {
  return [...store.connections.values()].filter((row) => row.resourceName === resource);
}

function rolesByResource({ store }: Call): ReadonlyMap<string, readonly ConnectionRow[]> {
  const groups = new Map<string, ConnectionRow[]>();
  for (const row of store.connections.values()) {
    const group = groups.get(row.resourceName) ?? [];
    groups.set(row.resourceName, group);
    group.push(row);
  }
  return groups;
}

function viewListed(call: Call, row: ResourceRow, roles: readonly ConnectionRow[]): Json {
  const shown = roles.toSorted(byName).map((role) => viewRole(call, role));
  return { ...view(call, row), ...(shown.length === 0 ? {} : { roles: shown }) };
}

function view({ caller }: Call, row: ResourceRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    subtype: row.subtype,
    env_vars: caller.role === 'standard' ? {} : row.envVars,
    agent_id: row.agentId ?? '',
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
