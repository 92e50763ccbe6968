import type { JsonObject } from '../model/json.ts';
import { ignoredField } from './api/api-section.ts';
import { servedConnectionTypes } from './collections.ts';
import { secretValueSchema } from './store/secrets.ts';

/** The most characters that the name of a resource has. */
export const maxResourceNameLength = 128;

/** What a body of a create or a full replace of a resource must be; read-only fields are let through and ignored. */
export const resourceBodySchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Resource',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'type'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: maxResourceNameLength,
      description: 'Unique; a new name is given to its connections too.',
    },
    type: { enum: [...servedConnectionTypes], description: 'The same kind of value as the type of a connection.' },
    subtype: {
      type: ['string', 'null'],
      maxLength: 64,
      default: '',
      description: 'The same kind of value as the subtype of a connection.',
    },
    agent_id: {
      type: ['string', 'null'],
      pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
      default: '',
      description: 'The agent of the resource; empty: none.',
    },
    env_vars: {
      type: ['object', 'null'],
      propertyNames: { pattern: '^(envvar|filesystem):[A-Za-z_][A-Za-z0-9_.-]*$', $comment: 'envvar:NAME or filesystem:NAME' },
      additionalProperties: { type: ['string', 'null'], ...secretValueSchema },
      default: {},
      description: 'Secrets of all connections of the resource, written like those of a connection; null keeps the stored value.',
    },
    id: ignoredField,
    created_at: ignoredField,
    updated_at: ignoredField,
  },
};
