import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { IdentityRow } from './rows.ts';
import { addIdentity } from './users.ts';

/** The keys of programs, and of agents that think: they act with their groups. */
const sorts = [
  { kind: 'key', path: '/api-keys', audit: 'api_keys', struct: 'APIKeyCreateRequest', what: 'api key', article: 'an' },
  { kind: 'agent', path: '/ai-agents', audit: 'ai_agents', struct: 'AIAgentCreateRequest', what: 'ai agent', article: 'an' },
] as const;

type Sort = (typeof sorts)[number];

export const keyRoutes: readonly Route[] = sorts.flatMap((sort): readonly Route[] => {
  const { path, audit } = sort;
  const one = `${path}/:nameOrID`;
  return [
    { method: 'GET', path, access: 'admin', answer: (call) => list(call, sort) },
    { method: 'POST', path, access: 'admin', answer: (call) => create(call, sort), audit },
    { method: 'GET', path: one, access: 'admin', answer: (call) => ok(view(call, find(call, sort))) },
    { method: 'PUT', path: one, access: 'admin', answer: (call) => replace(call, sort), audit },
    { method: 'DELETE', path: one, access: 'admin', answer: (call) => revoke(call, sort), audit },
    { method: 'POST', path: `${one}/reactivate`, access: 'admin', answer: (call) => reactivate(call, sort), audit },
  ];
});

function rowsOf({ store }: Call, { kind }: Sort): readonly IdentityRow[] {
  return store.identities.filter((row) => row.kind === kind);
}

function find(call: Call, sort: Sort): IdentityRow {
  const name = param(call, 'nameOrID');
  const row = rowsOf(call, sort).find((one) => one.name === name || one.id === name);
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

function save({ store }: Call, before: IdentityRow, row: IdentityRow): void {
  store.identities[store.identities.indexOf(before)] = row;
}

/** Null while there is none; revoked ones stay. */
function list(call: Call, sort: Sort): Reply {
  const rows = rowsOf(call, sort);
  return ok(rows.length === 0 ? null : rows.map((row) => view(call, row)));
}

function refuseTaken(call: Call, sort: Sort, name: string): void {
  if (rowsOf(call, sort).some((row) => row.name === name))
    throw new ModelError(409, `${sort.article} ${sort.what} with this name already exists`);
}

/** Creates a key; only this response shows it. */
function create(call: Call, sort: Sort): Reply {
  const { text, context, caller } = call;
  const body = readBody(text, sort.struct);
  const name = body.string('name');
  const groups = body.strings('groups') ?? [];
  body.require({ Name: name });
  refuseTaken(call, sort, name);
  const token = `hpk_${context.random.hex(43)}`;
  const at = context.clock.now();
  const row = addIdentity(context, { kind: sort.kind, name, email: name, token, groups, made: { by: caller.email, at } });
  return created({ ...view(call, row), created_at: nanoTime(at), key: token });
}

/** An absent field stays as it is. */
function replace(call: Call, sort: Sort): Reply {
  const body = readBody(call.text, sort.struct.replace('Create', 'Update'));
  const before = find(call, sort);
  const name = body.text('name') ?? before.name;
  if (name !== before.name) refuseTaken(call, sort, name);
  const row = { ...before, name, email: name, groups: body.strings('groups') ?? before.groups };
  save(call, before, row);
  return ok(view(call, row));
}

function revoke(call: Call, sort: Sort): Reply {
  const before = find(call, sort);
  save(call, before, { ...before, status: 'revoked', revoked: { by: call.caller.email, at: call.context.clock.now() } });
  return empty;
}

function reactivate(call: Call, sort: Sort): Reply {
  const before = find(call, sort);
  if (before.status === 'active') throw new ModelError(422, `cannot reactivate an active ${sort.what}`);
  const { revoked: _, ...rest } = before;
  const row = { ...rest, status: 'active' };
  save(call, before, row);
  return ok(view(call, row));
}

function view({ context }: Call, { id, name, token, status, groups, made, revoked }: IdentityRow): JsonObject {
  return {
    id,
    org_id: context.organisation.id,
    name,
    masked_key: `${token.slice(0, 8)}${'*'.repeat(39)}`,
    status,
    groups,
    created_by: made?.by ?? '',
    created_at: microTime(made?.at ?? 0n),
    ...(revoked === undefined ? {} : { deactivated_by: revoked.by, deactivated_at: microTime(revoked.at) }),
  };
}
