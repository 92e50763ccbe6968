import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Principal } from '../auth/principal.ts';
import { uuidPattern } from '../objects/object-reader.ts';
import { InvalidBody, Rejection } from '../http/rejection.ts';
import type { Tables } from '../store/tables.ts';
import type { ReviewRequest } from './review-bodies.ts';
import { pendingGroup } from './moves.ts';
import type { StoredReview } from './review.ts';

/** The part of a connection that a review needs. */
type ReviewedConnection = {
  readonly id: string;
  readonly name: string;
  readonly reviewers: readonly string[];
  readonly forceGroups: readonly string[];
  /** How many of the reviewers have to approve; null: all of them. */
  readonly needed: number | null;
  /** Seconds. */
  readonly longest: number | null;
};

const secondNs = 1_000_000_000;
const defaultDuration = 1800 * secondNs;
// Where the connection sets no limit: two days.
const maxDuration = 172_800 * secondNs;

/** Opens a review of every group that reviews the connection; throws where there is nothing to review. */
export async function openReview(
  trx: Transaction<Tables>,
  request: ReviewRequest,
  { principal, now }: { readonly principal: Principal; readonly now: Date },
): Promise<StoredReview> {
  if (principal.role === 'auditor') throw new Rejection(403, 'an auditor reads reviews and asks for none');
  const gate = await lockConnection(trx, request.connection);
  if (gate === undefined)
    throw new InvalidBody([{ field: '/connection', reason: `is no Connection of this gateway: ${request.connection}` }]);
  if (gate.reviewers.length === 0) throw new InvalidBody([{ field: '/connection', reason: `has no reviewers: ${gate.name}` }]);
  const review: StoredReview = {
    id: randomUUID(),
    session: request.session ?? randomUUID(),
    type: request.type,
    status: 'PENDING',
    accessDuration: accessDurationOf(request, gate),
    window: request.window,
    groups: gate.reviewers.map(pendingGroup),
    needed: gate.needed,
    ownerId: principal.id,
    connection: gate.name,
    forceGroups: gate.forceGroups,
    revision: 1,
    createdAt: now,
    revokedAt: null,
  };
  await insertReview(trx, review, gate);
  return review;
}

/** A onetime review gives no access for a time, so its duration is the usual one whatever the connection's limit is. */
function accessDurationOf({ type, accessDuration = defaultDuration }: ReviewRequest, { longest }: ReviewedConnection): number {
  if (type === 'onetime') return defaultDuration;
  return Math.min(accessDuration, longest === null ? maxDuration : longest * secondNs);
}

/** Reads the connection, which stays until the transaction ends. */
async function lockConnection(trx: Transaction<Tables>, text: string): Promise<ReviewedConnection | undefined> {
  if (text.includes('\0')) return undefined;
  const named = uuidPattern.test(text) ? sql`c.id = ${text}::uuid` : sql`c.name = ${text}`;
  const { rows } = await sql<ReviewedConnection>`
    select c.id, c.name, coalesce(c.spec -> 'reviewers', '[]') as reviewers, coalesce(c.spec -> 'force_approve_groups', '[]') as "forceGroups",
      (c.spec ->> 'min_review_approvals')::integer as needed, (c.spec ->> 'access_max_duration')::float8 as longest
    from connections c where ${named} for key share`.execute(trx);
  return rows[0];
}

async function insertReview(trx: Transaction<Tables>, review: StoredReview, { id }: ReviewedConnection): Promise<void> {
  const { rows } = await sql`
    insert into reviews (id, session, connection_id, type, status, access_duration, time_window, groups, needed, owner_id, revision, created_at)
    values (${review.id}, ${review.session}, ${id}, ${review.type}, ${review.status}, ${review.accessDuration},
      ${review.window && JSON.stringify(review.window)}, ${JSON.stringify(review.groups)}, ${review.needed}, ${review.ownerId}, ${review.revision}, ${review.createdAt})
    on conflict (session) do nothing returning id`.execute(trx);
  if (rows.length === 0) throw new Rejection(409, `there is a review of the session ${review.session} already`);
}
