import { asObject, asText, isObject, objectsIn, type JsonObject } from '../../model/json.ts';
import type { RecordedSession, RecordedSessions } from '../../model/result/replay.ts';
import type { SessionLimits } from '../../model/service.ts';
import { unexpectedShape } from '../live/whole-list.ts';
import type { GatewaySession } from '../session.ts';

/** The largest page that a gateway serves. */
const pageSize = 100;
/** The statuses of a gateway that does not have what is asked for, or does not show it to the token. */
export const unavailableStatuses: readonly number[] = [400, 403, 404, 405, 501];

/**
 * Reads the newest sessions since a time, without their scripts; undefined where the gateway has none or refuses the token. Pages overlap
 * while sessions begin, so each counts once.
 */
export async function readSessions(
  { client, url }: { readonly client: Pick<GatewaySession['client'], 'send'>; readonly url: string },
  since: Date,
  { most, isLate }: SessionLimits,
): Promise<RecordedSessions | undefined> {
  const found = new Map<string, RecordedSession>();
  const query = `start_date=${encodeURIComponent(`${since.toISOString().slice(0, 19)}Z`)}&count=none&limit=${pageSize}`;
  for (let offset = 0; offset < most + pageSize && found.size <= most && !(offset > 0 && isLate());) {
    const path = `/sessions?${query}&offset=${offset}`;
    const { status, body } = await client.send({ method: 'GET', path, accept: unavailableStatuses });
    if (status >= 300 && offset === 0) return undefined;
    if (status >= 300) break;
    const rows = isObject(body) ? body['data'] : undefined;
    if (!Array.isArray(rows)) throw unexpectedShape(`${url}${path}`);
    for (const row of rows) {
      const session = isObject(row) ? parseSession(row) : undefined;
      if (session === undefined) throw unexpectedShape(`${url}${path}`);
      found.set(session.id, session);
    }
    const isLast = isObject(body) && body['has_next_page'] === true ? rows.length === 0 : rows.length < pageSize;
    if (isLast && found.size <= most) return { sessions: [...found.values()], isWhole: true };
    offset += rows.length;
  }
  return { sessions: [...found.values()].slice(0, most), isWhole: false };
}

/** Returns a session of a list; undefined for what is none. */
function parseSession(row: JsonObject): RecordedSession | undefined {
  const { script_size: size } = row;
  const id = asText(row['id']);
  const connection = asText(row['connection']);
  const at = asText(row['start_date']);
  if (id === '' || connection === '' || at === '') return undefined;
  const { runbookFile: file, runbookRepository: repository } = asObject(row['labels']);
  const isRunbook = typeof file === 'string' && file !== '';
  const verb = row['verb'] === 'connect' ? 'connect' : isRunbook ? 'runbooks' : 'exec';
  return {
    id,
    connection,
    verb,
    ...(isRunbook && typeof repository === 'string' ? { runbook: { repository, name: file } } : {}),
    at,
    user: { id: asText(row['user_id']), name: asText(row['user']) || asText(row['user_name']) },
    isMachine: row['identity_type'] === 'machine',
    scriptSize: verb === 'connect' || typeof size !== 'number' ? 0 : Math.max(0, size),
    matched: objectsIn(row['guardrails_info']).map((info) => asText(info['rule_name'])),
  };
}
