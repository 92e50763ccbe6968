import type { Context, Hono } from 'hono';
import type { Json, JsonObject } from '../model/json.ts';
import { apiKeyJson, createApiKey, findApiKey, listApiKeys, replaceApiKey, revokeApiKey, type ApiKey, type ApiKeyDraft } from './auth/api-keys.ts';
import { ignoredField } from './api/api-section.ts';
import type { AppEnv } from './app-env.ts';
import { authorOf } from './http/request-context.ts';
import { readBody } from './http/request-body.ts';
import { entityTag } from './entity-tag.ts';
import { uuidPattern, type Store } from './objects/object-reader.ts';
import { InvalidBody } from './http/rejection.ts';
import { compileBodyValidator, type BodyValidator } from './validation.ts';
import type { WriteTarget } from './objects/object-writer.ts';

type Parts = { readonly store: Store; readonly now: () => Date };

// Names and groups stand in lists, logs and messages.
const printable = { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$', $comment: 'no control characters' } as const;
const name = { type: 'string', minLength: 1, maxLength: 254, ...printable } as const;
const readOnlyFields = ['id', 'role', 'masked_key', 'status', 'created_by', 'created_at', 'deactivated_by', 'deactivated_at', 'last_used_at'];

/** What a body that creates or replaces a key must be; read-only fields are let through and ignored. */
export const apiKeyBodySchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'ApiKey',
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { ...name, description: 'Unique among the keys that are not revoked.' },
    groups: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', minLength: 1, maxLength: 100, ...printable },
      default: [],
      description: 'Groups decide the role: `admin`, else `auditor`, else standard; and who approves reviews.',
    },
    manager: {
      type: 'string',
      maxLength: 254,
      ...printable,
      default: '',
      description: 'What the key creates carries it as `managed_by`, and only keys with this manager may write that.',
    },
    ...Object.fromEntries(readOnlyFields.map((field) => [field, ignoredField])),
  },
};

/** Serves keys: made, listed, changed and revoked by admins; a key itself is told once, when it is made. */
export function serveApiKeys(app: Hono<AppEnv>, { store, now }: Parts): void {
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
    return respond(c, await replaceApiKey(store.db, { reference: referenceOf(c), draft, author: authorOf(c, now()) }));
  });
  app.delete('/api-keys/:id', async (c) => {
    await revokeApiKey(store.db, { reference: referenceOf(c), author: authorOf(c, now()) });
    return c.body(null, 204);
  });
}

function readApiKeyDraft(validate: BodyValidator, body: JsonObject): ApiKeyDraft {
  const problems = [...validate(body)];
  const [given, manager, groups] = [body['name'], body['manager'], body['groups']];
  if (typeof given === 'string' && uuidPattern.test(given)) problems.push({ field: '/name', reason: 'must not have the form of an id' });
  if (problems.length > 0) throw new InvalidBody(problems);
  const members = Array.isArray(groups) ? groups.flatMap((group: Json) => (typeof group === 'string' ? [group] : [])) : [];
  return {
    name: typeof given === 'string' ? given : '',
    groups: [...new Set(members)],
    manager: typeof manager === 'string' ? manager : '',
  };
}

function referenceOf(c: Context<AppEnv>): WriteTarget {
  return { text: c.req.param('id') ?? '', ifMatch: c.req.header('If-Match') };
}

function respond(c: Context<AppEnv>, key: ApiKey): Response {
  return c.json(apiKeyJson(key), 200, { ETag: entityTag(key) });
}
