import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { randomUUID } from 'node:crypto';
import { isObject, type Json, type JsonObject, textOrUndefined } from '../../model/json.ts';
import { decidingGroups, isReachable } from './connection-access.ts';
import type { Principal } from '../principal.ts';
import { type FieldProblem, InvalidBody, Rejection, requireNoProblems } from '../rejection.ts';
import {
  pendingGroup,
  type ReviewAction,
  type ReviewStatus,
  type ReviewType,
  reviewTypes,
  type StoredReview,
  type StoredTimeWindow,
} from './transitions.ts';
import { type Tables, uuidPattern } from '../store/schema.ts';
import { type PageRequest, selectPage } from '../store/store.ts';

/** The filters of a review list; undefined matches everything. */
export type ReviewFilter = {
  readonly status: ReviewStatus | undefined;
  readonly type: ReviewType | undefined;
  readonly session: string | undefined;
  /** The name or id of a connection. */
  readonly connection: string | undefined;
};

/** Who reads reviews, and when: an approval that has expired by then is shown as revoked. */
export type ReviewReader = { readonly principal: Principal; readonly now: Date };

/** Reads the reviews that the caller may see, newest first. */
export async function listReviews(db: Kysely<Tables>, reader: ReviewReader, filter: ReviewFilter): Promise<readonly StoredReview[]> {
  return selectReviews(db, sql`where ${visibleRows(reader, filter)} order by r.created_at desc, r.id`, reader);
}

/** Reads one page of these reviews and the total number, both from the same snapshot. */
export async function pageReviews(
  db: Kysely<Tables>,
  reader: ReviewReader,
  { filter, page }: { readonly filter: ReviewFilter; readonly page: PageRequest },
): Promise<{ readonly rows: readonly StoredReview[]; readonly total: number }> {
  const shown = sql`where ${visibleRows(reader, filter)}`;
  return selectPage(db, {
    page,
    from: sql`${reviewsFrom} ${shown}`,
    select: (trx, bounds) => selectReviews(trx, sql`${shown} order by r.created_at desc, r.id ${bounds}`, reader),
  });
}

/**
 * Finds a review that the caller may see, by its id and its session; where a text is the id of one and the session of another, by the
 * one that is asked for. `text` may be any text.
 */
export async function findReview(
  db: Kysely<Tables>,
  reader: ReviewReader,
  text: string,
  first: 'id' | 'session' = 'id',
): Promise<StoredReview | undefined> {
  if (!uuidPattern.test(text)) return undefined;
  const [found] = await selectReviews(db, sql`where r.id = ${selectedId(text, first)} and ${isVisibleTo(reader.principal)}`, reader);
  return found;
}

/** Finds a review as `findReview` does and locks it until the transaction ends. */
export async function lockReview(trx: Transaction<Tables>, reader: ReviewReader, text: string): Promise<StoredReview | undefined> {
  if (!uuidPattern.test(text)) return undefined;
  // The row that the locking read returns may be older than the lock; a second read is not.
  await sql`select from reviews r where r.id = ${selectedId(text, 'id')} for update`.execute(trx);
  return findReview(trx, reader, text);
}

/** Writes the fields that a transition changes. */
export async function saveReview(trx: Transaction<Tables>, review: StoredReview): Promise<void> {
  const { status, groups, window, revision, revokedAt, expiresAt } = review;
  await sql`
    update reviews set status = ${status}, groups = ${JSON.stringify(groups)}, time_window = ${window && JSON.stringify(window)},
      revision = ${revision}, revoked_at = ${revokedAt}, expires_at = ${expiresAt} where id = ${review.id}`.execute(trx);
}

/**
 * Selects the id of the one review that a text names, whoever may see it. A requester chooses the session of a review: it must never
 * replace the id of another one.
 */
function selectedId(text: string, first: 'id' | 'session'): RawBuilder<unknown> {
  return sql`(select one.id from reviews one where one.id = ${text}::uuid or one.session = ${text}::uuid
    order by (${sql.ref(`one.${first}`)} = ${text}::uuid) desc limit 1)`;
}

const reviewsFrom = sql`from reviews r left join connections c on c.id = r.connection_id`;
const forceGroups = sql`coalesce(c.spec -> 'force_approve_groups', '[]')`;

async function selectReviews(
  db: Kysely<Tables>,
  rest: RawBuilder<unknown>,
  { now }: Pick<ReviewReader, 'now'>,
): Promise<readonly StoredReview[]> {
  const { rows } = await sql<StoredReview>`
    select r.id, r.session, r.type, ${statusAt(now)} as status, r.access_duration::float8 as "accessDuration", r.time_window as "window", r.groups,
      r.needed, r.owner_id as "ownerId", r.owner_name as "ownerName", r.input, c.name as connection,
      ${forceGroups} as "forceGroups", r.revision + ${hasExpired(now)}::integer as revision, r.created_at as "createdAt",
      r.expires_at as "expiresAt", case when ${hasExpired(now)} then r.expires_at else r.revoked_at end as "revokedAt"
    ${reviewsFrom} ${rest}`.execute(db);
  return rows;
}

