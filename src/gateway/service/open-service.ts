import { timeKey } from '../../model/time.ts';
import type { AuditMark } from '../../model/gateway.ts';
import { appendAll } from '../../model/collections.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { asObject, asText, textsIn, objectsIn, compareText, isObject, type JsonObject, nonEmptyText } from '../../model/json.ts';
import type {
  Decision,
  Service,
  Agent,
  ListedResource,
  Review,
  ReviewedSession,
  ReviewGroup,
  RunbookTemplate,
  SearchResult,
  TimeWindow,
} from '../../model/service.ts';
import type { HttpRequest } from '../http/client.ts';
import { createAnswerBudget } from '../http/answer-budget.ts';
import type { WireAccessList, WireList, WireService, Dialect } from '../dialect.ts';
import { openSession, type GatewaySession, type SessionOptions } from '../session.ts';
import { strongTag } from '../live/read.ts';
import { readSessions, unavailableStatuses } from './read-sessions.ts';
import { listFetcher, readWholeList, unexpectedShape } from '../live/whole-list.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';

function parseAgent(row: JsonObject, { agentStatus }: WireService): Agent {
  const status = asText(row['status']);
  return { id: asText(row['id']), name: asText(row['name']), status: agentStatus[status] ?? status };
}

/** Returns a resource with our names of subtypes, and without the values of its variables. */
function parseResource(row: JsonObject, wire: WireService): ListedResource {
  return {
    ...parseMatch(row, wire),
    agent_id: asText(row['agent_id']),
    env_vars: Object.fromEntries(Object.keys(asObject(row['env_vars'])).map((name) => [name, '***'])),
    created_at: asText(row['created_at']),
    updated_at: asText(row['updated_at']),
  };
}

function parseTemplates(listing: JsonObject): readonly RunbookTemplate[] {
  return objectsIn(listing['items']).map((row) => ({
    name: asText(row['name']),
    repository: asText(row['repository']) || asText(listing['repository']),
    connections: textsIn(row['connections']),
    error: asText(row['error']),
    metadata: asObject(row['metadata']),
    commit: asText(row['commit']) || asText(listing['commit']),
    commit_author: asText(row['commit_author']) || asText(listing['commit_author']),
    commit_message: asText(row['commit_message']) || asText(listing['commit_message']),
  }));
}

/** Returns a review; `bulk`: the row comes from a list. */
function parseReview(row: JsonObject, wire: WireService, { bulk }: { readonly bulk: boolean }): Review {
  const { access_duration: duration, expires_at: expires } = row;
  return {
    id: asText(row['id']),
    created_at: asText(row['created_at']),
    session: asText(row['session']),
    type: asText(row['type']),
    status: asText(row['status']),
    access_duration: typeof duration === 'number' ? duration : 0,
    revoke_at: asText(row['revoke_at']),
    ...(typeof expires === 'string' ? { expires_at: expires } : {}),
    review_groups_data: objectsIn(row['review_groups_data']).map((group) => parseReviewGroup(group, wire)),
    ...(bulk && !wire.listsWindows ? {} : { time_window: parseTimeWindow(asObject(asObject(row['time_window'])['configuration'])) }),
  };
}

/** Returns the parts of a session that reviewers decide about. */
function parseReviewedSession(row: JsonObject): ReviewedSession {
  return {
    connection: asText(row['connection']),
    requester: asText(row['user']) || asText(row['user_name']) || asText(row['user_id']),
    input: asText(asObject(row['script'])['data']),
  };
}

/** Returns the matches of a search with our names of subtypes. */
function parseSearchResult(body: JsonObject, wire: WireService): SearchResult {
  return {
    connections: objectsIn(body['connections']).map((row) => ({ ...parseMatch(row, wire), resource_name: asText(row['resource_name']) })),
    resources: objectsIn(body['resources']).map((row) => parseMatch(row, wire)),
    runbooks: objectsIn(body['runbooks']).map((row) => ({ name: asText(row['name']), repository: asText(row['repository']) })),
    errors: textsIn(body['errors']),
  };
}

function parseMatch(row: JsonObject, { subtypes }: WireService): SearchResult['resources'][number] {
  const subtype = asText(row['subtype']);
  return { id: asText(row['id']), name: asText(row['name']), type: asText(row['type']), subtype: subtypes[subtype] ?? subtype };
}

function parseReviewGroup(row: JsonObject, { chatId }: WireService): ReviewGroup {
  const by = asObject(row['reviewed_by']);
  const isUnreviewed = Object.keys(by).length === 0;
  return {
    id: asText(row['id']),
    group: asText(row['group']),
    status: asText(row['status']),
    forced_review: row['forced_review'] === true,
    review_date: asText(row['review_date']) || null,
    reviewed_by: isUnreviewed
      ? null
      : { id: asText(by['id']), name: asText(by['name']), email: asText(by['email']), chat_id: asText(by[chatId]) },
  };
}

