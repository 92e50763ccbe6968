import { ok, type Call, type Reply, type Route } from './call.ts';
import { microTime } from './clock.ts';
import { BindError, parseGoJson } from './go-json.ts';
import { isList, isObject, sortKeys, type Json } from './json.ts';
import { cutToPage, envelope, readPage } from './paging.ts';
import type { AuditRow } from './rows.ts';

export const auditRoutes: readonly Route[] = [{ method: 'GET', path: '/audit/logs', access: 'auditor', answer: list }];

const actions: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' };
const secretKeys = new Set(
  'password hashed_password client_secret secret secrets api_key token key env envs rollout_api_key hosts_key license'.split(' '),
);

/** Records an administrative write: its caller, time, route, body and outcome. */
export function logWrite(
  call: Call,
  write: { readonly type: string; readonly path: string; readonly status: number; readonly error: string },
): void {
  const { store, context, caller, method, text } = call;
  store.audit.push({
    id: context.random.uuid(),
    actor: { id: caller.id, name: caller.name, email: caller.email },
    createdAt: context.clock.now(),
    resourceType: write.type,
    action: actions[method] ?? 'read',
    method,
    status: write.status,
    path: write.path,
    payload: payloadOf(text),
    error: write.error,
  });
}

function payloadOf(text: string): Json {
  try {
    return text === '' ? null : redact(sortKeys(parseGoJson(text)));
  } catch (error) {
    if (error instanceof BindError) return null;
    throw error;
  }
}

function redact(value: Json): Json {
  if (isList(value)) return value.map(redact);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, secretKeys.has(key) ? '[REDACTED]' : redact(item)]));
}

/** Newest first. */
function list(call: Call): Reply {
  const { store, query } = call;
  const page = readPage(call);
  const after = moment(query.get('created_after'));
  const before = moment(query.get('created_before'));
  const wanted = (key: string, value: string): boolean => [value, ''].includes(query.get(key) ?? '');
  const rows = store.audit
    .filter((row) => wanted('resource_type', row.resourceType) && wanted('action', row.action) && wanted('http_path', row.path))
    .filter((row) => wanted('http_method', row.method) && wanted('actor_email', row.actor.email))
    .filter((row) => (after === undefined || row.createdAt >= after) && (before === undefined || row.createdAt <= before))
    .toReversed();
  return ok(
    envelope(
      rows,
      page,
      cutToPage(rows, page).map((row) => view(call, row)),
    ),
  );
}

function moment(text: string | null): bigint | undefined {
  const parsed = Date.parse(text ?? '');
  return Number.isNaN(parsed) ? undefined : BigInt(parsed) * 1_000_000n;
}

function view({ context }: Call, row: AuditRow): Json {
  return {
    id: row.id,
    org_id: context.organisation.id,
    actor_subject: row.actor.id,
    actor_email: row.actor.email,
    actor_name: row.actor.name,
    created_at: microTime(row.createdAt),
    resource_type: row.resourceType,
    action: row.action,
    http_method: row.method,
    http_status: row.status,
    http_path: row.path,
    client_ip: '127.0.0.1',
    request_payload_redacted: row.payload,
    outcome: row.status < 400,
    error_message: row.error,
  };
}
