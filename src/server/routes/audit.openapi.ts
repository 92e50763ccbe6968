import { type RawBuilder, sql } from 'kysely';
import { asText, type Json, type JsonObject } from '../../model/json.ts';
import { selectPage, type Store } from '../store/store.ts';
import {
  type ApiSection,
  exactObject,
  idSchema,
  pageSchema,
  type Parameter,
  type Query,
  queryParameter,
  schemaRef,
  timeSchema,
} from './api-section.ts';
import { defaultPage, pageOf, pagingParameters } from './paging.ts';

/** The columns that query parameters compare with, by parameter. */
const filterColumns: Readonly<Record<string, string>> = {
  resource_type: 'resource_type',
  resource_id: 'resource_id',
  resource_name: 'resource_name',
  action: 'action',
  http_method: 'http_method',
  http_path: 'http_path',
  actor_subject: 'actor_id',
  actor_email: 'actor_email',
  outcome: 'outcome',
};
type AuditRow = JsonObject & { readonly created_at: string };

const entryJson = sql`json_build_object(
  'id', id, 'actor_subject', actor_id, 'actor_email', actor_email, 'actor_name', actor_name, 'created_at', created_at,
  'resource_type', resource_type, 'resource_id', resource_id, 'resource_name', resource_name, 'action', action,
  'http_method', http_method, 'http_status', http_status, 'http_path', http_path, 'client_ip', client_ip,
  'request_payload_redacted', payload, 'changed_fields', changed, 'outcome', outcome, 'error_message', error_message)`;

/** Builds one statement for all filters; a null disables a condition. */
function auditFilterSql(query: Query): RawBuilder<unknown> {
  const same = Object.entries(filterColumns).map(([field, column]) => {
    const value = query[field] ?? null;
    return sql`(${value}::text is null or ${sql.ref(column)}::text = ${value})`;
  });
  const [after, before] = [timeOf(query['created_after']), timeOf(query['created_before'])];
  const conditions = [
    ...same,
    sql`(${after}::timestamptz is null or created_at > ${after})`,
    sql`(${before}::timestamptz is null or created_at < ${before})`,
  ];
  return sql`where ${sql.join(conditions, sql` and `)}`;
}

// The embedded database takes no year before 1 or after 9999; no entry has one.
const [firstTime, lastTime] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

function timeOf(value: Json | undefined): Date | null {
  return value === undefined ? null : new Date(Math.min(Math.max(Date.parse(asText(value)), firstTime), lastTime));
}

const text = { type: 'string' } as const;
const timeExample = { ...timeSchema, $comment: 'a time such as 2026-01-31T00:00:00Z' };

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

/** Describes and serves the audit log. */
export function auditSection({ db }: Store): ApiSection {
  return {
    name: 'Audit',
    description: 'Who wrote what, when and from where. Not part of the interface.',
    schemas: { AuditEntry: exactObject(entry) },
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
          ...Object.keys(filterColumns).map((name) => filter(name, name === 'outcome' ? { enum: ['true', 'false'] } : text)),
          filter('created_after', timeExample),
          filter('created_before', timeExample),
        ],
        answer: [200, 'One page.', pageSchema(schemaRef('AuditEntry'))],
        errors: [422],
        async serve(_c, _body, query) {
          const page = pageOf(query) ?? defaultPage;
          const from = sql`from audit_logs ${auditFilterSql(query)}`;
          const { rows, total } = await selectPage(db, {
            page,
            from,
            async select(trx, bounds) {
              const cut = sql`(select * ${from} order by seq desc ${bounds})`;
              const found = await sql<{ readonly row: AuditRow }>`select ${entryJson} as row from ${cut} entries order by seq desc`.execute(
                trx,
              );
              return found.rows;
            },
          });
          const entries = rows.map(({ row }) => ({ ...row, created_at: new Date(row.created_at).toISOString() }));
          return { json: { pages: { total, ...page }, data: entries } };
        },
      },
    ],
  };
}

function filter(name: string, schema: JsonObject): Parameter {
  return queryParameter(name, 'Filters entries by this value.', schema);
}
