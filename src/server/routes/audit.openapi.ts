import {
  type ApiSection,
  type Parameter,
  exactObject,
  idSchema,
  pageSchema,
  pagingParameters,
  schemaRef,
  timeSchema,
} from './api-section.ts';
import type { Hono, HonoRequest } from 'hono';
import { type RawBuilder, sql } from 'kysely';
import type { JsonObject } from '../../model/json.ts';
import { InvalidBody } from '../rejection.ts';
import type { AppEnv } from './request-context.ts';
import { defaultPage, readPageRequest } from './paging.ts';
import { listEncryptionKeys, selectPage, type Store } from '../store/store.ts';

/** The filters of an audit query; null or an omitted text matches everything. */
type AuditFilter = {
  readonly texts: Readonly<Record<string, string>>;
  readonly outcome: boolean | null;
  readonly after: Date | null;
  readonly before: Date | null;
};

/** The columns that the query parameters compare with, by parameter. */
const filterColumns: Readonly<Record<string, string>> = {
  resource_type: 'resource_type',
  resource_id: 'resource_id',
  resource_name: 'resource_name',
  action: 'action',
  http_method: 'http_method',
  http_path: 'http_path',
  actor_subject: 'actor_id',
  actor_email: 'actor_email',
};
type AuditRow = JsonObject & { readonly created_at: string };

/** The names of these parameters. */
const auditFilterNames: readonly string[] = Object.keys(filterColumns);

const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Serves the audit log, newest first, always paged. */
export function serveAuditLog(app: Hono<AppEnv>, { store: { db } }: { readonly store: Store }): void {
  app.get('/audit/logs', async (c) => {
    const page = readPageRequest(c.req) ?? defaultPage;
    const from = sql`from audit_logs ${auditFilterSql(readAuditFilter(c.req))}`;
    const { rows, total } = await selectPage(db, {
      page,
      from,
      async select(trx, bounds) {
        const cut = sql`(select * ${from} order by seq desc ${bounds})`;
        const found = await sql<{ readonly row: AuditRow }>`select ${entryJson} as row from ${cut} entries order by seq desc`.execute(trx);
        return found.rows;
      },
    });
    const data = rows.map((found) => ({ ...found.row, created_at: new Date(found.row.created_at).toISOString() }));
    return c.json({ pages: { total, ...page }, data });
  });
}

const entryJson = sql`json_build_object(
  'id', id, 'actor_subject', actor_id, 'actor_email', actor_email, 'actor_name', actor_name, 'created_at', created_at,
  'resource_type', resource_type, 'resource_id', resource_id, 'resource_name', resource_name, 'action', action,
  'http_method', http_method, 'http_status', http_status, 'http_path', http_path, 'client_ip', client_ip,
  'request_payload_redacted', payload, 'changed_fields', changed, 'outcome', outcome, 'error_message', error_message)`;

/** Builds one statement for all filters; a null disables a condition. */
function auditFilterSql({ texts, outcome, after, before }: AuditFilter): RawBuilder<unknown> {
  const same = Object.entries(filterColumns).map(([field, column]) => {
    const text = texts[field] ?? null;
    return sql`(${text}::text is null or ${sql.ref(column)}::text = ${text})`;
  });
  const conditions = [
    ...same,
    sql`(${outcome}::boolean is null or outcome = ${outcome})`,
    sql`(${after}::timestamptz is null or created_at > ${after})`,
    sql`(${before}::timestamptz is null or created_at < ${before})`,
  ];
  return sql`where ${sql.join(conditions, sql` and `)}`;
}

function readAuditFilter(request: HonoRequest): AuditFilter {
  const texts = Object.keys(filterColumns).flatMap((field) => {
    const text = request.query(field);
    if (text?.includes('\0') === true) throw new InvalidBody([{ field, reason: 'contains a NUL character' }]);
    return text === undefined ? [] : [[field, text] as const];
  });
  const outcome = request.query('outcome') ?? null;
  if (outcome !== null && outcome !== 'true' && outcome !== 'false') {
    throw new InvalidBody([{ field: 'outcome', reason: 'must be true or false' }]);
  }
  const [after, before] = [readTime(request, 'created_after'), readTime(request, 'created_before')];
  return { texts: Object.fromEntries(texts), outcome: outcome === null ? null : outcome === 'true', after, before };
}

