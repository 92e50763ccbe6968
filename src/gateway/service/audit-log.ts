import type { AuditedWrite } from '../../model/result/drift.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Dialect } from '../dialect.ts';
import type { GatewaySession } from '../session.ts';

const pageSize = 100;
/** The log of a busy gateway contains mostly reads; older pages are not read. */
const maxPages = 50;
/** The sender of a request decides what the log says about it, and how long that is. */
const maxTextLength = 300;
// The statuses of a gateway without a log, or for a role that may not read it.
const unavailableStatuses = [400, 403, 404, 405, 501];

type AuditSession = { readonly client: Pick<GatewaySession['client'], 'send'>; readonly dialect: Pick<Dialect, 'kinds'> };

/** Reads the newest successful writes in the gateway's audit log; returns undefined where the gateway does not show a log. */
export async function readWrites(session: AuditSession, since: Date, most: number): Promise<readonly AuditedWrite[] | undefined> {
  const caller = await session.client.send({ method: 'GET', path: '/userinfo', accept: unavailableStatuses });
  const self = caller.status < 300 && isObject(caller.body) ? firstText(caller.body, ['name', 'email', 'id']) : '';
  const writes: AuditedWrite[] = [];
  for (let page = 1; writes.length < most && page <= maxPages; page += 1) {
    const path = `/audit/logs?page=${page}&page_size=${pageSize}&created_after=${encodeURIComponent(since.toISOString())}`;
    const { status, body } = await session.client.send({ method: 'GET', path, accept: unavailableStatuses });
    const rows = status < 300 && isObject(body) ? body['data'] : undefined;
    if (!Array.isArray(rows)) return page === 1 ? undefined : writes;
    for (const row of rows) if (isObject(row) && writes.length < most) writes.push(...parseWrite(row, self, session.dialect));
    // A shorter page is the last one; a longer page contains everything.
    if (rows.length !== pageSize) break;
  }
  return writes;
}

function parseWrite(row: JsonObject, self: string, dialect: AuditSession['dialect']): readonly AuditedWrite[] {
  if (row['outcome'] !== true || row['http_method'] === 'GET') return [];
  const path = text(row['http_path']);
  const by = firstText(row, ['actor_name', 'actor_email', 'actor_subject']);
  const { kind, rest } = kindAndRest(text(row['http_method']), path, dialect);
  return [
    {
      at: text(row['created_at']),
      by,
      own: by !== '' && by === self,
      from: text(row['client_ip']),
      method: text(row['http_method']),
      path,
      kind,
      names: [row['resource_id'], row['resource_name'], rest, sentName(row, rest)].map(text).filter((one) => one !== ''),
    },
  ];
}

/** Returns the name in the request body, where the path contains none. */
function sentName(row: JsonObject, rest: string): unknown {
  const payload = row['request_payload_redacted'];
  const isPathWithoutName = rest === '' || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(rest);
  return isPathWithoutName && isObject(payload) ? payload['name'] : undefined;
}

function firstText(row: JsonObject, fields: readonly string[]): string {
  return fields.map((field) => text(row[field])).find((one) => one !== '') ?? '';
}

/** Returns the kind that a path belongs to, and the name or id after the path of its list; of a PUT only the first segment. */
function kindAndRest(method: string, path: string, { kinds }: AuditSession['dialect']): { readonly kind: string; readonly rest: string } {
  for (const [kind, { list }] of Object.entries(kinds)) {
    const [root = ''] = list.path.split('?');
    if (path.endsWith(root)) return { kind, rest: '' };
    const at = path.indexOf(`${root}/`);
    if (at < 0) continue;
    const rest = path.slice(at + root.length + 1);
    const [own = ''] = rest.split('/');
    return { kind, rest: decoded(method === 'PUT' ? own : rest) };
  }
  return { kind: '', rest: '' };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A path that was sent is not always valid.
    return segment;
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.length <= maxTextLength ? value : `${value.slice(0, maxTextLength - 1)}…`;
}
