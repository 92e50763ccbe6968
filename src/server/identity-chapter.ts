import { apiKeySchema } from './api-key-routes.ts';
import { exactly, idSchema, ifMatch, inPath, refer, timeSchema, type Answer, type Chapter } from './api/operation.ts';

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

const id = inPath('id', 'The id of the key, or the name of an active one.');
const found = (description: string): Answer => ({ description, schema: refer('ApiKey'), headers: ['ETag'] });
const body = refer('ApiKeyBody');

/** Tells of keys, of who the caller is, and of groups. */
export const identityChapter: Chapter = {
  name: 'Keys',
  description: `Who comes in. The interface shows nothing of it. A key is in groups: \`admin\` and \`auditor\` give those roles, any other
key is standard; the rest say which reviews it may approve.`,
  schemas: {
    ApiKey: exactly(apiKey),
    ApiKeyWithKey: exactly({
      ...apiKey,
      key: { ...text, description: 'The key. It is shown here and never again; only its hash is kept.' },
    }),
    ApiKeyBody: apiKeySchema,
    UserInfo: exactly({
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
      answers: { 200: { description: 'The keys.', schema: { type: 'array', items: refer('ApiKey') } } },
    },
    {
      method: 'post',
      path: '/api-keys',
      id: 'createApiKey',
      summary: 'Make a key',
      body,
      answers: {
        201: { description: 'It opens the gateway now.', schema: refer('ApiKeyWithKey'), headers: ['Location', 'ETag'] },
      },
      refuses: [409],
    },
    {
      method: 'get',
      path: '/api-keys/:id',
      id: 'readApiKey',
      summary: 'Read a key',
      parameters: [id],
      answers: { 200: found('The key.') },
    },
    {
      method: 'put',
      path: '/api-keys/:id',
      id: 'replaceApiKey',
      summary: 'Change what a key may do',
      description: 'The key itself stays. One that is revoked cannot change.',
      parameters: [id, ifMatch],
      body,
      answers: { 200: found('It is so now.') },
      refuses: [409, 412],
    },
    {
      method: 'delete',
      path: '/api-keys/:id',
      id: 'revokeApiKey',
      summary: 'Revoke a key',
      description: 'At once and for good. It stays in the list.',
      parameters: [id, ifMatch],
      answers: { 204: { description: 'It opens nothing any more.' } },
      refuses: [412],
    },
    {
      method: 'get',
      path: '/userinfo',
      id: 'readUserInfo',
      summary: 'Tell who the caller is',
      answers: { 200: { description: 'Whose key it is.', schema: refer('UserInfo') } },
    },
    {
      method: 'get',
      path: '/users/groups',
      id: 'listGroups',
      summary: 'List groups',
      description: 'Those that active keys are in, sorted; null where there is no key but those of the environment.',
      answers: { 200: { description: 'The names.', schema: { type: ['array', 'null'], items: text } } },
    },
  ],
};
