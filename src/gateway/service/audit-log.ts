import type { AuditedWrite } from '../../model/result/drift.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Dialect } from '../dialect.ts';
import type { GatewaySession } from '../session.ts';

const pageSize = 100;
/** Logs of busy gateways are mostly of what nobody wrote; further back is not looked. */
const maxPages = 50;
/** Whoever sends a request decides what the log says of it, and how long that is. */
const maxTextLength = 300;
// What a gateway without a log, or with a role that may not read it, answers.
const unavailableStatuses = [400, 403, 404, 405, 501];

type AuditSession = { readonly client: Pick<GatewaySession['client'], 'send'>; readonly dialect: Pick<Dialect, 'kinds'> };

/** Reads the newest entries of the gateway's audit log that are successful writes; undefined where it does not show one. */
export async function readWrites(session: AuditSession, since: Date, most: number): Promise<readonly AuditedWrite[] | undefined> {
  const caller = await session.client.send({ method: 'GET', path: '/userinfo', accept: unavailableStatuses });
  const self = caller.status < 300 && isObject(caller.body) ? actorOf(caller.body, ['name', 'email', 'id']) : '';
  const writes: AuditedWrite[] = [];
  for (let page = 1; writes.length < most && page <= maxPages; page += 1) {
    const path = `/audit/logs?page=${page}&page_size=${pageSize}&created_after=${encodeURIComponent(since.toISOString())}`;
    const { status, body } = await session.client.send({ method: 'GET', path, accept: unavailableStatuses });
    const rows = status < 300 && isObject(body) ? body['data'] : undefined;
    if (!Array.isArray(rows)) return page === 1 ? undefined : writes;
    for (const row of rows) if (isObject(row) && writes.length < most) writes.push(...writeOf(row, self, session.dialect));
    // Fewer are the last ones, and more are all there are.
    if (rows.length !== pageSize) break;
  }
  return writes;
}

function writeOf(row: JsonObject, self: string, dialect: AuditSession['dialect']): readonly AuditedWrite[] {
  if (row['outcome'] !== true || row['http_method'] === 'GET') return [];
  const path = text(row['http_path']);
  const by = actorOf(row, ['actor_name', 'actor_email', 'actor_subject']);
  const { kind, rest } = subjectOf(text(row['http_method']), path, dialect);
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

/** The name in what was sent, where the path has none of its own. */
function sentName(row: JsonObject, rest: string): unknown {
  const payload = row['request_payload_redacted'];
  const isPathWithoutName = rest === '' || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(rest);
  return isPathWithoutName && isObject(payload) ? payload['name'] : undefined;
}

function actorOf(row: JsonObject, fields: readonly string[]): string {
  return fields.map((field) => text(row[field])).find((one) => one !== '') ?? '';
}

/** Whose path it is, and what stands behind the path of its list: a name or an id, also where a list below that was put in place. */
function subjectOf(method: string, path: string, { kinds }: AuditSession['dialect']): { readonly kind: string; readonly rest: string } {
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
    // Not every path that somebody sent is one.
    return segment;
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.length <= maxTextLength ? value : `${value.slice(0, maxTextLength - 1)}…`;
}
