import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyNth } from '../../support/property-runs.ts';
import { createDatabase, startTestServer, type TestServer } from '../../support/servers.ts';
import { callerOf, databases } from '../client.ts';
import { requestReview, createPerson, reviewedConnection, type Person } from './review-people.ts';

const actions = {
  approve: { status: 'APPROVED' },
  force: { status: 'APPROVED', force_review: true },
  reject: { status: 'REJECTED' },
  revoke: { status: 'REVOKED' },
} as const;

const reason = /^(?:the review is [A-Z]+: .{10,}|unknown review .*, or the key cannot see it)$/;

function statusOf(letter: string): number | undefined {
  return { y: 200, n: 403, '?': 404, x: 409 }[letter];
}

type State = 'PENDING' | 'APPROVED' | 'REJECTED' | 'REVOKED';
type Grid = Readonly<Record<State, string>>;

/** A caller: their groups, whether they requested the review, and whether their group has already approved it. */
type CallerKind = { readonly groups: readonly string[]; readonly owns?: true; readonly voted?: true; readonly grid: Grid };

const finalStates = { REJECTED: 'xxxx', REVOKED: 'xxxx' };
const owner: Grid = { ...finalStates, PENDING: 'nnyx', APPROVED: 'xxyy' };
const reviewer: Grid = { ...finalStates, PENDING: 'ynyx', APPROVED: 'xxyy' };
const all = (letters: string): Grid => ({
  PENDING: letters,
  APPROVED: letters,
  REJECTED: letters,
  REVOKED: letters,
});

/** A letter for each of approve, force, reject and revoke: y allowed, n forbidden, x wrong state, ? not visible. */
const callerKinds: Readonly<Record<string, CallerKind>> = {
  'who asked for it': { groups: ['devs'], owns: true, grid: owner },
  'who asked for it, a reviewer too': { groups: ['dba'], owns: true, grid: owner },
  'who asked for it, in a forcing group': { groups: ['sre'], owns: true, grid: owner },
  'who asked for it, an admin': { groups: ['admin'], owns: true, grid: owner },
  'a reviewer': { groups: ['dba'], grid: reviewer },
  'a reviewer of both groups': { groups: ['dba', 'sec'], grid: reviewer },
  'a reviewer whose group has spoken': { groups: ['dba'], voted: true, grid: { ...reviewer, PENDING: 'xnyx' } },
  'a reviewer in a forcing group': { groups: ['dba', 'sre'], grid: { ...reviewer, PENDING: 'yyyx' } },
  'a member of a forcing group': { groups: ['sre'], grid: { ...finalStates, PENDING: 'nynx', APPROVED: 'xxnn' } },
  'an admin of no group': { groups: ['admin'], grid: owner },
  'an auditor': { groups: ['auditor'], grid: all('nnnn') },
  'an auditor in a reviewing group': { groups: ['auditor', 'dba'], grid: all('nnnn') },
  'another user': { groups: ['devs'], grid: all('????') },
};

const cases = Object.entries(callerKinds).flatMap(([name, { grid }]) =>
  Object.entries(grid).map(([state, letters]) => ({ name, state, letters })),
);

