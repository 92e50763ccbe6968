import { randomUUID } from 'node:crypto';
import type { Principal } from '../auth.ts';
import type { Review, ReviewGroup, Status, TimeWindow } from './review.ts';
import type { Ask, Move } from './transitions.ts';

/** Who moves a review, when, and with which time window. */
export type Mover = { readonly principal: Principal; readonly now: Date; readonly window: TimeWindow | null };

const wanted: Readonly<Record<Ask, Status>> = {
  approve: 'APPROVED',
  force: 'APPROVED',
  reject: 'REJECTED',
  revoke: 'REVOKED',
  start: 'PROCESSING',
  finish: 'EXECUTED',
};

/** The review after a move that its transitions allow. */
export function moved(review: Review, { ask, move }: { readonly ask: Ask; readonly move: Move }, mover: Mover): Review {
  const status = wanted[ask];
  const next = { ...review, revision: review.revision + 1, window: review.window ?? mover.window };
  if (move === 'start' || move === 'finish') return { ...next, status };
  if (move === 'force') return { ...next, status, groups: forced(review, mover) };
  const groups = signed(review, status, mover);
  if (move === 'vote') return { ...next, groups, status: isEnough({ ...review, groups }) ? status : review.status };
  return { ...next, groups, status, revokedAt: status === 'REVOKED' ? mover.now : null };
}

/** The groups of the caller speak: those that have not yet where they approve, all of them where they end it. */
function signed({ groups }: Review, status: Status, mover: Mover): readonly ReviewGroup[] {
  const { principal } = mover;
  const speaks = (one: ReviewGroup): boolean => principal.groups.includes(one.group) && (status !== 'APPROVED' || one.status === 'PENDING');
  if (groups.some(speaks)) return groups.map((one) => (speaks(one) ? signature(one, status, mover) : one));
  const group = principal.role === 'admin' ? 'admin' : (principal.groups[0] ?? '');
  return [...groups, signature(newGroup(group), status, mover)];
}

/** A connection that asks for more approvals than it has groups asks for all of them. */
function isEnough({ groups, needed }: Review): boolean {
  const approved = groups.filter(({ status }) => status === 'APPROVED');
  return approved.length >= Math.min(needed ?? groups.length, groups.length);
}

/** One group that may speaks for all; the others stay as they are. */
function forced({ groups, forceGroups }: Review, mover: Mover): readonly ReviewGroup[] {
  const group = forceGroups.find((one) => mover.principal.groups.includes(one)) ?? '';
  const sign = (one: ReviewGroup): ReviewGroup => ({ ...signature(one, 'APPROVED', mover), forced_review: true });
  if (!groups.some((one) => one.group === group)) return [...groups, sign(newGroup(group))];
  return groups.map((one) => (one.group === group ? sign(one) : one));
}

/** A group that has not spoken yet. */
export function newGroup(group: string): ReviewGroup {
  return { id: randomUUID(), group, status: 'PENDING', forced_review: false, review_date: null, reviewed_by: null };
}

function signature(one: ReviewGroup, status: Status, { principal: { id, name, email }, now }: Mover): ReviewGroup {
  return { ...one, status, review_date: now.toISOString(), reviewed_by: { id, name, email, chat_id: '' } };
}
