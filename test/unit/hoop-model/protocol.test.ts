import { afterEach, beforeEach, expect, test } from 'vitest';
import { connection, object, refusal, startGateway, unknownId, type Gateway } from './gateway.ts';

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.close());

test('trap 31: reviews answer 500 instead of 404, and count approvals exactly', async () => {
  await gateway.make('/connections', connection('orders', { min_review_approvals: 1, reviewers: ['a', 'b'] }));
  const { openReview, store } = gateway.model;
  await gateway.make('/api-keys', { name: 'both', groups: ['a', 'b'] });
  const token = store.identities.at(-1)?.token;
  const put = (id: string, body: Parameters<Gateway['send']>[2], by = token): ReturnType<Gateway['send']> =>
    gateway.send('PUT', `/reviews/${id}`, body, { token: by });
  expect(refusal(await put(unknownId, { status: 'APPROVED' }))).toBe('500 "failed updating review status: review not found"');
  const review = openReview({ connection: 'orders', groups: ['a', 'b'] });
  const answer = object((await put(review.id, { status: 'approved' })).body);
  expect(answer).toMatchObject({ status: 'PENDING', access_duration: 1_800_000_000_000, revoke_at: null });
  const once = openReview({ connection: 'orders', groups: ['a'], type: 'onetime' });
  expect(object((await put(once.session, { status: 'APPROVED' })).body)['status']).toBe('APPROVED');
  expect((await put(once.id, { status: 'REVOKED' })).status).toBe(500);
  const other = openReview({ connection: 'orders', groups: ['c'] });
  expect(object((await put(other.id, { status: 'APPROVED' }, 'hpk_admin')).body)['status']).toBe('PENDING');
  expect((await put(other.id, { status: 'APPROVED' }, 'hpk_auditor')).status).toBe(403);
  expect(object((await put(other.id, { status: 'REJECTED' }, 'hpk_admin')).body)).toMatchObject({
    status: 'REJECTED',
    review_groups_data: [{}, { group: 'admin' }],
  });
  const own = openReview({ connection: 'orders', groups: ['a'], ownerId: String(store.identities.at(-1)?.id) });
  expect(refusal(await put(own.id, { status: 'APPROVED' }))).toBe('400 "unable to self approve review"');
  await gateway.send('DELETE', '/connections/orders');
  expect(refusal(await put(own.id, { status: 'REJECTED' }))).toContain('failed fetching connection for review, err=<nil>');
});
