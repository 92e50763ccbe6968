import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, startTestServer, type TestServer } from '../../support/servers.ts';
import { callerOf, databases, type CallServer } from '../client.ts';
import { requestReview, groupsOf, createPerson, reviewedConnection, type Person } from './review-people.ts';

const rounds = Array.from({ length: 12 }, (_, index) => index);
const groups = ['dba', 'sec', 'sre'];
const approval = { body: { status: 'APPROVED' } };

/** Concurrent decisions, each of which counts once; a late one gets a 409. */
function decisionsAtOnce(
  started: () => { readonly admin: CallServer; readonly owner: Person; readonly calls: Readonly<Record<string, readonly CallServer[]>> },
): void {
  test('approvals of all groups: each counts once, and the last one approves', async () => {
    const { owner, calls } = started();
    for (const _ of rounds) {
      const path = await requestReview(owner, 'orders-db');
      const answers = await Promise.all(groups.flatMap((group) => (calls[group] ?? []).map((call) => call('PUT', path, approval))));
      const counted = answers.filter(({ status }) => status === 200);
      expect(counted).toHaveLength(groups.length);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(answers.length - groups.length);
      expect(counted.filter(({ body }) => body['status'] === 'APPROVED')).toHaveLength(1);
      const read = await owner.call('GET', path);
      expect(read.body['status']).toBe('APPROVED');
      expect(groupsOf(read)).toEqual(groups.map((group) => expect.stringMatching(`^${group} APPROVED by ${group}-\\d$`)));
      expect(new Set(counted.map((answer) => answer.headers.get('ETag'))).size).toBe(groups.length);
    }
  });

  test('approval and rejection: the result matches one of the possible orders', async () => {
    const { owner, calls } = started();
    for (const _ of rounds) {
      const path = await requestReview(owner, 'orders-db');
      const [dba, sec, sre] = groups.map((group) => calls[group]?.[0]);
      await dba?.('PUT', path, approval);
      await sec?.('PUT', path, approval);
      const [approved, rejected] = await Promise.all([sre?.('PUT', path, approval), dba?.('PUT', path, { body: { status: 'REJECTED' } })]);
      expect(rejected?.status).toBe(200);
      expect([200, 409]).toContain(approved?.status);
      expect((await owner.call('GET', path)).body['status']).toBe('REJECTED');
    }
  });

  test('reviews of one session: one is created', async () => {
    const { owner } = started();
    const session = crypto.randomUUID();
    const answers = await Promise.all(
      rounds.map(() => owner.call('POST', '/reviews', { body: { connection: 'orders-db', type: 'jit', session } })),
    );
    expect(tally(answers)).toEqual({ 201: 1, 409: rounds.length - 1 });
  });
}

/** Counts the responses by status. */
function tally(answers: readonly { readonly status: number }[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Creates two people of each group, spread over the servers. */
async function crowd(servers: readonly TestServer[]): Promise<ReturnType<Parameters<typeof decisionsAtOnce>[0]>> {
  const [first] = servers;
  if (first === undefined) throw new Error('there is no server');
  const admin = callerOf(first);
  await reviewedConnection(admin, 'orders-db', { reviewers: groups });
  const calls: Record<string, readonly CallServer[]> = {};
  for (const group of groups) {
    calls[group] = await Promise.all(
      [0, 1].map(async (n) => (await createPerson(servers[n % servers.length] ?? first, `${group}-${n}`, [group])).call),
    );
  }
  return { admin, owner: await createPerson(first, 'owner', ['devs']), calls };
}

describe.each(databases)('concurrent decisions on %s', (_name, start) => {
  let server: TestServer;
  let made: Awaited<ReturnType<typeof crowd>>;
  beforeAll(async () => {
    server = await start();
    made = await crowd([server]);
  });
  afterAll(() => server.close());
  decisionsAtOnce(() => made);
});

describe('concurrent decisions on two servers of one PostgreSQL', () => {
  let servers: readonly TestServer[];
  let made: Awaited<ReturnType<typeof crowd>>;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await createDatabase();
    drop = database.drop;
    const one = await startTestServer({ database: { url: database.url } });
    servers = [one, await startTestServer({ database: { url: database.url } })];
    made = await crowd(servers);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await drop();
  });
  decisionsAtOnce(() => made);
});