function parseTimeWindow(configuration: JsonObject): TimeWindow | null {
  const [start, end] = [asText(configuration['start_time']), asText(configuration['end_time'])];
  return start === '' || end === '' ? null : { configuration: { start_time: start, end_time: end } };
}

/** Opens what people look up and decide on a gateway; requests the server info where the dialect is `auto`. */
export async function openService(options: SessionOptions): Promise<Service> {
  const session = await openSession(options);
  const wire = session.dialect.service;
  const reviewPath = (id: string): string => `${wire.reviews.path}/${encodeURIComponent(id)}`;
  return {
    identify: session.identify,
    agents: async () => sorted(await readRows(session, wire.agents, (row) => parseAgent(row, wire)), byName),
    resources: async () => sorted(await readRows(session, wire.resources, (row) => parseResource(row, wire)), byName),
    async templates() {
      const fetched = await listFetcher(session, wire.templates)(wire.templates.path);
      const body = asObject(fetched);
      const listings = Array.isArray(body['repositories']) ? body['repositories'].filter((one) => isObject(one)) : [body];
      return {
        value: listings.flatMap(parseTemplates),
        diagnostics: parseSearchResult(body, wire).errors.map((text) => partialResult(text, session.url)),
      };
    },
    async reviews() {
      const read = await readRows(session, wire.reviews, (row) => parseReview(row, wire, { bulk: true }));
      return sorted(read, (left, right) => compareText(right.created_at, left.created_at));
    },
    async access(list) {
      const read = session.dialect.access[list];
      return read === undefined ? undefined : readAccess(session, read);
    },
    async search(term) {
      return parseSearchResult(await requestObject(session, { method: 'GET', path: `/search?term=${encodeURIComponent(term)}` }), wire);
    },
    async review(id) {
      const response = await session.client.send({ method: 'GET', path: reviewPath(id), accept: [404] });
      const { status, body } = response;
      if (status === 404) return undefined;
      if (!isObject(body)) throw unexpectedShape(`${session.url}${reviewPath(id)}`);
      const version = strongTag(response);
      return { ...parseReview(body, wire, { bulk: false }), ...(version === undefined ? {} : { version }) };
    },
    async session({ session: id }) {
      // Gateways that show long inputs only on request ignore what they do not know otherwise.
      const path = `/sessions/${encodeURIComponent(id)}?expand=session_input`;
      const { status, body } = await session.client.send({ method: 'GET', path, accept: [...unavailableStatuses, 500] });
      return status < 300 && isObject(body) ? parseReviewedSession(body) : undefined;
    },
    sessionsSince: (since, limits) => readSessions(session, since, limits),
    accessEnds: (review) => (review.type === 'jit' && review.status === 'APPROVED' ? wire.accessEnds(review) : undefined),
    objection: wire.objection,
    async decide({ id, version }, decision) {
      const body = JSON.stringify(decisionBody(decision, wire.windowType));
      const request = { method: 'PUT', path: reviewPath(id), body, ...(version === undefined ? {} : { ifMatch: version }) } as const;
      return parseReview(await requestObject(session, request), wire, { bulk: false });
    },
    writesSince: (since, most) => readWrites(session, since, most),
    close: session.close,
  };
}

function decisionBody({ status, force, window }: Decision, type: string | undefined): JsonObject {
  return {
    status,
    ...(force ? { force_review: true } : {}),
    ...(window === undefined ? {} : { time_window: { ...(type === undefined ? {} : { type }), ...window } }),
  };
}

/** Reads a list of what decides access, and then, one after the other, the lists that it leads to. */
async function readAccess<Row extends { readonly name: string }>(
  session: GatewaySession,
  { list, read, ownedBy, others }: WireAccessList<Row>,
): Promise<(Checked<readonly Row[]> & { readonly off?: true }) | undefined> {
  const fetchList = listFetcher(session, list);
  let isOff = false;
  const fetch: typeof fetchList = async (path, share) => {
    const body = await fetchList(path, share);
    isOff ||= body === null;
    return body;
  };
  const first = await readRows(session, list, (row) => row, fetch);
  const listed = first.value ?? [];
  const found = ownedBy === undefined ? listed.map(read) : [];
  const diagnostics = [...first.diagnostics];
  for (const more of ownedBy === undefined ? (others?.(found) ?? []) : listed.flatMap((row) => ownedBy(row) ?? [])) {
    const rows = await readRows(session, more, read);
    appendAll(diagnostics, rows.diagnostics);
    if (rows.value === undefined) return { diagnostics };
    appendAll(found, rows.value);
  }
  const rows = first.value === undefined ? { diagnostics } : { value: found.toSorted(byName), diagnostics };
  // Some lists are null while they are empty.
  if (!isOff || (list.isEmpty === undefined && rows.value !== undefined)) return rows;
  return list.isEmpty === undefined ? undefined : { ...rows, off: true };
}

