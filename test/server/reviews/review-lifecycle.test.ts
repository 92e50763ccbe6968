import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { isObject, type Json } from '../../../src/model/json.ts';
import { databases, idOf } from '../client.ts';
import {
  requestReview,
  prepareReviews,
  sendDecision,
  groupsOf,
  timeWindow,
  reviewedConnection,
  type ReviewPeople,
  type Person,
} from './review-people.ts';
import { useServer } from '../use-server.ts';
import { runCount } from '../../support/property-runs.ts';

describe.each(databases)('the lifecycle of reviews on %s', (_name, start) => {
  let people: ReviewPeople;
  // Noon, unless a test changes it.
  let now = new Date('2026-11-20T12:00:00.000Z');
  const gateway = useServer(start, { now: () => now });
  const admin = gateway.call;

  beforeAll(async () => {
    people = await prepareReviews(gateway.server);
  });

  test('an approval that is not used ends after a day, and says so before', async () => {
    const path = await requestReview(people.owner, 'short', { type: 'onetime' });
    expect((await people.owner.call('GET', path)).body['expires_at']).toBe('');
    const approved = await sendDecision(people.dba, path, { status: 'APPROVED' });
    expect(approved.body).toMatchObject({ status: 'APPROVED', expires_at: '2026-11-21T12:00:00.000Z', revoke_at: '' });
    now = new Date('2026-11-21T11:59:59.999Z');
    expect((await people.owner.call('GET', path)).body['status']).toBe('APPROVED');
    // A client that asks for changes only must see the end, too.
    const headers = { 'If-None-Match': approved.headers.get('ETag') ?? '' };
    expect((await people.owner.call('GET', path, { headers })).status).toBe(304);
    now = new Date('2026-11-21T12:00:00.000Z');
    const ended = await people.owner.call('GET', path, { headers });
    expect(ended.body).toMatchObject({ status: 'REVOKED', revoke_at: '2026-11-21T12:00:00.000Z' });
    expect(ended.headers.get('ETag')).not.toBe(approved.headers.get('ETag'));
    const id = path.slice('/reviews/'.length);
    const listed = async (status: string): Promise<boolean> =>
      (await admin('GET', `/reviews?status=${status}`)).list.some((one) => one['id'] === id);
    expect([await listed('APPROVED'), await listed('REVOKED')]).toEqual([false, true]);
    now = new Date('2026-11-20T12:00:00.000Z');
  });

  test('access for a time ends after its duration, forced or not', async () => {
    for (const [who, body] of [
      [people.dba, { status: 'APPROVED' }],
      [people.sre, { status: 'APPROVED', force_review: true }],
    ] as const) {
      const path = await requestReview(people.owner, who === people.dba ? 'short' : 'orders-db', { access_duration: 60_000_000_000 });
      expect((await sendDecision(who, path, body)).body['expires_at']).toBe('2026-11-20T12:01:00.000Z');
      now = new Date('2026-11-20T12:01:00.000Z');
      expect((await people.owner.call('GET', path)).body['status']).toBe('REVOKED');
      now = new Date('2026-11-20T12:00:00.000Z');
    }
  });

  test('are visible to their owner, their reviewers, forcing groups, admins and auditors', async () => {
    const path = await requestReview(people.owner, 'orders-db');
    const id = path.slice('/reviews/'.length);
    const seen = async ({ call }: Pick<Person, 'call'>): Promise<readonly boolean[]> => [
      (await call('GET', path)).status === 200,
      (await call('GET', '/reviews')).list.some((one) => one['id'] === id),
      JSON.stringify((await call('GET', '/reviews?page=1&page_size=100')).body['data']).includes(id),
    ];
    for (const who of [people.owner, people.dba, people.sec, people.sre, people.auditor, { call: admin }])
      expect(await seen(who)).toEqual([true, true, true]);
    expect(await seen(people.other)).toEqual([false, false, false]);
  });

  test('are listed newest first, by page, by status, type, connection and session', async () => {
    await reviewedConnection(admin, 'listed', { reviewers: ['dba'] });
    const paths: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      now = new Date(`2026-11-20T12:00:0${n}.000Z`);
      paths.unshift(await requestReview(people.owner, 'listed', { type: n % 2 === 0 ? 'onetime' : 'jit' }));
    }
    now = new Date('2026-11-20T12:00:00.000Z');
    await sendDecision(people.dba, paths[0] ?? '', { status: 'REJECTED' });
    const list = async (query: string): Promise<readonly string[]> =>
      idsOf((await people.owner.call('GET', `/reviews?connection=listed${query}`)).list);
    expect(await list('')).toEqual(paths);
    expect(await list('&status=REJECTED')).toEqual(paths.slice(0, 1));
    expect(await list('&type=onetime')).toEqual([paths[1], paths[3]]);
    const id = idOf(await admin('GET', '/connections/listed'));
    const page = await people.owner.call('GET', `/reviews?connection=${id}&page=2&page_size=2`);
    expect([idsOf(page.body['data']), page.body['pages']]).toEqual([paths.slice(2, 4), { page: 2, size: 2, total: 5 }]);
    expect((await people.owner.call('GET', '/reviews?connection=listed&page=9')).body).toEqual({
      data: [],
      pages: { page: 9, size: 50, total: 5 },
    });
    for (const query of ['status=maybe', 'type=twice', 'page=0', 'page_size=101', 'connection=%00', 'session=%00'])
      expect([query, (await admin('GET', `/reviews?${query}`)).status]).toEqual([query, 422]);
  });

  test('in any order of decisions, a review is approved exactly when all groups, or one by force, approved', async () => {
    const names = ['owner', 'dba', 'sec', 'sre', 'auditor', 'other'] as const;
    const bodies = [{ status: 'APPROVED' }, { status: 'APPROVED', force_review: true }, { status: 'REJECTED' }, { status: 'REVOKED' }];
    const steps = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat({ max: 9 })), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (asked) => {
        const path = await requestReview(people.owner, 'orders-db');
        const signed = new Map<string, string>();
        let before = 'PENDING';
        for (const [name, choice] of asked) {
          const { status } = await sendDecision(people[name], path, bodies[choice] ?? { status: 'APPROVED' });
          const { body } = await admin('GET', path);
          const groups = groupsOf({ body });
          const approvals = groups.filter((one) => one.includes(' APPROVED '));
          const complete = approvals.includes('sre APPROVED by sue') || approvals.length === groups.length;
          const again = approvals.filter((one) => (signed.get(one.split(' ')[0] ?? '') ?? one) !== one);
          for (const one of approvals) signed.set(one.split(' ')[0] ?? '', one);
          expect({
            changed: status === 200 || body['status'] === before,
            final: status !== 200 || !['REJECTED', 'REVOKED'].includes(before),
            complete: body['status'] !== 'APPROVED' || complete,
            by: /by owner|by audrey|by otto/.exec(approvals.join())?.[0],
            again,
          }).toEqual({ changed: true, final: true, complete: true, by: undefined, again: [] });
          before = typeof body['status'] === 'string' ? body['status'] : '';
        }
      }),
      { numRuns: runCount(5) },
    );
  });

  test('the audit log contains requests, decisions and refusals', async () => {
    const path = await requestReview(people.owner, 'orders-db');
    const id = path.slice('/reviews/'.length);
    await sendDecision(people.other, path, { status: 'APPROVED' });
    await sendDecision(people.dba, path, { status: 'APPROVED', time_window: timeWindow('09:00', '18:00') });
    const { body } = await admin('GET', `/audit/logs?page=1&page_size=3`);
    expect(body['data']).toMatchObject([
      { actor_name: 'ada', action: 'update', http_method: 'PUT', http_status: 200, outcome: true },
      { actor_name: 'otto', http_method: 'PUT', http_status: 404, outcome: false },
      { actor_name: 'owner', action: 'create', http_method: 'POST', http_status: 201, outcome: true },
    ]);
    expect(JSON.stringify(body['data'])).toContain(id);
  });
});

function idsOf(list: Json | undefined): readonly string[] {
  const rows = Array.isArray(list) ? list : [];
  return rows.map((one: Json) => `/reviews/${isObject(one) ? idOf({ body: one }) : ''}`);
}
