import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Principal } from '../auth.ts';
import { uuidForm } from '../reader.ts';
import { InvalidBody, Rejection } from '../rejection.ts';
import type { Tables } from '../tables.ts';
import type { Request } from './bodies.ts';
import { newGroup } from './moves.ts';
import type { Review } from './review.ts';

/** The part of a connection that a review needs. */
type Gate = {
  readonly id: string;
  readonly name: string;
  readonly reviewers: readonly string[];
  readonly forceGroups: readonly string[];
  /** How many of the reviewers have to approve; null: all of them. */
  readonly needed: number | null;
  /** Seconds. */
  readonly longest: number | null;
};

const second = 1_000_000_000;
const usualDuration = 1800 * second;
// Where the connection sets no limit: two days.
const longestDuration = 172_800 * second;

/** Opens a review of every group that reviews the connection; throws where there is nothing to review. */
export async function openReview(
  trx: Transaction<Tables>,
  request: Request,
  { principal, now }: { readonly principal: Principal; readonly now: Date },
): Promise<Review> {
  if (principal.role === 'auditor') throw new Rejection(403, 'an auditor reads reviews and asks for none');
  const gate = await findGate(trx, request.connection);
  if (gate === undefined)
    throw new InvalidBody([{ field: '/connection', reason: `is no Connection of this gateway: ${request.connection}` }]);
  if (gate.reviewers.length === 0) throw new InvalidBody([{ field: '/connection', reason: `has no reviewers: ${gate.name}` }]);
  const review: Review = {
    id: randomUUID(),
    session: request.session ?? randomUUID(),
    type: request.type,
    status: 'PENDING',
    accessDuration: durationOf(request, gate),
    window: request.window,
    groups: gate.reviewers.map(newGroup),
    needed: gate.needed,
    ownerId: principal.id,
    connection: gate.name,
    forceGroups: gate.forceGroups,
    revision: 1,
    createdAt: now,
    revokedAt: null,
  };
  await insert(trx, review, gate);
  return review;
}

/** A onetime review gives no access for a time, so its duration is the usual one whatever the connection's limit is. */
function durationOf({ type, accessDuration = usualDuration }: Request, { longest }: Gate): number {
  if (type === 'onetime') return usualDuration;
  return Math.min(accessDuration, longest === null ? longestDuration : longest * second);
}

/** Reads the connection, which stays until the transaction ends. */
async function findGate(trx: Transaction<Tables>, text: string): Promise<Gate | undefined> {
  if (text.includes('\0')) return undefined;
  const named = uuidForm.test(text) ? sql`c.id = ${text}::uuid` : sql`c.name = ${text}`;
  const { rows } = await sql<Gate>`
    select c.id, c.name, coalesce(c.spec -> 'reviewers', '[]') as reviewers, coalesce(c.spec -> 'force_approve_groups', '[]') as "forceGroups",
      (c.spec ->> 'min_review_approvals')::integer as needed, (c.spec ->> 'access_max_duration')::float8 as longest
    from connections c where ${named} for key share`.execute(trx);
  return rows[0];
}

async function insert(trx: Transaction<Tables>, review: Review, { id }: Gate): Promise<void> {
  const { rows } = await sql`
    insert into reviews (id, session, connection_id, type, status, access_duration, time_window, groups, needed, owner_id, revision, created_at)
    values (${review.id}, ${review.session}, ${id}, ${review.type}, ${review.status}, ${review.accessDuration},
      ${review.window && JSON.stringify(review.window)}, ${JSON.stringify(review.groups)}, ${review.needed}, ${review.ownerId}, ${review.revision}, ${review.createdAt})
    on conflict (session) do nothing returning id`.execute(trx);
  if (rows.length === 0) throw new Rejection(409, `there is a review of the session ${review.session} already`);
}
