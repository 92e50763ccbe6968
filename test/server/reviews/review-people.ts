import type { Json, JsonObject } from '../../../src/model/json.ts';
import { agentId, callerOf, connectionBody, idOf, type ApiAnswer, type CallServer } from '../client.ts';
import type { TestServer } from '../../support/servers.ts';

/** A caller with a key of their own. */
export type Person = { readonly id: string; readonly name: string; readonly key: string; readonly call: CallServer };

/** Creates a key with these groups and a client that uses it. */
export async function createPerson(server: Pick<TestServer, 'url' | 'key'>, name: string, groups: readonly string[]): Promise<Person> {
  const { status, body } = await callerOf(server)('POST', '/api-keys', { body: { name, groups } });
  if (status !== 201) throw new Error(`no key for ${name}: ${JSON.stringify(body)}`);
  const key = typeof body['key'] === 'string' ? body['key'] : '';
  return { id: idOf({ body }), name, key, call: callerOf({ url: server.url, key }) };
}

/** The callers in the tests of reviews. */
export type ReviewPeople = Readonly<Record<'owner' | 'dba' | 'sec' | 'sre' | 'auditor' | 'other', Person>>;

/**
 * Creates the connections `orders-db`, `short` and `free`, and the people: an owner, a reviewer of each group, a member of a
 * forcing group, an auditor, and a caller without any part.
 */
export async function prepareReviews(server: Pick<TestServer, 'url' | 'key'>): Promise<ReviewPeople> {
  const admin = callerOf(server);
  await reviewedConnection(admin, 'orders-db', { reviewers: ['dba', 'sec'], force_approve_groups: ['sre'] });
  await reviewedConnection(admin, 'short', { reviewers: ['dba'], access_max_duration: 60 });
  await reviewedConnection(admin, 'free', {});
  return {
    owner: await createPerson(server, 'owner', ['devs']),
    dba: await createPerson(server, 'ada', ['dba']),
    sec: await createPerson(server, 'sam', ['sec', 'ops']),
    sre: await createPerson(server, 'sue', ['sre']),
    auditor: await createPerson(server, 'audrey', ['auditor']),
    other: await createPerson(server, 'otto', ['devs']),
  };
}

/** Sends a decision. */
export function sendDecision(who: Person, path: string, body: Json): Promise<ApiAnswer> {
  return who.call('PUT', path, { body });
}

/** Returns a time window as requests contain it. */
export function timeWindow(start: string, end: string): JsonObject {
  return { configuration: { start_time: start, end_time: end } };
}

/** Creates a connection that these groups review. */
export async function reviewedConnection(call: CallServer, name: string, spec: JsonObject): Promise<void> {
  const { status, body } = await call('POST', '/connections', { body: connectionBody(name, await agentId(call), spec) });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Requests a review and returns its path. */
export async function requestReview(by: Pick<Person, 'call'>, connection: string, more: JsonObject = {}): Promise<string> {
  const answer = await by.call('POST', '/reviews', { body: { connection, type: 'jit', ...more } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return `/reviews/${idOf(answer)}`;
}

/** Lists the decision of each group of a review, sorted. */
export function groupsOf({ body }: Pick<ApiAnswer, 'body'>): readonly string[] {
  const groups = body['review_groups_data'];
  const said = (Array.isArray(groups) ? groups : []).map((one: Json) => JSON.parse(JSON.stringify(one)));
  return said.map(({ group, status, reviewed_by: by }) => `${group} ${status}${by === null ? '' : ` by ${by.name}`}`).toSorted();
}
