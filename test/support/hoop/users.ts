import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route, type ModelContext } from './call.ts';
import { microTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { IdentityRow } from './rows.ts';

export const userRoutes: readonly Route[] = [
  { method: 'GET', path: '/users', access: 'auditor', answer: list },
  { method: 'GET', path: '/users/groups', access: 'reader', answer: listGroups },
  { method: 'POST', path: '/users/groups', access: 'admin', answer: createGroup, audit: 'user_groups' },
  { method: 'DELETE', path: '/users/groups/:name', access: 'admin', answer: removeGroup, audit: 'user_groups' },
  { method: 'POST', path: '/api-keys', access: 'admin', answer: createKey, audit: 'api_keys' },
];

/** Adds a caller with these groups. */
export function addIdentity(
  { store, random }: ModelContext,
  identity: Omit<IdentityRow, 'id' | 'active'> & { readonly id?: string },
): IdentityRow {
  const row = { ...identity, id: identity.id ?? random.uuid(), active: true };
  store.identities.push(row);
  for (const group of row.groups) store.groups.add(group);
  return row;
}

function list({ store }: Call): Reply {
  const users = store.identities.filter(({ kind }) => kind === 'user').toSorted((left, right) => (left.email < right.email ? 1 : -1));
  return ok(
    users.map(({ id, name, email, groups }) => ({ id, name, email, status: 'active', verified: true, slack_id: '', picture: '', groups })),
  );
}

function listGroups({ store, context }: Call): Reply {
  return ok(store.groups.size === 0 ? null : context.random.shuffle(store.groups));
}

function createGroup({ text, store }: Call): Reply {
  const body = readBody(text, 'UserGroup');
  const name = body.string('name');
  body.require({ Name: name });
  if (store.groups.has(name)) throw new ModelError(409, `group ${name} already exists`);
  store.groups.add(name);
  return created({ name });
}

function removeGroup(call: Call): Reply {
  const name = param(call, 'name');
  if (name === 'admin') throw new ModelError(422, `cannot delete admin group ${name}`);
  if (!call.store.groups.delete(name)) throw new ModelError(404, `group ${name} not found`);
  return empty;
}

/** Creates a key; only this response shows it. */
function createKey({ text, store, context }: Call): Reply {
  const body = readBody(text, 'APIKeyCreateRequest');
  const name = body.string('name');
  const groups = body.strings('groups') ?? [];
  body.require({ Name: name });
  if (store.identities.some((row) => row.kind === 'key' && row.name === name))
    throw new ModelError(409, 'an api key with this name already exists');
  const token = `hpk_${context.random.hex(43)}`;
  const row = addIdentity(context, { kind: 'key', name, email: name, token, groups });
  return created({
    id: row.id,
    org_id: context.organisation.id,
    name,
    groups,
    status: 'active',
    key: token,
    created_at: microTime(context.clock.now()),
  });
}