// The embedded database takes no year before 1 or after 9999; no entry has one.
const [firstTime, lastTime] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

function readTime(request: HonoRequest, field: string): Date | null {
  const text = request.query(field);
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (timePattern.test(text) && !Number.isNaN(time)) return new Date(Math.min(Math.max(time, firstTime), lastTime));
  throw new InvalidBody([{ field, reason: 'must be a time such as 2026-01-31T00:00:00Z' }]);
}

/** Serves the encryption keys that the database accepts, and how many texts each seals; a key that seals none can be retired. */
export function serveEncryptionKeys(app: Hono<AppEnv>, { store: { db, cipher } }: { readonly store: Store }): void {
  app.get('/encryption-keys', async (c) => {
    const keys = await listEncryptionKeys(db);
    return c.json(
      keys.map(({ id, created_at: createdAt, sealed }) => {
        return { id, current: id === cipher.keyId, sealed, created_at: createdAt.toISOString() };
      }),
    );
  });
}

const text = { type: 'string' } as const;

const entry = {
  id: idSchema,
  actor_subject: { ...idSchema, description: 'The id of the key.' },
  actor_email: text,
  actor_name: text,
  created_at: timeSchema,
  resource_type: { ...text, description: 'The type of resource: `connections`, `api_keys`.' },
  resource_id: { type: ['string', 'null'], format: 'uuid', description: 'null if nothing was written.' },
  resource_name: text,
  action: { ...text, description: '`create`, `update`, `delete`, or the name of the operation.' },
  http_method: text,
  http_status: { type: 'integer' },
  http_path: text,
  client_ip: { ...text, description: 'The client address; empty for the server itself.' },
  request_payload_redacted: {
    type: 'object',
    description: 'The request with secrets as `[REDACTED]`; for a rejected body, only its field names.',
  },
  changed_fields: { type: 'array', items: text, description: 'The fields that an update changed.' },
  outcome: { type: 'boolean', description: 'Whether the request succeeded.' },
  error_message: text,
} as const;

const encryptionKey = {
  id: { ...text, description: 'Identifies the key without revealing it.' },
  current: { type: 'boolean', description: 'This server encrypts with it.' },
  sealed: { type: 'integer', minimum: 0, description: 'The number of values that it encrypts.' },
  created_at: timeSchema,
} as const;

/** Describes the audit log and the encryption keys. */
export const auditSection: ApiSection = {
  name: 'Audit',
  description: 'Who wrote what, when and from where, and whether an encryption key can be retired. Not part of the interface.',
  schemas: { AuditEntry: exactObject(entry), EncryptionKey: exactObject(encryptionKey) },
  operations: [
    {
      route: 'GET /audit/logs',
      id: 'listAuditLogs',
      summary: 'List audit entries',
      description: `Newest first, always one page. Every write request with a known key has an entry, rejected requests included.
Filters are exact and combined with AND. Entries are kept forever, unless the gateway was started with \`--audit-keep DAYS\`: it then
deletes older entries and records their number in an entry.`,
      parameters: [
        ...pagingParameters,
        ...auditFilterNames.map((name) => query(name, text)),
        query('outcome', { enum: ['true', 'false'] }),
        query('created_after', timeSchema),
        query('created_before', timeSchema),
      ],
      answer: [200, 'One page.', pageSchema(schemaRef('AuditEntry'))],
      errors: [422],
    },
    {
      route: 'GET /encryption-keys',
      id: 'listEncryptionKeys',
      summary: 'List encryption keys',
      description: 'Keys accepted by the database, oldest first. A key that encrypts no values can be retired.',
      answer: [200, 'The keys.', { type: 'array', items: schemaRef('EncryptionKey') }],
    },
  ],
};

function query(name: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description: 'Filters entries by this value.', schema };
}
