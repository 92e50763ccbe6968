import {
  exactObject,
  idSchema,
  pageSchema,
  pagingParameters,
  schemaRef,
  timeSchema,
  type ApiSection,
  type Parameter,
} from '../api/api-section.ts';
import { auditFilterNames } from './audit-routes.ts';

const text = { type: 'string' } as const;

const entry = {
  id: idSchema,
  actor_subject: { ...idSchema, description: 'The id of the key.' },
  actor_email: text,
  actor_name: text,
  created_at: timeSchema,
  resource_type: { ...text, description: 'What lies at the path: `connections`, `api_keys`.' },
  resource_id: { type: ['string', 'null'], format: 'uuid', description: 'null where nothing was written.' },
  resource_name: text,
  action: { ...text, description: '`create`, `update`, `delete`, or what the operation is called.' },
  http_method: text,
  http_status: { type: 'integer' },
  http_path: text,
  client_ip: { ...text, description: 'Where the request came from; empty for the server itself.' },
  request_payload_redacted: {
    type: 'object',
    description: 'What was asked for, secrets as `[REDACTED]`; of a refused body the names of its fields alone.',
  },
  changed_fields: { type: 'array', items: text, description: 'The fields that an update changed.' },
  outcome: { type: 'boolean', description: 'Whether it was done.' },
  error_message: text,
} as const;

const encryptionKey = {
  id: { ...text, description: 'Tells keys apart, and tells nothing of them.' },
  current: { type: 'boolean', description: 'This server encrypts with it.' },
  sealed: { type: 'integer', minimum: 0, description: 'How many texts it encrypts.' },
  created_at: timeSchema,
} as const;

/** Describes the audit log and the encryption keys. */
export const auditSection: ApiSection = {
  name: 'Audit',
  description: 'Who wrote what, when and from where; and whether an encryption key can be retired. The interface shows neither.',
  schemas: { AuditEntry: exactObject(entry), EncryptionKey: exactObject(encryptionKey) },
  operations: [
    {
      method: 'get',
      path: '/audit/logs',
      id: 'listAuditLogs',
      summary: 'List what was written',
      description: `Newest first, always one page. Every request that writes and comes with a known key is an entry, refused ones too.
Filters are exact and hold all together. Entries stay for good, unless the gateway was started with \`--audit-keep DAYS\`: it then
removes older ones, and leaves an entry that says how many.`,
      parameters: [
        ...pagingParameters,
        ...auditFilterNames.map((name) => query(name, text)),
        query('outcome', { enum: ['true', 'false'] }),
        query('created_after', timeSchema),
        query('created_before', timeSchema),
      ],
      responses: { 200: { description: 'One page.', schema: pageSchema(schemaRef('AuditEntry')) } },
      errors: [422],
    },
    {
      method: 'get',
      path: '/encryption-keys',
      id: 'listEncryptionKeys',
      summary: 'List encryption keys',
      description: 'Those that the database accepts, oldest first. One that encrypts nothing can be retired.',
      responses: { 200: { description: 'The keys, by their ids.', schema: { type: 'array', items: schemaRef('EncryptionKey') } } },
    },
  ],
};

function query(name: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description: 'Only entries that fit.', schema };
}