// The other tests of reviews run on both databases.
describe.each(everyNth(databases, 2, 1))('every action in every state on %s', (_name, start) => {
  let server: TestServer;
  let fixture: Fixture;

  beforeAll(async () => {
    server = await start();
    fixture = await createFixture(server);
  });
  afterAll(() => server.close());

  test.each(cases)('$name, $state: $letters', async ({ name, state, letters }) => {
    const call = fixture.people[name]?.call ?? fixture.admin.call;
    const wanted = Object.values(actions).map((request, index) => ({ request, status: statusOf(letters.charAt(index)) }));
    const path = await refusing(fixture, name, state);
    const before = await fixture.admin.call('GET', path);
    expect(before.body['status']).toBe(state);
    for (const { request, status } of wanted.filter((one) => one.status !== 200)) {
      const answer = await call('PUT', path, { body: request });
      expect([answer.status, answer.body['message']]).toEqual([status, expect.stringMatching(reason)]);
    }
    expect((await fixture.admin.call('GET', path)).body).toEqual(before.body);
    for (const { request } of wanted.filter((one) => one.status === 200)) {
      const answer = await call('PUT', await prepare(fixture, name, state), { body: request });
      expect([request, answer.status]).toEqual([request, 200]);
    }
  });

  test('without its connection a review cannot be approved, but rejected or revoked', async () => {
    await reviewedConnection(fixture.admin.call, 'deleted-later', { reviewers: ['dba', 'sec'], force_approve_groups: ['sre'] });
    const [pending, approved] = [
      await prepare(fixture, 'a reviewer', 'PENDING', 'deleted-later'),
      await prepare(fixture, 'a reviewer', 'APPROVED', 'deleted-later'),
    ];
    expect((await fixture.admin.call('DELETE', '/connections/deleted-later')).status).toBe(204);
    const { 'a reviewer': reviewing } = fixture.people;
    const refused = await reviewing?.call('PUT', pending, { body: { status: 'APPROVED' } });
    expect([refused?.status, refused?.body['message']]).toEqual([409, 'the review is PENDING: its connection was deleted']);
    expect((await reviewing?.call('PUT', pending, { body: { status: 'REJECTED' } }))?.status).toBe(200);
    expect((await reviewing?.call('PUT', approved, { body: { status: 'REVOKED' } }))?.status).toBe(200);
  });
});

test('a review with the status UNKNOWN accepts no action', async () => {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url } });
  const stage = await createFixture(server);
  const path = await prepare(stage, 'a reviewer', 'PENDING');
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`update reviews set status = 'UNKNOWN'`);
  await client.end();
  for (const name of ['a reviewer', 'an admin of no group', 'a member of a forcing group']) {
    for (const body of Object.values(actions)) expect((await stage.people[name]?.call('PUT', path, { body }))?.status).toBe(409);
  }
  await server.close();
  await database.drop();
});

type Fixture = {
  readonly admin: Person;
  readonly owner: Person;
  readonly dba: Person;
  readonly sec: Person;
  readonly people: Readonly<Record<string, Person>>;
  readonly prepared: Map<string, string>;
};

async function createFixture(server: TestServer): Promise<Fixture> {
  const admin = { id: '', name: 'admin', key: server.key, call: callerOf(server) };
  await reviewedConnection(admin.call, 'orders-db', { reviewers: ['dba', 'sec'], force_approve_groups: ['sre'] });
  const people: Record<string, Person> = {};
  for (const [name, { groups }] of Object.entries(callerKinds)) people[name] = await createPerson(server, name, groups);
  const made = await Promise.all([['devs'], ['dba'], ['sec']].map((groups) => createPerson(server, `other ${groups.join()}`, groups)));
  const [owning = admin, dba = admin, sec = admin] = made;
  return { admin, owner: owning, dba, sec, people, prepared: new Map() };
}

/** Returns a review in a state for refused actions: they leave it unchanged, so that one review serves all other callers. */
async function refusing(stage: Fixture, name: string, state: string): Promise<string> {
  const { owns, voted } = callerKinds[name] ?? {};
  const key = `${owns === true || voted === true ? name : ''} ${state}`;
  const path = stage.prepared.get(key) ?? (await prepare(stage, name, state));
  stage.prepared.set(key, path);
  return path;
}

/** Brings a new review into a state with requests only. */
async function prepare(
  { owner: other, dba, sec, people }: Fixture,
  name: string,
  state: string,
  connection = 'orders-db',
): Promise<string> {
  const { owns, voted } = callerKinds[name] ?? {};
  const path = await requestReview((owns === true ? people[name] : other) ?? other, connection, { type: 'onetime' });
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    APPROVED: async () => {
      await dba.call('PUT', path, { body: { status: 'APPROVED' } });
      await sec.call('PUT', path, { body: { status: 'APPROVED' } });
    },
    REJECTED: () => sec.call('PUT', path, { body: { status: 'REJECTED' } }),
    REVOKED: () => sec.call('PUT', path, { body: { status: 'REVOKED' } }),
  };
  const ways: Readonly<Record<string, readonly string[]>> = {
    APPROVED: ['APPROVED'],
    REJECTED: ['REJECTED'],
    REVOKED: ['APPROVED', 'REVOKED'],
  };
  for (const step of ways[state] ?? []) await steps[step]?.();
  if (voted === true && state === 'PENDING') await dba.call('PUT', path, { body: { status: 'APPROVED' } });
  return path;
}
