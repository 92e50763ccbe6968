import type { Call } from './call.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { ConnectionRow, ReviewGroup, ReviewRow } from './rows.ts';

/** The decision that a reviewer sent. */
export type Decision = {
  readonly status: string;
  readonly window: JsonObject | null;
  readonly force: boolean;
  readonly reason: string;
};

/** A review after a decision, with the ids of the groups that it touched and that it was forced through. */
export type DecidedReview = { readonly next: ReviewRow; readonly touched: ReadonlySet<string>; readonly forcedGroups: ReadonlySet<string> };

const prefix = 'failed updating review status: ';
const notEligible = 'not eligible for review';

/** Applies a decision or refuses it, in the gateway's order of checks. */
export function decide(call: Call, review: ReviewRow, decision: Decision): DecidedReview {
  const connection = call.store.connections.get(review.connection);
  check(call, review, decision, connection);
  const decided = decision.force ? force(call, review, decision, connection) : decideAlone(call, review, decision, connection);
  return { ...decided, next: settle(call, review, decided.next, decision) };
}

function check({ caller }: Call, review: ReviewRow, decision: Decision, connection: ConnectionRow | undefined): void {
  const { status, window } = decision;
  if (connection === undefined) throw new ModelError(500, `${prefix}failed fetching connection for review, err=<nil>`);
  if (window !== null && review.timeWindow !== null) throw new ModelError(500, `${prefix}time window can only be set once`);
  if (!['APPROVED', 'REJECTED', 'REVOKED'].includes(status)) throw new ModelError(500, `${prefix}unknown status`);
  const wrong = new ModelError(400, 'review is in wrong state');
  if (review.status !== 'PENDING' && review.status !== 'APPROVED') throw wrong;
  if (status === 'APPROVED' && caller.id === review.ownerId && caller.role !== 'admin')
    throw new ModelError(400, 'unable to self approve review');
  if (status !== 'REVOKED') return;
  if (review.status !== 'APPROVED') throw wrong;
  if (review.type !== 'jit') throw new ModelError(500, `${prefix}review not found`);
}

function decideAlone(call: Call, review: ReviewRow, { status }: Decision, connection: ConnectionRow | undefined): DecidedReview {
  const { caller, context } = call;
  const own = review.groups.filter(({ group }) => caller.groups.includes(group));
  if (own.length === 0) return decideOutside(call, review, status);
  const touched = new Set(own.map(({ id }) => id));
  const reviewedAt = context.clock.nextMillisecond();
  const groups = review.groups.map((group) => (touched.has(group.id) ? signed(call, group, status, reviewedAt) : group));
  const approved = groups.filter((group) => group.status === 'APPROVED').length;
  const least = review.ruleName === null ? (connection?.minReviewApprovals ?? null) : review.minApprovals;
  const needed = Math.min(groups.length, least ?? groups.length);
  const overall = status !== 'APPROVED' ? status : approved === needed ? 'APPROVED' : review.status;
  return { next: { ...review, groups, status: overall }, touched, forcedGroups: new Set() };
}

/** Decides for a caller outside the groups: an owner or an admin may reject; an admin who approves changes nothing. */
function decideOutside(call: Call, review: ReviewRow, status: string): DecidedReview {
  const { caller } = call;
  const admin = caller.role === 'admin';
  if (status === 'APPROVED' && admin) return { next: review, touched: new Set(), forcedGroups: new Set() };
  if (status === 'APPROVED' || (!admin && caller.id !== review.ownerId)) throw new ModelError(400, notEligible);
  const added = newGroup(call, admin ? call.context.settings.roles.admin : (caller.groups[0] ?? ''), status);
  return { next: { ...review, groups: [...review.groups, added], status }, touched: new Set([added.id]), forcedGroups: new Set() };
}

function force(call: Call, review: ReviewRow, { status }: Decision, connection: ConnectionRow | undefined): DecidedReview {
  const allowed =
    review.ruleName !== null && review.forceApprovalGroups !== null ? review.forceApprovalGroups : connection?.forceApproveGroups;
  const shared = call.caller.groups.find((group) => (allowed ?? []).includes(group));
  if (shared === undefined) throw new ModelError(400, notEligible);
  const before = review.groups.find(({ group }) => group === shared);
  const row = before === undefined ? newGroup(call, shared, status) : signed(call, before, status, call.context.clock.nextMillisecond());
  const groups = before === undefined ? [...review.groups, row] : review.groups.map((group) => (group === before ? row : group));
  return { next: { ...review, groups, status }, touched: new Set([row.id]), forcedGroups: new Set([row.id]) };
}

/** Returns the fields that follow from the new status: the time of revocation, the window, the reason. */
function settle({ context }: Call, before: ReviewRow, next: ReviewRow, { status, window, reason }: Decision): ReviewRow {
  const approved = status === 'APPROVED' && next.status === 'APPROVED' && next !== before;
  return {
    ...next,
    revokeAt: approved ? context.clock.now() + BigInt(next.accessDuration) : next.revokeAt,
    timeWindow: status === 'APPROVED' && next !== before ? (window ?? next.timeWindow) : next.timeWindow,
    rejectionReason: status === 'REJECTED' && reason !== '' ? reason : next.rejectionReason,
  };
}

function newGroup(call: Call, group: string, status: string): ReviewGroup {
  const row = { id: call.context.random.uuid(), group, status: 'PENDING', reviewedBy: null, reviewedAt: null };
  return signed(call, row, status, call.context.clock.nextMillisecond());
}

function signed({ caller }: Call, group: ReviewGroup, status: string, reviewedAt: bigint): ReviewGroup {
  return { ...group, status, reviewedBy: { id: caller.id, name: caller.name, email: caller.email }, reviewedAt };
}
