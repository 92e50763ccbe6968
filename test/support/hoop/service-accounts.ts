import { readBody, type Body } from './body.ts';
import { created, ok, param, type Call, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { uuidOf } from './random.ts';
import type { IdentityRow } from './rows.ts';
import { addIdentity } from './users.ts';

const audit = 'service_accounts';

/** Clients of the identity provider (gateway/api/serviceaccount). Nothing removes one. */
export const serviceAccountRoutes: readonly Route[] = [
  { method: 'GET', path: '/serviceaccounts', access: 'reader', answer: list },
  { method: 'POST', path: '/serviceaccounts', access: 'admin', answer: create, audit },
  { method: 'PUT', path: '/serviceaccounts/:subject', access: 'admin', answer: replace, audit },
];

function rowsOf({ store }: Call): readonly IdentityRow[] {
  return store.identities.filter(({ kind }) => kind === 'account');
}

function list(call: Call): Reply {
  const rows = rowsOf(call);
  return ok(rows.length === 0 ? null : rows.map((row) => view(call, row)));
}

function readAccount(text: string): Body {
  const body = readBody(text, 'ServiceAccount');
  body.require({ Subject: body.string('subject') });
  const status = body.string('status');
  if (!['active', 'inactive'].includes(status)) throw new ModelError(422, `wrong status value ${JSON.stringify(status)}`);
  return body;
}

function fieldsOf(body: Body): Pick<IdentityRow, 'name' | 'email' | 'groups' | 'status'> {
  return {
    name: body.string('name'),
    email: body.string('subject'),
    groups: body.strings('groups') ?? [],
    status: body.string('status'),
  };
}

function create(call: Call): Reply {
  const body = readAccount(call.text);
  const fields = fieldsOf(body);
  if (rowsOf(call).some(({ email }) => email === fields.email)) throw new ModelError(409, 'resource already exists');
  const id = uuidOf(`serviceaccount/${fields.email}`);
  return created(view(call, addIdentity(call.context, { kind: 'account', token: '', ...fields, id })));
}

function replace(call: Call): Reply {
  const { store } = call;
  const body = readAccount(call.text);
  const subject = param(call, 'subject');
  const before = rowsOf(call).find(({ email }) => email === subject);
  if (before === undefined) throw new ModelError(404, 'resource not found');
  const row = { ...before, ...fieldsOf(body) };
  store.identities[store.identities.indexOf(before)] = row;
  return ok(view(call, row));
}

function view({ context }: Call, { id, email, name, status, groups }: IdentityRow): JsonObject {
  return { id, org_id: context.organisation.id, subject: email, name, status, groups };
}