/** Reads a complete list, whether the gateway pages it or not. */
async function readRows<Row>(
  session: GatewaySession,
  list: WireList,
  rowOf: (row: JsonObject) => Row,
  fetch: ReturnType<typeof listFetcher> = listFetcher(session, list),
): Promise<Checked<readonly Row[]>> {
  const share = createAnswerBudget().share();
  const source = { url: `${session.url}${list.path}`, list, fetch, share, uidOf: idOf, idOf };
  const { value, diagnostics } = await readWholeList(source);
  return value === undefined ? { diagnostics } : { value: value.entries.map(rowOf), diagnostics };
}

function sorted<Row>(read: Checked<readonly Row[]>, compare: (left: Row, right: Row) => number): Checked<readonly Row[]> {
  return read.value === undefined ? read : { ...read, value: read.value.toSorted(compare) };
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return compareText(left.name, right.name);
}

function idOf({ id }: JsonObject): string | undefined {
  return nonEmptyText(id);
}

async function requestObject(session: GatewaySession, request: HttpRequest): Promise<JsonObject> {
  const { body } = await session.client.send(request);
  if (!isObject(body)) throw unexpectedShape(`${session.url}${request.path}`, request.method);
  return body;
}

function partialResult(text: string, url: string): Diagnostic {
  return { code: 'api/partial', severity: 'warning', message: `${url}: incomplete result: ${text}` };
}

const pageSize = 100;
/** The log of a busy gateway contains mostly reads; older pages are not read. */
const maxPages = 50;
/** The sender of a request decides what the log says about it, and how long that is. */
const maxTextLength = 300;

type AuditSession = { readonly client: Pick<GatewaySession['client'], 'send'>; readonly dialect: Pick<Dialect, 'kinds'> };

/** Reads the newest successful writes in the gateway's audit log; returns undefined where the gateway does not show a log. */
export async function readWrites(session: AuditSession, since: Date, most: number): Promise<readonly AuditedWrite[] | undefined> {
  const self = await readCallerName(session);
  const writes: AuditedWrite[] = [];
  for (let page = 1; writes.length < most && page <= maxPages; page += 1) {
    const path = `/audit/logs?page=${page}&page_size=${pageSize}&created_after=${encodeURIComponent(since.toISOString())}`;
    const { status, body } = await session.client.send({ method: 'GET', path, accept: unavailableStatuses });
    const rows = status < 300 && isObject(body) ? body['data'] : undefined;
    if (!Array.isArray(rows)) return page === 1 ? undefined : writes;
    for (const row of rows) if (isObject(row) && writes.length < most) appendAll(writes, parseWrite(row, self, session.dialect));
    // A shorter page is the last one; a longer page contains everything.
    if (rows.length !== pageSize) break;
  }
  return writes;
}

/** Returns the name of the caller in the audit log; empty if the gateway does not report it. */
async function readCallerName({ client }: AuditSession): Promise<string> {
  const { status, body } = await client.send({ method: 'GET', path: '/userinfo', accept: unavailableStatuses });
  return status < 300 && isObject(body) ? firstText(body, ['name', 'email', 'id']) : '';
}

/** Reads where the audit log ends; returns undefined where the gateway shows neither a log nor the name of the caller. */
export async function readAuditMark(session: AuditSession): Promise<AuditMark | undefined> {
  const principal = await readCallerName(session);
  if (principal === '') return undefined;
  const { status, body } = await session.client.send({
    method: 'GET',
    path: `/audit/logs?page=1&page_size=${pageSize}`,
    accept: unavailableStatuses,
  });
  const rows = status < 300 && isObject(body) ? body['data'] : undefined;
  if (!Array.isArray(rows)) return undefined;
  // Writes at the same time may be listed in another order than that of their times.
  const times = rows.flatMap((row) => (isObject(row) ? [toText(row['created_at'])] : []));
  const newest = times.reduce((left, right) => (timeKey(right) > timeKey(left) ? right : left), '');
  return { principal, at: newest };
}

function parseWrite(row: JsonObject, self: string, dialect: AuditSession['dialect']): readonly AuditedWrite[] {
  if (row['outcome'] !== true || row['http_method'] === 'GET') return [];
  const path = toText(row['http_path']);
  const by = firstText(row, ['actor_name', 'actor_email', 'actor_subject']);
  const { kind, rest } = kindAndRest(toText(row['http_method']), path, dialect);
  return [
    {
      at: toText(row['created_at']),
      by,
      own: by !== '' && by === self,
      from: toText(row['client_ip']),
      method: toText(row['http_method']),
      path,
      kind,
      names: [row['resource_id'], row['resource_name'], rest, sentName(row, rest)].map(toText).filter((one) => one !== ''),
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
  return fields.map((field) => toText(row[field])).find((one) => one !== '') ?? '';
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

function toText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.length <= maxTextLength ? value : `${value.slice(0, maxTextLength - 1)}…`;
}
