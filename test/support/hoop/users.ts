import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route, type ModelContext } from './call.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { IdentityRow } from './rows.ts';

const audit = 'users';

export const userRoutes: readonly Route[] = [
  { method: 'GET', path: '/users', access: 'reader', answer: list },
  { method: 'POST', path: '/users', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/users/:emailOrID', access: 'reader', answer: (call) => ok(view(call.context, find(call))) },
  { method: 'PUT', path: '/users/:emailOrID', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/users/:emailOrID', access: 'admin', answer: remove, audit },
  { method: 'POST', path: '/localauth/login', access: 'public', answer: signIn },
];

type NewIdentity = Pick<IdentityRow, 'kind' | 'name' | 'email' | 'token' | 'groups'> & Partial<Pick<IdentityRow, 'id' | 'status' | 'made'>>;

/** Adds a caller with these groups. */
export function addIdentity({ store, random }: ModelContext, identity: NewIdentity): IdentityRow {
  const row = { status: 'active', picture: '', slackId: '', ...identity, id: identity.id ?? random.uuid() };
  store.identities.push(row);
  return row;
}

function list({ store, context }: Call): Reply {
  const users = store.identities.filter(({ kind }) => kind === 'user').toSorted((left, right) => (left.email < right.email ? 1 : -1));
  return ok(users.map((row) => view(context, row)));
}

/** Creates an active user, known by its address; only this response has another id, and shows the password. */
function create({ text, store, context }: Call): Reply {
  const body = readBody(text, 'User');
  const user = {
    name: body.string('name'),
    email: body.string('email'),
    picture: body.string('picture'),
    slackId: body.string('slack_id'),
    groups: body.strings('groups'),
  };
  const password = body.string('password');
  body.require({ Email: user.email });
  if (!isAddress(user.email)) throw new ModelError(422, 'invalid email');
  if (store.identities.some((row) => row.kind === 'user' && row.email === user.email))
    throw new ModelError(409, `user already exists with email ${user.email}`);
  store.passwords.set(user.email, password);
  const row = addIdentity(context, { ...user, kind: 'user', id: user.email, token: '', groups: [...new Set(user.groups)] });
  return created({
    ...view(context, row),
    id: context.random.uuid(),
    role: body.string('role'),
    groups: user.groups,
    ...(password === '' ? {} : { password }),
  });
}

/** Replaces a user; absent groups become none, but the caller stays an admin. */
function replace(call: Call): Reply {
  const { store, caller, text } = call;
  const before = find(call);
  const body = readBody(text, 'User');
  const sent = body.strings('groups');
  const status = body.string('status');
  body.require({ Email: body.string('email') });
  const own = before.id === caller.id;
  const { admin } = call.context.settings.roles;
  const groups = own && sent?.includes(admin) !== true ? [...(sent ?? []), admin] : sent;
  if (own && status !== 'active') throw new ModelError(422, 'cannot deactivate yourself');
  const row: IdentityRow = {
    ...before,
    name: body.string('name'),
    picture: body.string('picture'),
    slackId: body.string('slack_id'),
    status,
    groups: [...new Set(groups)],
  };
  store.identities[store.identities.indexOf(before)] = row;
  return ok({ ...view(call.context, row), groups });
}

function remove(call: Call): Reply {
  const row = find(call);
  if (row.id === call.caller.id) throw new ModelError(422, 'cannot delete yourself');
  call.store.identities.splice(call.store.identities.indexOf(row), 1);
  return empty;
}

/** Signs a user in: the token is a header of the response. */
function signIn({ text, store, context }: Call): Reply {
  const body = readBody(text, 'LocalUserRequest');
  const email = body.string('email');
  const index = store.identities.findIndex((row) => row.kind === 'user' && row.email === email);
  const row = store.identities[index];
  if (row === undefined) throw new ModelError(404, 'user not found');
  if (body.string('password') === '' || store.passwords.get(email) !== body.string('password'))
    throw new ModelError(401, 'invalid credentials');
  const token = row.token === '' ? `eyJ${context.random.hex(40)}` : row.token;
  store.identities[index] = { ...row, token };
  return { status: 200, body: { status: 'ok' }, headers: { token } };
}

function find(call: Call): IdentityRow {
  const name = param(call, 'emailOrID');
  const key = isAddress(name) ? 'email' : 'id';
  const row = call.store.identities.find((one) => one.kind === 'user' && one[key] === name);
  if (row === undefined) throw new ModelError(404, `user ${name} not found`);
  return row;
}

function isAddress(text: string): boolean {
  return /^[^\s@<>]+@[^\s@<>]+$/.test(text);
}

function view({ settings }: ModelContext, { id, name, email, status, slackId, picture, groups }: IdentityRow): JsonObject {
  const role = groups.includes(settings.roles.admin) ? 'admin' : 'standard';
  return { id, name, email, status, verified: true, role, slack_id: slackId, picture, groups };
}
