import { randomUUID } from 'node:crypto';
import type { Principal } from '../principal.ts';
import type { JsonObject } from '../../model/json.ts';

/** The statuses of a review. This gateway executes nothing: it never writes the last three. */
export const reviewStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED', 'PROCESSING', 'EXECUTED', 'UNKNOWN'] as const;

/** The types of a review: one execution, or access for a time. */
export const reviewTypes = ['onetime', 'jit'] as const;

export type ReviewStatus = (typeof reviewStatuses)[number];
export type ReviewType = (typeof reviewTypes)[number];

/** The hours of a day, in UTC, in which the session may be executed. */
export type StoredTimeWindow = { readonly configuration: { readonly start_time: string; readonly end_time: string } };

/** The decision of one group, as it is stored and returned. */
type StoredReviewGroup = {
  readonly id: string;
  readonly group: string;
  readonly status: ReviewStatus;
  readonly forced_review: boolean;
  readonly review_date: string | null;
  readonly reviewed_by: { readonly id: string; readonly name: string; readonly email: string; readonly chat_id: string } | null;
};

/** A stored review. */
export type StoredReview = {
  readonly id: string;
  readonly session: string;
  readonly type: ReviewType;
  readonly status: ReviewStatus;
  /** Nanoseconds. */
  readonly accessDuration: number;
  readonly window: StoredTimeWindow | null;
  readonly groups: readonly StoredReviewGroup[];
  /** How many groups must approve; null: all of them. */
  readonly needed: number | null;
  /** The caller that requested the review. */
  readonly ownerId: string;
  readonly ownerName: string;
  /** What the session executes; empty for none. */
  readonly input: string;
  /** The name of the connection; null when it was deleted. */
  readonly connection: string | null;
  /** The groups that can force an approval, according to the connection now. */
  readonly forceGroups: readonly string[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** When the approval ends; null before it. */
  readonly expiresAt: Date | null;
};

/** How long an approved onetime review lasts, in hours: each daily time window is in it once. */
export const onetimeApprovalHours = 24;

/** Returns the JSON of a review in responses. */
export function reviewJson(review: StoredReview): JsonObject {
  return {
    id: review.id,
    created_at: review.createdAt.toISOString(),
    session: review.session,
    type: review.type,
    status: review.status,
    access_duration: review.accessDuration,
    revoke_at: review.revokedAt?.toISOString() ?? '',
    expires_at: review.expiresAt?.toISOString() ?? '',
    review_groups_data: review.groups,
    time_window: review.window,
  };
}

/** Returns the JSON of the session of a review, as the public gateway has it. */
export function sessionJson({ session, connection, ownerId, ownerName, input }: StoredReview): JsonObject {
  return { id: session, connection: connection ?? '', user: ownerName, user_id: ownerId, user_name: ownerName, script: { data: input } };
}

/** The actions on a review. */
export type ReviewAction = 'approve' | 'force' | 'reject' | 'revoke';

/** The effect of an action on a review. */
type TransitionEffect = 'vote' | 'force' | 'end';

/** Properties of the caller and the review; `awaited`: the caller is in a group that has not decided yet. */
type TransitionTrait = 'always' | 'auditor' | 'admin' | 'owner' | 'reviewer' | 'awaited' | 'forcer' | 'connection deleted';
type TransitionOutcome = { readonly effect: TransitionEffect } | { readonly status: 403 | 409; readonly reason: string };

type TransitionRow = {
  readonly actions: readonly ReviewAction[];
  readonly from: readonly ReviewStatus[];
  /** One of these traits must hold. */
  readonly when: readonly TransitionTrait[];
  readonly outcome: TransitionOutcome;
};

const decisionActions = ['approve', 'force', 'reject', 'revoke'] as const;
const anybody = ['always'] as const;
const openStatuses = ['PENDING', 'APPROVED'] as const;

/** The transitions; the first matching row applies. For each action the last row accepts everybody, so that one always matches. */
const transitions: readonly TransitionRow[] = [
  row(decisionActions, reviewStatuses, ['auditor'], refusal(403, 'an auditor can read but not decide reviews')),

  row(decisionActions, ['REJECTED', 'REVOKED', 'PROCESSING', 'EXECUTED', 'UNKNOWN'], anybody, refusal(409, 'that is final')),

  row(['approve', 'force'], ['APPROVED'], anybody, refusal(409, 'it needs no more approvals')),
  row(['approve', 'force'], ['PENDING'], ['owner'], refusal(403, 'users cannot approve their own requests')),
  row(['approve', 'force'], ['PENDING'], ['connection deleted'], refusal(409, 'its connection was deleted')),
  row(['approve'], ['PENDING'], ['awaited'], { effect: 'vote' }),
  row(['approve'], ['PENDING'], ['reviewer'], refusal(409, 'your groups have already approved it')),
  row(['approve'], ['PENDING'], anybody, refusal(403, 'none of your groups reviews it')),
  row(['force'], ['PENDING'], ['forcer'], { effect: 'force' }),
  row(['force'], ['PENDING'], anybody, refusal(403, 'none of your groups can force-approve on its connection')),

  row(['revoke'], ['PENDING'], anybody, refusal(409, 'only an approved review can be revoked; reject it instead')),
  row(['reject', 'revoke'], openStatuses, ['reviewer', 'owner', 'admin'], { effect: 'end' }),
  row(['reject', 'revoke'], openStatuses, anybody, refusal(403, 'none of your groups reviews it')),
];

/** Decides whether a caller may perform an action on a review: returns the effect, or the status and reason of the refusal. */
export function decide(action: ReviewAction, review: StoredReview, principal: Principal): TransitionOutcome {
  const held = findTraits(review, principal);
  const found = transitions.find(
    ({ actions: asks, from, when }) => asks.includes(action) && from.includes(review.status) && when.some((trait) => held[trait]),
  );
  if (found === undefined) throw new Error(`no transition covers ${action} of a review that is ${review.status}`);
  return found.outcome;
}

function findTraits(review: StoredReview, principal: Principal): Readonly<Record<TransitionTrait, boolean>> {
  const own = review.groups.filter(({ group }) => principal.groups.includes(group));
  return {
    always: true,
    auditor: principal.role === 'auditor',
    admin: principal.role === 'admin',
    owner: principal.id === review.ownerId,
    reviewer: own.length > 0,
    awaited: own.some(({ status }) => status === 'PENDING'),
    forcer: principal.groups.some((group) => review.forceGroups.includes(group)),
    'connection deleted': review.connection === null,
  };
}

function row(
  asks: readonly ReviewAction[],
  from: readonly ReviewStatus[],
  when: readonly TransitionTrait[],
  outcome: TransitionOutcome,
): TransitionRow {
  return { actions: asks, from, when, outcome };
}

function refusal(status: 403 | 409, reason: string): TransitionOutcome {
  return { status, reason };
}

/** The caller that acts on a review, the time, and the requested time window. */
type Actor = { readonly principal: Principal; readonly now: Date; readonly window: StoredTimeWindow | null };

const statusAfter: Readonly<Record<ReviewAction, ReviewStatus>> = {
  approve: 'APPROVED',
  force: 'APPROVED',
  reject: 'REJECTED',
  revoke: 'REVOKED',
};

/** Returns the review after an action that `decide` allows. */
export function applyTransition(
  review: StoredReview,
  { action, effect }: { readonly action: ReviewAction; readonly effect: TransitionEffect },
  actor: Actor,
): StoredReview {
  const status = statusAfter[action];
  const next = { ...review, revision: review.revision + 1, window: review.window ?? actor.window };
  const approved = { ...next, status, expiresAt: expiryOf(review, actor.now) };
  if (effect === 'force') return { ...approved, groups: forceApproval(review, actor) };
  const groups = signGroups(review, status, actor);
  if (effect === 'vote') return hasEnoughApprovals({ ...review, groups }) ? { ...approved, groups } : { ...next, groups };
  return { ...next, groups, status, revokedAt: status === 'REVOKED' ? actor.now : null };
}

/** Returns when an approval ends: a jit review after its duration, a onetime review after a day. */
function expiryOf({ type, accessDuration }: StoredReview, approvedAt: Date): Date {
  const milliseconds = type === 'jit' ? accessDuration / 1_000_000 : onetimeApprovalHours * 3_600_000;
  return new Date(approvedAt.getTime() + milliseconds);
}

/** Signs for the groups of the caller: pending groups on an approval, all of them otherwise. */
function signGroups({ groups }: StoredReview, status: ReviewStatus, actor: Actor): readonly StoredReviewGroup[] {
  const { principal } = actor;
  const decides = (one: StoredReviewGroup): boolean =>
    principal.groups.includes(one.group) && (status !== 'APPROVED' || one.status === 'PENDING');
  if (groups.some(decides)) return groups.map((one) => (decides(one) ? signGroup(one, status, actor) : one));
  const group = principal.role === 'admin' ? 'admin' : (principal.groups[0] ?? '');
  return [...groups, signGroup(pendingGroup(group), status, actor)];
}

/** Returns whether enough groups have approved. A connection that requires more approvals than it has groups requires all of them. */
function hasEnoughApprovals({ groups, needed }: StoredReview): boolean {
  const approved = groups.filter(({ status }) => status === 'APPROVED');
  return approved.length >= Math.min(needed ?? groups.length, groups.length);
}

/** Approves for all groups in the name of one that can force; the other groups stay unchanged. */
function forceApproval({ groups, forceGroups }: StoredReview, actor: Actor): readonly StoredReviewGroup[] {
  const group = forceGroups.find((one) => actor.principal.groups.includes(one)) ?? '';
  const sign = (one: StoredReviewGroup): StoredReviewGroup => ({ ...signGroup(one, 'APPROVED', actor), forced_review: true });
  if (!groups.some((one) => one.group === group)) return [...groups, sign(pendingGroup(group))];
  return groups.map((one) => (one.group === group ? sign(one) : one));
}

/** Creates a group without a decision. */
export function pendingGroup(group: string): StoredReviewGroup {
  return { id: randomUUID(), group, status: 'PENDING', forced_review: false, review_date: null, reviewed_by: null };
}

function signGroup(one: StoredReviewGroup, status: ReviewStatus, { principal: { id, name, email }, now }: Actor): StoredReviewGroup {
  return { ...one, status, review_date: now.toISOString(), reviewed_by: { id, name, email, chat_id: '' } };
}
