import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { databases, idOf } from '../client.ts';
import {
  requestReview,
  prepareReviews,
  sendDecision,
  groupsOf,
  timeWindow,
  reviewedConnection,
  type ReviewPeople,
} from './review-people.ts';
import { useServer } from '../use-server.ts';

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const minute = 60_000_000_000;

describe.each(databases)('reviews on %s', (_name, start) => {
  let people: ReviewPeople;
  const gateway = useServer(start, { now: () => new Date('2026-11-20T12:00:00.000Z') });
  const admin = gateway.call;

  beforeAll(async () => {
    people = await prepareReviews(gateway.server);
  });

  describe('request', () => {
    test('opens a review for every group of the connection, and returns all its fields', async () => {
      const answer = await people.owner.call('POST', '/reviews', { body: { connection: 'orders-db', type: 'jit' } });
      expect(answer.status).toBe(201);
      const group = (name: string): JsonObject => ({
        id: uuid,
        group: name,
        status: 'PENDING',
        forced_review: false,
        review_date: null,
        reviewed_by: null,
      });
      expect(answer.body).toEqual({
        id: uuid,
        created_at: '2026-11-20T12:00:00.000Z',
        session: uuid,
        type: 'jit',
        status: 'PENDING',
        access_duration: 30 * minute,
        revoke_at: '',
        expires_at: '',
        review_groups_data: [group('dba'), group('sec')],
        time_window: null,
      });
      expect(answer.headers.get('Location')).toBe(`/reviews/${idOf(answer)}`);
      for (const id of [idOf(answer), idOf({ body: { id: answer.body['session'] ?? '' } })])
        expect((await people.owner.call('GET', `/reviews/${id}`)).body).toEqual(answer.body);
    });

    test('shows its session to the callers that see it; the audit log does not contain the input', async () => {
      const body = { connection: 'orders-db', type: 'onetime', input: 'select 1;\n-- canary-input' };
      const answer = await people.owner.call('POST', '/reviews', { body });
      const session = idOf({ body: { id: answer.body['session'] ?? '' } });
      const path = `/sessions/${session}`;
      expect((await people.dba.call('GET', path)).body).toEqual({
        id: session,
        connection: 'orders-db',
        user: 'owner',
        user_id: people.owner.id,
        user_name: 'owner',
        script: { data: body.input },
      });
      expect((await people.owner.call('GET', `/sessions/${idOf(answer)}`)).status).toBe(200);
      expect((await people.other.call('GET', path)).status).toBe(404);
      const log = await admin('GET', '/audit/logs?page=1&page_size=100');
      expect(JSON.stringify(log.body)).toContain('"input":"***"');
      expect(JSON.stringify(log.body)).not.toContain('canary-input');
    });

    test.each([
      ['orders-db', undefined, 30 * minute],
      ['orders-db', 90 * minute, 90 * minute],
      ['orders-db', Number.MAX_SAFE_INTEGER, 2880 * minute],
      ['short', undefined, minute],
      ['short', 5 * minute, minute],
      ['short', 1, 1],
    ])('of %s for %s ns gives access for %s ns', async (connection, asked, given) => {
      const more = asked === undefined ? {} : { access_duration: asked };
      const answer = await people.owner.call('POST', '/reviews', { body: { connection, type: 'jit', ...more } });
      expect([answer.status, answer.body['access_duration']]).toEqual([201, given]);
    });

    test.each<readonly [string, JsonObject, RegExp]>([
      ['an unknown connection', { connection: 'nope', type: 'jit' }, /\/connection is not a Connection of this gateway: nope/],
      ['a connection without reviewers', { connection: 'free', type: 'jit' }, /\/connection has no reviewers: free/],
      ['a time for one execution', { connection: 'orders-db', type: 'onetime', access_duration: 1 }, /requires the type jit/],
      [
        'no hours at all',
        { connection: 'orders-db', type: 'jit', time_window: timeWindow('09:00', '09:00') },
        /must not be the start time/,
      ],
    ])('with %s is rejected', async (_what, body, message) => {
      const answer = await people.owner.call('POST', '/reviews', { body });
      expect([answer.status, answer.body['message']]).toEqual([422, expect.stringMatching(message)]);
    });

    test('a session has at most one review', async () => {
      const session = 'AAAAAAAA-0000-4000-8000-000000000001';
      const path = await requestReview(people.owner, 'orders-db', { session });
      expect((await people.owner.call('GET', `/reviews/${session}`)).body['session']).toBe(session.toLowerCase());
      const [found = {}] = (await people.owner.call('GET', `/reviews?session=${session}`)).list;
      expect(path).toBe(`/reviews/${idOf({ body: found })}`);
      const again = await people.owner.call('POST', '/reviews', { body: { connection: 'orders-db', type: 'jit', session } });
      expect([again.status, again.body['message']]).toEqual([409, expect.stringContaining('already has a review')]);
    });

    test('the ID of another review is no session', async () => {
      const id = (await requestReview(people.owner, 'orders-db', { type: 'onetime' })).slice('/reviews/'.length);
      for (const session of [id, id.toUpperCase()]) {
        const body = { connection: 'orders-db', type: 'onetime', input: 'drop table t', session };
        const second = await people.owner.call('POST', '/reviews', { body });
        expect([second.status, second.body['message']]).toEqual([409, expect.stringContaining('is the ID of one')]);
      }
    });

    test('auditors cannot request reviews', async () => {
      expect((await people.auditor.call('POST', '/reviews', { body: { connection: 'orders-db', type: 'jit' } })).status).toBe(403);
    });
  });

  describe('deciding', () => {
    test.each([
      [1, ['APPROVED']],
      [2, ['PENDING', 'APPROVED']],
      [5, ['PENDING', 'PENDING', 'APPROVED']],
      [null, ['PENDING', 'PENDING', 'APPROVED']],
    ])('needs as many groups as the connection required at the request: %s', async (least, statuses) => {
      const name = `least-${String(least)}`;
      const reviewers = ['dba', 'sec', 'sre'];
      await reviewedConnection(admin, name, { reviewers, min_review_approvals: least });
      const path = await requestReview(people.owner, name);
      const { body } = await admin('GET', `/connections/${name}`);
      expect(body['min_review_approvals']).toBe(least);
      await admin('PUT', `/connections/${name}`, { body: { ...body, min_review_approvals: null } });
      const decided: Json[] = [];
      for (const person of [people.dba, people.sec, people.sre].slice(0, statuses.length)) {
        decided.push((await sendDecision(person, path, { status: 'APPROVED' })).body['status'] ?? null);
      }
      expect(decided).toEqual(statuses);
    });

    test('one forcing group is enough, and the review records it', async () => {
      const path = await requestReview(people.owner, 'orders-db');
      await sendDecision(people.sre, path, { status: 'APPROVED', force_review: true });
      const read = await admin('GET', path);
      expect([read.body['status'], groupsOf(read)]).toEqual(['APPROVED', ['dba PENDING', 'sec PENDING', 'sre APPROVED by sue']]);
      expect(read.body['review_groups_data']).toMatchObject([{}, {}, { group: 'sre', forced_review: true }]);
      // A forcing group becomes one of the groups of the review.
      expect((await sendDecision(people.sre, path, { status: 'REVOKED' })).status).toBe(200);
    });

    test('forcing groups are those of the connection at the time of the decision', async () => {
      await reviewedConnection(admin, 'changing', { reviewers: ['dba'], force_approve_groups: ['sre'] });
      const path = await requestReview(people.owner, 'changing');
      const { body } = await admin('GET', '/connections/changing');
      await admin('PUT', '/connections/changing', { body: { ...body, force_approve_groups: [], reviewers: ['sec'] } });
      expect((await sendDecision(people.sre, path, { status: 'APPROVED', force_review: true })).status).toBe(404);
      // The reviewers are those of the connection when the review was requested.
      expect((await sendDecision(people.sec, path, { status: 'APPROVED' })).status).toBe(404);
      expect((await sendDecision(people.dba, path, { status: 'APPROVED' })).body['status']).toBe('APPROVED');
    });

    test('a caller outside the groups can sign a rejection', async () => {
      const path = await requestReview(people.owner, 'orders-db');
      expect(groupsOf(await sendDecision(people.owner, path, { status: 'REJECTED' }))).toContain('devs REJECTED by owner');
      const other = await requestReview(people.owner, 'orders-db');
      expect(groupsOf(await admin('PUT', other, { body: { status: 'REJECTED' } }))).toContain('admin REJECTED by admin');
    });

    test('the time window is set once', async () => {
      const path = await requestReview(people.owner, 'orders-db');
      const set = await sendDecision(people.dba, path, {
        status: 'APPROVED',
        time_window: { type: 'time_range', ...timeWindow('09:00', '18:00') },
      });
      expect(set.body['time_window']).toEqual(timeWindow('09:00', '18:00'));
      const other = await sendDecision(people.sec, path, { status: 'APPROVED', time_window: timeWindow('10:00', '18:00') });
      expect([other.status, other.body['message']]).toEqual([409, 'the time window is already set and cannot change: 09:00-18:00']);
      expect((await sendDecision(people.sec, path, { status: 'APPROVED', time_window: timeWindow('09:00', '18:00') })).body['status']).toBe(
        'APPROVED',
      );
    });

    test.each<readonly [string, JsonObject, RegExp]>([
      ['a forced rejection', { status: 'REJECTED', force_review: true }, /\/force_review requires the status APPROVED/],
      [
        'a window of a rejection',
        { status: 'REJECTED', time_window: timeWindow('09:00', '18:00') },
        /\/time_window requires the status APPROVED/,
      ],
    ])('with %s is rejected', async (_what, body, message) => {
      const path = await requestReview(people.owner, 'orders-db');
      const answer = await sendDecision(people.dba, path, body);
      expect([answer.status, answer.body['message']]).toEqual([422, expect.stringMatching(message)]);
    });

    test('a decision on another version is rejected', async () => {
      const path = await requestReview(people.owner, 'orders-db');
      const version = (await admin('GET', path)).headers.get('ETag') ?? '';
      const body = { status: 'APPROVED' };
      expect((await people.dba.call('PUT', path, { body, headers: { 'If-Match': version } })).status).toBe(200);
      expect((await people.sec.call('PUT', path, { body, headers: { 'If-Match': version } })).status).toBe(412);
    });
  });
});
