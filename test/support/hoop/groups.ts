import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import type { Store } from './store.ts';

const audit = 'user_groups';

export const groupRoutes: readonly Route[] = [
  { method: 'GET', path: '/users/groups', access: 'reader', answer: list },
  { method: 'POST', path: '/users/groups', access: 'admin', answer: create, audit },
  { method: 'DELETE', path: '/users/groups/:name', access: 'admin', answer: remove, audit },
];

/** The groups that a user or a key has, and those that were created empty. */
function groupsOf(store: Store): ReadonlySet<string> {
  return new Set([...store.groups, ...store.identities.flatMap(({ groups }) => groups)]);
}

function list({ store, context }: Call): Reply {
  const groups = groupsOf(store);
  return ok(groups.size === 0 ? null : context.random.shuffle(groups));
}

function create({ text, store }: Call): Reply {
  const body = readBody(text, 'UserGroup');
  const name = body.string('name');
  body.require({ Name: name });
  if (groupsOf(store).has(name)) throw new ModelError(409, `group ${name} already exists`);
  store.groups.add(name);
  return created({ name });
}

/** Takes a group from users, keys and attributes; rows of access control and rules keep its name. */
function remove(call: Call): Reply {
  const { store, context } = call;
  const name = param(call, 'name');
  if (name === context.settings.roles.admin) throw new ModelError(422, `cannot delete admin group ${name}`);
  if (!groupsOf(store).has(name)) throw new ModelError(404, `group ${name} not found`);
  store.groups.delete(name);
  for (const [index, row] of store.identities.entries())
    if (row.groups.includes(name)) store.identities[index] = { ...row, groups: row.groups.filter((one) => one !== name) };
  store.groupAttributes.dropRight(name);
  return empty;
}
