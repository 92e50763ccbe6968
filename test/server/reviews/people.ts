import type { Json, JsonObject } from '../../../src/model/json.ts';
import { agentId, callerOf, connectionBody, idOf, type Answer, type Call } from '../client.ts';
import type { TestServer } from '../../support/servers.ts';

/** Somebody with a key of their own. */
export type Person = { readonly id: string; readonly name: string; readonly key: string; readonly call: Call };

/** Makes a key with these groups and speaks with it. */
export async function person(server: Pick<TestServer, 'url' | 'key'>, name: string, groups: readonly string[]): Promise<Person> {
  const { status, body } = await callerOf(server)('POST', '/api-keys', { body: { name, groups } });
  if (status !== 201) throw new Error(`no key for ${name}: ${JSON.stringify(body)}`);
  const key = typeof body['key'] === 'string' ? body['key'] : '';
  return { id: idOf({ body }), name, key, call: callerOf({ url: server.url, key }) };
}

/** Who takes part in the tests of reviews. */
export type Cast = Readonly<Record<'owner' | 'dba' | 'sec' | 'sre' | 'auditor' | 'other', Person>>;

/** Makes somebody who asks, a reviewer of each group, one who may force, an auditor, and somebody who has no part in it. */
export async function castOf(server: Pick<TestServer, 'url' | 'key'>): Promise<Cast> {
  return {
    owner: await person(server, 'owner', ['devs']),
    dba: await person(server, 'ada', ['dba']),
    sec: await person(server, 'sam', ['sec', 'ops']),
    sre: await person(server, 'sue', ['sre']),
    auditor: await person(server, 'audrey', ['auditor']),
    other: await person(server, 'otto', ['devs']),
  };
}

/** Sends a decision. */
export function decide(who: Person, path: string, body: Json): Promise<Answer> {
  return who.call('PUT', path, { body });
}

/** A time window as it travels. */
export function hours(start: string, end: string): JsonObject {
  return { configuration: { start_time: start, end_time: end } };
}

/** Makes a connection that these groups review. */
export async function reviewedConnection(call: Call, name: string, spec: JsonObject): Promise<void> {
  const { status, body } = await call('POST', '/connections', { body: connectionBody(name, await agentId(call), spec) });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Asks for a review and returns its path. */
export async function ask(by: Pick<Person, 'call'>, connection: string, more: JsonObject = {}): Promise<string> {
  const answer = await by.call('POST', '/reviews', { body: { connection, type: 'jit', ...more } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return `/reviews/${idOf(answer)}`;
}

/** What each group of a review has said, sorted. */
export function groupsOf({ body }: Pick<Answer, 'body'>): readonly string[] {
  const groups = body['review_groups_data'];
  const said = (Array.isArray(groups) ? groups : []).map((one: Json) => JSON.parse(JSON.stringify(one)));
  return said.map(({ group, status, reviewed_by: by }) => `${group} ${status}${by === null ? '' : ` by ${by.name}`}`).toSorted();
}
