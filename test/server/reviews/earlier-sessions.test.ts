import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, fixture, startTestServer, type TestServer } from '../../support/servers.ts';
import { prepareReviews, requestReview, sendDecision, type ReviewPeople } from './review-people.ts';

// A review of an earlier version may have the id of another one as its session.
const dropped: (() => Promise<void>)[] = [];
let server: TestServer;
let people: ReviewPeople;
let database: Client;

beforeAll(async () => {
  const { url, drop } = await createDatabase(await fixture('template'));
  server = await startTestServer({ database: { url } });
  database = new Client({ connectionString: url });
  await database.connect();
  dropped.push(() => database.end(), server.close, drop);
  people = await prepareReviews(server);
});

afterAll(async () => {
  for (const end of dropped) await end();
});

async function makeTwo(owner: 'owner' | 'other'): Promise<{ readonly first: string; readonly second: string; readonly id: string }> {
  const first = await requestReview(people.owner, 'orders-db', { type: 'onetime', input: 'select 1' });
  const second = await requestReview(people[owner], 'orders-db', { type: 'onetime', input: 'drop table t' });
  const id = first.slice('/reviews/'.length);
  await database.query('update reviews set session = $1 where id = $2', [id, second.slice('/reviews/'.length)]);
  return { first, second, id };
}

test('an approval of the first never approves the second', async () => {
  const { first, second, id } = await makeTwo('owner');
  expect((await people.dba.call('GET', first)).body['id']).toBe(id);
  for (const who of [people.dba, people.sec]) expect((await sendDecision(who, first, { status: 'APPROVED' })).body['id']).toBe(id);
  const statuses = await Promise.all([first, second].map(async (path) => (await people.owner.call('GET', path)).body['status']));
  expect(statuses).toEqual(['APPROVED', 'PENDING']);
});

test('a session is found by its own id, before that of a review', async () => {
  const { id } = await makeTwo('owner');
  expect((await people.dba.call('GET', `/sessions/${id}`)).body['script']).toEqual({ data: 'drop table t' });
});

test('a caller who cannot see the first does not get the second in its place', async () => {
  const { first, second } = await makeTwo('other');
  expect((await people.other.call('GET', first)).status).toBe(404);
  expect((await people.other.call('GET', second)).status).toBe(200);
});
