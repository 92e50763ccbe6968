import type { Context, Hono } from 'hono';
import { compareText, type Json, type JsonObject } from '../../model/json.ts';
import {
  type ApiKey,
  type ApiKeyDraft,
  apiKeyJson,
  createApiKey,
  findApiKey,
  listApiKeys,
  listGroups,
  replaceApiKey,
  revokeApiKey,
} from './api-keys.ts';
import { apiKeyBodySchema } from './identity.openapi.ts';
import type { HashedKey } from './principal.ts';
import type { Collection } from '../collections.ts';
import { requireNoProblems } from '../http/rejection.ts';
import { type BodyValidator, compileBodyValidator, readBody } from '../http/request-body.ts';
import { type AppEnv, authorOf, entityTag, writeTargetOf } from '../http/request-context.ts';
import type { Store } from '../store/store.ts';
import { uuidPattern } from '../store/tables.ts';

type IdentityOptions = {
  readonly store: Store;
  readonly keys: readonly HashedKey[];
  readonly version: string;
  readonly collections: readonly Collection[];
};

/** Serves information about the gateway, the caller, and all groups. */
export function serveIdentity(app: Hono<AppEnv>, { store, keys, version, collections }: IdentityOptions): void {
  const borrowed = collections.flatMap(({ kind, fields }) =>
    fields.flatMap((field) => (field.borrowed === undefined ? [] : [`${kind.name}.${field.name}`])),
  );
  app.get('/serverinfo', (c) =>
    c.json({ name: 'ostiary', version, role: c.get('principal').role, organisation: 'default', borrowed_fields: borrowed }),
  );
  app.get('/userinfo', (c) => {
    const { id, name, email, groups, role, manager } = c.get('principal');
    return c.json({ id, name, email, groups, role, manager, is_admin: role === 'admin', status: 'active', org_name: 'default' });
  });
  app.get('/users/groups', async (c) => {
    const groups = await listGroups(store.db);
    // Only keys of the environment exist: an unlisted group then means nothing.
    if (groups === undefined) return c.json(null);
    return c.json([...new Set([...keys.flatMap(({ principal }) => principal.groups), ...groups])].toSorted(compareText));
  });
}

type ApiKeyOptions = { readonly store: Store; readonly now: () => Date };

/** Serves keys to admins; the response to a create is the only one that contains the key text. */
export function serveApiKeys(app: Hono<AppEnv>, { store, now }: ApiKeyOptions): void {
  const validate = compileBodyValidator(apiKeyBodySchema);
  app.get('/api-keys', async (c) => c.json((await listApiKeys(store.db)).map((key) => apiKeyJson(key))));
  app.post('/api-keys', async (c) => {
    const draft = readApiKeyDraft(validate, await readBody(c.env.incoming));
    const { key, created } = await createApiKey(store.db, draft, authorOf(c, now()));
    c.header('Location', `/api-keys/${created.id}`);
    c.header('Cache-Control', 'no-store');
    return c.json({ ...apiKeyJson(created), key }, 201, { ETag: entityTag(created) });
  });
  app.get('/api-keys/:id', async (c) => respond(c, await findApiKey(store.db, c.req.param('id'))));
  app.put('/api-keys/:id', async (c) => {
    const draft = readApiKeyDraft(validate, await readBody(c.env.incoming));
    return respond(c, await replaceApiKey(store.db, { target: writeTargetOf(c), draft, author: authorOf(c, now()) }));
  });
  app.delete('/api-keys/:id', async (c) => {
    await revokeApiKey(store.db, { target: writeTargetOf(c), author: authorOf(c, now()) });
    return c.body(null, 204);
  });
}

function readApiKeyDraft(validate: BodyValidator, body: JsonObject): ApiKeyDraft {
  const problems = [...validate(body)];
  const [given, manager, groups] = [body['name'], body['manager'], body['groups']];
  if (typeof given === 'string' && uuidPattern.test(given)) problems.push({ field: '/name', reason: 'must not have the form of an id' });
  requireNoProblems(problems);
  const members = Array.isArray(groups) ? groups.flatMap((group: Json) => (typeof group === 'string' ? [group] : [])) : [];
  return {
    name: typeof given === 'string' ? given : '',
    groups: [...new Set(members)],
    manager: typeof manager === 'string' ? manager : '',
  };
}

function respond(c: Context<AppEnv>, key: ApiKey): Response {
  return c.json(apiKeyJson(key), 200, { ETag: entityTag(key) });
}
