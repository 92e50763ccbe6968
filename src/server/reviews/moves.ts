import { randomUUID } from 'node:crypto';
import type { Principal } from '../auth/principal.ts';
import type { StoredReview, StoredReviewGroup, ReviewStatus, StoredTimeWindow } from './review.ts';
import type { ReviewAction, TransitionEffect } from './transitions.ts';

/** Who moves a review, when, and with which time window. */
export type Actor = { readonly principal: Principal; readonly now: Date; readonly window: StoredTimeWindow | null };

const statusAfter: Readonly<Record<ReviewAction, ReviewStatus>> = {
  approve: 'APPROVED',
  force: 'APPROVED',
  reject: 'REJECTED',
  revoke: 'REVOKED',
  start: 'PROCESSING',
  finish: 'EXECUTED',
};

/** The review after a move that its transitions allow. */
export function applyTransition(review: StoredReview, { ask, move }: { readonly ask: ReviewAction; readonly move: TransitionEffect }, mover: Actor): StoredReview {
  const status = statusAfter[ask];
  const next = { ...review, revision: review.revision + 1, window: review.window ?? mover.window };
  if (move === 'start' || move === 'finish') return { ...next, status };
  if (move === 'force') return { ...next, status, groups: forceApproval(review, mover) };
  const groups = signGroups(review, status, mover);
  if (move === 'vote') return { ...next, groups, status: hasEnoughApprovals({ ...review, groups }) ? status : review.status };
  return { ...next, groups, status, revokedAt: status === 'REVOKED' ? mover.now : null };
}

/** The groups of the caller speak: those that have not yet where they approve, all of them where they end it. */
function signGroups({ groups }: StoredReview, status: ReviewStatus, mover: Actor): readonly StoredReviewGroup[] {
  const { principal } = mover;
  const speaks = (one: StoredReviewGroup): boolean => principal.groups.includes(one.group) && (status !== 'APPROVED' || one.status === 'PENDING');
  if (groups.some(speaks)) return groups.map((one) => (speaks(one) ? signGroup(one, status, mover) : one));
  const group = principal.role === 'admin' ? 'admin' : (principal.groups[0] ?? '');
  return [...groups, signGroup(pendingGroup(group), status, mover)];
}

/** A connection that asks for more approvals than it has groups asks for all of them. */
function hasEnoughApprovals({ groups, needed }: StoredReview): boolean {
  const approved = groups.filter(({ status }) => status === 'APPROVED');
  return approved.length >= Math.min(needed ?? groups.length, groups.length);
}

/** One group that may speaks for all; the others stay as they are. */
function forceApproval({ groups, forceGroups }: StoredReview, mover: Actor): readonly StoredReviewGroup[] {
  const group = forceGroups.find((one) => mover.principal.groups.includes(one)) ?? '';
  const sign = (one: StoredReviewGroup): StoredReviewGroup => ({ ...signGroup(one, 'APPROVED', mover), forced_review: true });
  if (!groups.some((one) => one.group === group)) return [...groups, sign(pendingGroup(group))];
  return groups.map((one) => (one.group === group ? sign(one) : one));
}

/** A group that has not spoken yet. */
export function pendingGroup(group: string): StoredReviewGroup {
  return { id: randomUUID(), group, status: 'PENDING', forced_review: false, review_date: null, reviewed_by: null };
}

function signGroup(one: StoredReviewGroup, status: ReviewStatus, { principal: { id, name, email }, now }: Actor): StoredReviewGroup {
  return { ...one, status, review_date: now.toISOString(), reviewed_by: { id, name, email, chat_id: '' } };
}