function hasExpired(now: Date): RawBuilder<unknown> {
  return sql`(r.status = 'APPROVED' and r.expires_at <= ${now}::timestamptz)`;
}

/** Returns the status of a review at a time: an approval that has expired is revoked, although no request has written that. */
function statusAt(now: Date): RawBuilder<unknown> {
  return sql`(case when ${hasExpired(now)} then 'REVOKED' else r.status end)`;
}

function visibleRows({ principal, now }: ReviewReader, filter: ReviewFilter): RawBuilder<unknown> {
  return sql`${isVisibleTo(principal)} and ${reviewFilterSql(filter, now)}`;
}

/** Returns a condition: the caller may see and use the connection of the review, or it was deleted. */
function canReach(principal: Principal): RawBuilder<boolean> {
  return sql`(c.id is null or ${isReachable(decidingGroups(principal), sql`c.spec`)})`;
}

/**
 * Returns a condition: admins and auditors see all reviews, others those that their groups may approve or force, and their own while
 * they may see the connection.
 */
function isVisibleTo(principal: Principal): RawBuilder<unknown> {
  const { id, groups, role } = principal;
  const own = sql`${groups}::text[]`;
  return sql`(${role !== 'standard'}::boolean or (r.owner_id = ${id}::uuid and ${canReach(principal)})
    or jsonb_path_query_array(r.groups, '$[*].group') ?| ${own} or ${forceGroups} ?| ${own})`;
}

/** Builds few statements for all filters: each distinct text becomes a prepared statement. The form of an id names no connection by its name. */
function reviewFilterSql({ status, type, session, connection }: ReviewFilter, now: Date): RawBuilder<unknown> {
  const isId = connection !== undefined && uuidPattern.test(connection);
  const named = equals(isId ? sql`c.id::text` : sql`c.name`, isId ? connection.toLowerCase() : connection);
  const others = [equals(statusAt(now), status), equals(sql`r.type`, type), equals(sql`r.session::text`, session)];
  return sql.join([...others, named], sql` and `);
}

function equals(column: RawBuilder<unknown>, value: string | undefined): RawBuilder<unknown> {
  return sql`(${value ?? null}::text is null or ${column} = ${value ?? null}::text)`;
}

/** The fields of a connection that a review needs. */
type ReviewedConnection = {
  readonly id: string;
  readonly name: string;
  readonly reviewers: readonly string[];
  readonly forceGroups: readonly string[];
  /** How many reviewers must approve; null: all of them. */
  readonly needed: number | null;
  /** Seconds. */
  readonly longest: number | null;
};

const secondNs = 1_000_000_000;
const defaultDuration = 1800 * secondNs;
/** The longest access in seconds where the connection sets no limit: two days. */
export const longestAccessSeconds = 172_800;

/** Opens a review for every reviewer group of the connection. Throws when the connection has no reviewers or does not exist, and for auditors. */
export async function openReview(
  trx: Transaction<Tables>,
  request: ReviewRequest,
  { principal, now }: ReviewReader,
): Promise<StoredReview> {
  if (principal.role === 'auditor') throw new Rejection(403, 'an auditor can read but not request reviews');
  const gate = await lockConnection(trx, request.connection, principal);
  if (gate === undefined)
    throw new InvalidBody([{ field: '/connection', reason: `is not a Connection of this gateway: ${request.connection}` }]);
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
    ownerName: principal.name,
    input: request.input,
    connection: gate.name,
    forceGroups: gate.forceGroups,
    revision: 1,
    createdAt: now,
    revokedAt: null,
    expiresAt: null,
  };
  await insertReview(trx, review, gate);
  return review;
}

/** Returns the access duration in nanoseconds. A onetime review grants no access for a time, so its duration is always the default. */
function accessDurationOf({ type, accessDuration = defaultDuration }: ReviewRequest, { longest }: ReviewedConnection): number {
  if (type === 'onetime') return defaultDuration;
  return Math.min(accessDuration, (longest ?? longestAccessSeconds) * secondNs);
}

/** Reads the connection, if the caller may use it, and prevents its deletion until the transaction ends. */
async function lockConnection(trx: Transaction<Tables>, text: string, caller: Principal): Promise<ReviewedConnection | undefined> {
  if (text.includes('\0')) return undefined;
  const named = uuidPattern.test(text) ? sql`c.id = ${text}::uuid` : sql`c.name = ${text}`;
  const { rows } = await sql<ReviewedConnection>`
    select c.id, c.name, coalesce(c.spec -> 'reviewers', '[]') as reviewers, coalesce(c.spec -> 'force_approve_groups', '[]') as "forceGroups",
      (c.spec ->> 'min_review_approvals')::integer as needed, (c.spec ->> 'access_max_duration')::float8 as longest
    from connections c where ${named} and ${isReachable(decidingGroups(caller), sql`c.spec`)} for key share`.execute(trx);
  return rows[0];
}

