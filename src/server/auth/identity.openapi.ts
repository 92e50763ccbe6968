import type { JsonObject } from '../../model/json.ts';
import {
  type ApiResponse,
  type ApiSection,
  exactObject,
  idSchema,
  ifMatchParameter,
  ignoredField,
  pathParameter,
  schemaRef,
  timeSchema,
} from '../api/api-section.ts';

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const role = { enum: ['admin', 'auditor', 'standard'], description: 'What the groups give.' } as const;
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const;

const apiKey = {
  id: idSchema,
  name: text,
  masked_key: { ...text, description: 'How the key begins, to tell it from others.' },
  groups: texts,
  role,
  manager: text,
  status: { enum: ['active', 'revoked'] },
  created_by: text,
  created_at: timeSchema,
  deactivated_by: { type: ['string', 'null'] },
  deactivated_at: timeOrNull,
  last_used_at: { ...timeOrNull, description: 'To the minute.' },
} as const;

const id = pathParameter('id', 'The id of the key, or the name of an active one.');
const found = (description: string): ApiResponse => ({ description, schema: schemaRef('ApiKey'), headers: ['ETag'] });
const body = schemaRef('ApiKeyBody');

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
export const apiKeyBodySchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'ApiKey',
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { ...nameSchema, description: 'Unique among the keys that are not revoked.' },
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

/** Describes keys, the caller, and groups. */
export const identitySection: ApiSection = {
  name: 'Keys',
  description: `Who comes in. The interface shows nothing of it. A key is in groups: \`admin\` and \`auditor\` give those roles, any other
key is standard; the rest say which reviews it may approve.`,
  schemas: {
    ApiKey: exactObject(apiKey),
    ApiKeyWithKey: exactObject({
      ...apiKey,
      key: { ...text, description: 'The key. It is shown here and never again; only its hash is kept.' },
    }),
    ApiKeyBody: apiKeyBodySchema,
    UserInfo: exactObject({
      id: idSchema,
      name: text,
      email: text,
      groups: texts,
      role,
      manager: text,
      is_admin: { type: 'boolean' },
      status: { const: 'active' },
      org_name: text,
    }),
  },
  operations: [
    {
      method: 'get',
      path: '/api-keys',
      id: 'listApiKeys',
      summary: 'List keys',
      description: 'Sorted by name, with those that were revoked.',
      responses: { 200: { description: 'The keys.', schema: { type: 'array', items: schemaRef('ApiKey') } } },
    },
    {
      method: 'post',
      path: '/api-keys',
      id: 'createApiKey',
      summary: 'Make a key',
      body,
      responses: {
        201: { description: 'It opens the gateway now.', schema: schemaRef('ApiKeyWithKey'), headers: ['Location', 'ETag'] },
      },
      errors: [409],
    },
    {
      method: 'get',
      path: '/api-keys/:id',
      id: 'readApiKey',
      summary: 'Read a key',
      parameters: [id],
      responses: { 200: found('The key.') },
    },
    {
      method: 'put',
      path: '/api-keys/:id',
      id: 'replaceApiKey',
      summary: 'Change what a key may do',
      description: 'The key itself stays. One that is revoked cannot change.',
      parameters: [id, ifMatchParameter],
      body,
      responses: { 200: found('It is so now.') },
      errors: [409, 412],
    },
    {
      method: 'delete',
      path: '/api-keys/:id',
      id: 'revokeApiKey',
      summary: 'Revoke a key',
      description: 'At once and for good. It stays in the list.',
      parameters: [id, ifMatchParameter],
      responses: { 204: { description: 'It opens nothing any more.' } },
      errors: [412],
    },
    {
      method: 'get',
      path: '/userinfo',
      id: 'readUserInfo',
      summary: 'Tell who the caller is',
      responses: { 200: { description: 'Whose key it is.', schema: schemaRef('UserInfo') } },
    },
    {
      method: 'get',
      path: '/users/groups',
      id: 'listGroups',
      summary: 'List groups',
      description: 'Those that active keys are in, sorted; null where there is no key but those of the environment.',
      responses: { 200: { description: 'The names.', schema: { type: ['array', 'null'], items: text } } },
    },
  ],
};
