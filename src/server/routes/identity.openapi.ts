import { groupNameSchema } from '../../model/served-rules.ts';
import { asText, type JsonObject, distinctSorted, textsIn } from '../../model/json.ts';
import { type ServedAnswer, type ApiSection, exactObject, idSchema, ignoredField, schemaRef, timeSchema } from './api-section.ts';
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
import { InvalidBody } from '../rejection.ts';
import { smallBodyBytes } from './request-body.ts';
import { authorOf, writeTargetOf } from './request-context.ts';
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
const { name: _name, groups: _groups, manager: _manager, ...readOnlyFields } = apiKey;

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
    ...Object.fromEntries(Object.keys(readOnlyFields).map((field) => [field, ignoredField])),
  },
};

type IdentityOptions = { readonly store: Store; readonly keys: readonly HashedKey[] };

/** Describes and serves keys, the caller, and groups. Only the response to the creation of a key contains its text. */
export function identitySection({ store, keys }: IdentityOptions): ApiSection {
  return {
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
        serve: async () => ({ json: (await listApiKeys(store.db)).map(apiKeyJson) }),
      },
      {
        route: 'POST /api-keys',
        id: 'createApiKey',
        summary: 'Create a key',
        body: 'ApiKeyBody',
        tagged: true,
        answer: [201, 'The key is valid.', 'ApiKeyWithKey'],
        errors: [409],
        mostBytes: smallBodyBytes * 4,
        async serve(c, body) {
          const { key, created } = await createApiKey(store.db, readApiKeyDraft(body), authorOf(c, store.now()));
          return { ...taggedKey(created), json: { ...apiKeyJson(created), key } };
        },
      },
      {
        route: 'GET /api-keys/:id',
        id: 'readApiKey',
        summary: 'Read a key',
        named: idParameter,
        tagged: true,
        answer: [200, 'The key.', 'ApiKey'],
        serve: async (c) => taggedKey(await findApiKey(store.db, writeTargetOf(c).text)),
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
        mostBytes: smallBodyBytes * 4,
        async serve(c, body) {
          const change = { target: writeTargetOf(c), draft: readApiKeyDraft(body), author: authorOf(c, store.now()) };
          return taggedKey(await replaceApiKey(store.db, change));
        },
      },
      {
        route: 'DELETE /api-keys/:id',
        id: 'revokeApiKey',
        summary: 'Revoke a key',
        description: 'Immediate and permanent. The key stays in the list.',
        named: idParameter,
        tagged: true,
        answer: [204, 'The key is revoked.'],
        async serve(c) {
          await revokeApiKey(store.db, { target: writeTargetOf(c), author: authorOf(c, store.now()) });
          return {};
        },
      },
      {
        route: 'GET /userinfo',
        id: 'readUserInfo',
        summary: 'Describe the caller',
        answer: [200, 'The owner of the key.', 'UserInfo'],
        async serve(c) {
          const caller = c.get('principal');
          return { json: { ...caller, is_admin: caller.role === 'admin', status: 'active', org_name: 'default' } };
        },
      },
      {
        route: 'GET /users/groups',
        id: 'listGroups',
        summary: 'List groups',
        description: 'The groups of active keys, sorted; null if all keys come from the environment.',
        answer: [200, 'The names.', { type: ['array', 'null'], items: text }],
        async serve() {
          const groups = await listGroups(store.db);
          // Only keys of the environment exist: an unlisted group then means nothing.
          if (groups === undefined) return { json: null };
          return { json: distinctSorted([...keys.flatMap(({ principal }) => principal.groups), ...groups]) };
        },
      },
    ],
  };
}

function readApiKeyDraft(body: JsonObject): ApiKeyDraft {
  const [given, manager, groups] = [body['name'], body['manager'], body['groups']];
  if (uuidPattern.test(asText(given))) throw new InvalidBody([{ field: '/name', reason: 'must not have the form of an ID' }]);
  return {
    name: asText(given),
    groups: [...new Set(textsIn(groups))],
    manager: asText(manager),
  };
}

function taggedKey(key: ApiKey): ServedAnswer {
  return { json: apiKeyJson(key), tag: entityTag(key), id: key.id };
}