async function insertReview(trx: Transaction<Tables>, review: StoredReview, { id }: ReviewedConnection): Promise<void> {
  const { rows } = await sql`
    insert into reviews (id, session, connection_id, type, status, access_duration, time_window, groups, needed, owner_id, owner_name, input, revision, created_at)
    select ${review.id}::uuid, ${review.session}::uuid, ${id}::uuid, ${review.type}, ${review.status}, ${review.accessDuration}::bigint,
      ${review.window && JSON.stringify(review.window)}::jsonb, ${JSON.stringify(review.groups)}::jsonb, ${review.needed}::integer,
      ${review.ownerId}::uuid, ${review.ownerName}, ${review.input}, ${review.revision}::integer, ${review.createdAt}::timestamptz
    where not exists (select from reviews other where other.id = ${review.session}::uuid)
    on conflict (session) do nothing returning id`.execute(trx);
  if (rows.length === 0) throw new Rejection(409, `the session ${review.session} already has a review, or is the ID of one`);
}

/** A request for a review. */
export type ReviewRequest = {
  /** The name or id of the connection. */
  readonly connection: string;
  readonly session: string | undefined;
  readonly type: ReviewType;
  /** Nanoseconds; undefined for the default. */
  readonly accessDuration: number | undefined;
  readonly window: StoredTimeWindow | null;
  /** What the session executes; empty for none. */
  readonly input: string;
};

/** A requested action on a review. */
export type ReviewDecision = { readonly action: ReviewAction; readonly window: StoredTimeWindow | null };

const time = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', $comment: 'HH:MM' };

/** The schema of a time window: the hours of a day in which a session may be executed. */
const timeWindowSchema: JsonObject = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['configuration'],
  properties: {
    type: { enum: ['time_range'] },
    configuration: {
      type: 'object',
      additionalProperties: false,
      required: ['start_time', 'end_time'],
      properties: { start_time: time, end_time: time },
    },
  },
};

/** The schema of `POST /reviews`. */
export const reviewRequestSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['connection', 'type'],
  properties: {
    connection: { type: 'string', minLength: 1 },
    session: { type: 'string', format: 'uuid' },
    type: { enum: reviewTypes },
    access_duration: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    time_window: timeWindowSchema,
    input: { type: 'string', maxLength: 16_384 },
  },
};

/** The schema of `PUT /reviews/{id}`. */
export const reviewDecisionSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['status'],
  properties: {
    status: { enum: ['APPROVED', 'REJECTED', 'REVOKED'] },
    force_review: { type: 'boolean' },
    time_window: timeWindowSchema,
  },
};

/** Reads a valid request for a review. Throws `InvalidBody` with all problems that no schema says. */
export function readReviewRequest(body: JsonObject): ReviewRequest {
  const window = readWindow(body['time_window']);
  const duration = body['access_duration'];
  const type = reviewTypes.find((one) => one === body['type']) ?? 'onetime';
  requireNoProblems([
    ...checkWindow(window),
    ...(type === 'onetime' && duration !== undefined ? [{ field: '/access_duration', reason: 'requires the type jit' }] : []),
  ]);
  return {
    connection: textOrUndefined(body['connection']) ?? '',
    session: textOrUndefined(body['session'])?.toLowerCase(),
    type,
    accessDuration: typeof duration === 'number' ? duration : undefined,
    window,
    input: textOrUndefined(body['input']) ?? '',
  };
}

/** Reads a valid decision. Throws `InvalidBody` with all problems that no schema says. */
export function readReviewDecision(body: JsonObject): ReviewDecision {
  const { status, force_review: force } = body;
  const window = readWindow(body['time_window']);
  const approves = status === 'APPROVED';
  const onlyApproved = 'requires the status APPROVED';
  requireNoProblems([
    ...checkWindow(window),
    ...(window !== null && !approves ? [{ field: '/time_window', reason: onlyApproved }] : []),
    ...(force === true && !approves ? [{ field: '/force_review', reason: onlyApproved }] : []),
  ]);
  if (approves) return { action: force === true ? 'force' : 'approve', window };
  return { action: status === 'REJECTED' ? 'reject' : 'revoke', window };
}

/** Reads a time window; null when there is none or it is malformed. */
function readWindow(value: Json | undefined): StoredTimeWindow | null {
  const configuration = isObject(value) ? value['configuration'] : undefined;
  if (!isObject(configuration)) return null;
  const [start, end] = [textOrUndefined(configuration['start_time']), textOrUndefined(configuration['end_time'])];
  if (start === undefined || end === undefined) return null;
  return { configuration: { start_time: start, end_time: end } };
}

function checkWindow(window: StoredTimeWindow | null): readonly FieldProblem[] {
  const empty = window !== null && window.configuration.start_time === window.configuration.end_time;
  return empty ? [{ field: '/time_window/configuration/end_time', reason: 'must not be the start time' }] : [];
}
