import { groupNameSchema } from '../../model/served-rules.ts';
import { longestAccessSeconds } from '../rules/review-store.ts';
import { asText, compareText, type Json, type JsonObject } from '../../model/json.ts';
import { type ApiSection, exactObject, idSchema, ignoredField, schemaRef, timeSchema } from './api-section.ts';
import type { Context, Hono } from 'hono';
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
} from '../rules/api-keys.ts';
import type { HashedKey } from '../principal.ts';
import type { Collection } from '../collections.ts';
import { requireNoProblems } from '../rejection.ts';
import { type BodyValidator, bodyValidator } from '../rules/body-validator.ts';
import { readBody, smallBodyBytes } from './request-body.ts';
import { type AppEnv, authorOf, writeTargetOf } from './request-context.ts';
import { entityTag } from '../rules/versions.ts';
import type { Store } from '../store/store.ts';
import { uuidPattern } from '../store/schema.ts';

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const roleSchema = { enum: ['admin', 'auditor', 'standard'], description: 'Derived from the groups.' } as const;
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const;

const apiKey = {
  id: idSchema,
  name: text,
  masked_key: { ...text, description: 'The beginning of the key, to identify it.' },
  groups: texts,
  role: roleSchema,
  manager: text,
  status: { enum: ['active', 'revoked'] },
  created_by: text,
  created_at: timeSchema,
  deactivated_by: { type: ['string', 'null'] },
  deactivated_at: timeOrNull,
  last_used_at: { ...timeOrNull, description: 'Accurate to the minute.' },
} as const;

const idParameter = 'The ID of the key, or the name of an active key.';

// Names and groups appear in lists, logs and messages.
const printable = { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$', $comment: 'no control characters' } as const;
const nameSchema = { type: 'string', minLength: 1, maxLength: 254, ...printable } as const;
const readOnlyFields = [
  'id',
  'role',
  'masked_key',
  'status',
  'created_by',
  'created_at',
  'deactivated_by',
  'deactivated_at',
  'last_used_at',
];

/** The schema of a body that creates or replaces a key; read-only fields are accepted and ignored. */
const apiKeyBodySchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'ApiKey',
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { ...nameSchema, description: 'Unique among active keys.' },
    groups: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', ...groupNameSchema },
      default: [],
      description:
        'The groups determine the role (`admin`, otherwise `auditor`, otherwise standard), the connections that the key sees, and the reviews that it can approve. Names are compared exactly.',
    },
    manager: {
      type: 'string',
      maxLength: 254,
      ...printable,
      default: '',
      description: 'Objects created with the key have this value as `managed_by`, and only keys with this manager can write them.',
    },
    ...Object.fromEntries(readOnlyFields.map((field) => [field, ignoredField])),
  },
};

/** Describes keys, the caller, and groups. */
export const identitySection: ApiSection = {
  name: 'Keys',
  description: `Authentication. Not part of the interface. A key has groups: \`admin\` and \`auditor\` give these roles, any other
key has the role standard; all groups determine which connections it sees and which reviews it can approve.`,
  schemas: {
    ApiKey: exactObject(apiKey),
    ApiKeyWithKey: exactObject({
      ...apiKey,
      key: { ...text, description: 'The key. It is returned only once; the gateway stores only its hash.' },
    }),
    ApiKeyBody: apiKeyBodySchema,
    UserInfo: exactObject({
      id: idSchema,
      name: text,
      email: text,
      groups: texts,
      role: roleSchema,
      manager: text,
      is_admin: { type: 'boolean' },
      status: { const: 'active' },
      org_name: text,
    }),
  },
  operations: [
    {
      route: 'GET /api-keys',
      id: 'listApiKeys',
      summary: 'List keys',
      description: 'Sorted by name, revoked keys included.',
      answer: [200, 'The keys.', { type: 'array', items: schemaRef('ApiKey') }],
    },
    {
      route: 'POST /api-keys',
      id: 'createApiKey',
      summary: 'Create a key',
      body: 'ApiKeyBody',
      tagged: true,
      answer: [201, 'The key is valid.', 'ApiKeyWithKey'],
      errors: [409],
    },
    {
      route: 'GET /api-keys/:id',
      id: 'readApiKey',
      summary: 'Read a key',
      named: idParameter,
      tagged: true,
      answer: [200, 'The key.', 'ApiKey'],
    },
    {
      route: 'PUT /api-keys/:id',
      id: 'replaceApiKey',
      summary: 'Change the groups of a key',
      description: 'The key itself does not change. A revoked key cannot be changed.',
      named: idParameter,
      tagged: true,
      body: 'ApiKeyBody',
      answer: [200, 'The updated object.', 'ApiKey'],
      errors: [409],
    },
    {
      route: 'DELETE /api-keys/:id',
      id: 'revokeApiKey',
      summary: 'Revoke a key',
      description: 'Immediate and permanent. The key stays in the list.',
      named: idParameter,
      tagged: true,
      answer: [204, 'The key is revoked.'],
    },
    {
      route: 'GET /userinfo',
      id: 'readUserInfo',
      summary: 'Describe the caller',
      answer: [200, 'The owner of the key.', 'UserInfo'],
    },
    {
      route: 'GET /users/groups',
      id: 'listGroups',
      summary: 'List groups',
      description: 'The groups of active keys, sorted; null if all keys come from the environment.',
      answer: [200, 'The names.', { type: ['array', 'null'], items: text }],
    },
  ],
};

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
    c.json({
      name: 'ostiary',
      version,
      role: c.get('principal').role,
      organisation: 'default',
      borrowed_fields: borrowed,
      longest_access_duration: longestAccessSeconds,
    }),
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
  const validate = bodyValidator(apiKeyBodySchema);
  app.get('/api-keys', async (c) => c.json((await listApiKeys(store.db)).map((key) => apiKeyJson(key))));
  app.post('/api-keys', async (c) => {
    const draft = readApiKeyDraft(validate, await readBody(c.env.incoming, { limit: smallBodyBytes * 4 }));
    const { key, created } = await createApiKey(store.db, draft, authorOf(c, now()));
    c.header('Location', `/api-keys/${created.id}`);
    c.header('Cache-Control', 'no-store');
    return c.json({ ...apiKeyJson(created), key }, 201, { ETag: entityTag(created) });
  });
  app.get('/api-keys/:id', async (c) => respond(c, await findApiKey(store.db, c.req.param('id'))));
  app.put('/api-keys/:id', async (c) => {
    const draft = readApiKeyDraft(validate, await readBody(c.env.incoming, { limit: smallBodyBytes * 4 }));
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
  if (typeof given === 'string' && uuidPattern.test(given)) problems.push({ field: '/name', reason: 'must not have the form of an ID' });
  requireNoProblems(problems);
  const members = Array.isArray(groups) ? groups.flatMap((group: Json) => (typeof group === 'string' ? [group] : [])) : [];
  return {
    name: asText(given),
    groups: [...new Set(members)],
    manager: asText(manager),
  };
}

function respond(c: Context<AppEnv>, key: ApiKey): Response {
  return c.json(apiKeyJson(key), 200, { ETag: entityTag(key) });
}
