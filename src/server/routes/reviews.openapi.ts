import { asText, equal, type JsonObject } from '../../model/json.ts';
import {
  type ServedAnswer,
  type ApiSection,
  exactObject,
  idSchema,
  listOrPage,
  type Query,
  queryParameter,
  schemaRef,
  timeSchema,
} from './api-section.ts';
import {
  findReview,
  listReviews,
  lockReview,
  openReview,
  pageReviews,
  readReviewDecision,
  readReviewRequest,
  type ReviewDecision,
  reviewDecisionSchema,
  type ReviewFilter,
  type ReviewReader,
  reviewRequestSchema,
  saveReview,
} from '../rules/review-store.ts';
import {
  applyTransition,
  decide,
  onetimeApprovalHours,
  reviewJson,
  reviewStatuses,
  reviewTypes,
  sessionJson,
  type StoredReview,
  type StoredTimeWindow,
} from '../rules/transitions.ts';
import type { Context } from 'hono';
import { Rejection } from '../rejection.ts';
import { smallBodyBytes } from './request-body.ts';
import { type AppEnv, writeTargetOf } from './request-context.ts';
import { entityTag, requireAllowedTag } from '../rules/versions.ts';
import { pageOf, pagingParameters } from './paging.ts';
import { type Store } from '../store/store.ts';

const textSchema = { type: 'string' } as const;
const statusSchema = { enum: reviewStatuses } as const;
const idParameter = 'The ID of the review, else of its session.';

const group: JsonObject = exactObject({
  id: idSchema,
  group: textSchema,
  status: statusSchema,
  forced_review: { type: 'boolean' },
  review_date: { type: ['string', 'null'], format: 'date-time' },
  reviewed_by: { anyOf: [exactObject({ id: idSchema, name: textSchema, email: textSchema, chat_id: textSchema }), { type: 'null' }] },
});

const timeWindow: JsonObject = {
  anyOf: [exactObject({ configuration: exactObject({ start_time: textSchema, end_time: textSchema }) }), { type: 'null' }],
  description: 'The hours of a day, in UTC, in which the session can be executed; a window that ends before it starts spans midnight.',
};

/** Describes and serves reviews: request, read and decide. */
export function reviewSection({ db, now }: Store): ApiSection {
  const readerOf = (c: Context<AppEnv>): ReviewReader => ({ principal: c.get('principal'), now: now() });

  async function requireReview(c: Context<AppEnv>, first: 'id' | 'session'): Promise<StoredReview> {
    const { text } = writeTargetOf(c);
    const found = await findReview(db, readerOf(c), text, first);
    if (found === undefined) throw unknownReview(text);
    return found;
  }

  /** Applies a decision to the locked review; concurrent decisions wait. */
  async function decideOn(c: Context<AppEnv>, body: JsonObject, { action, window }: ReviewDecision): Promise<ServedAnswer> {
    const [actor, { text, ...conditions }] = [{ ...readerOf(c), window }, writeTargetOf(c)];
    return db.transaction().execute(async (trx) => {
      const review = await lockReview(trx, actor, text);
      if (review === undefined) throw unknownReview(text);
      requireAllowedTag(`the review ${review.id}`, entityTag(review), conditions);
      const outcome = decide(action, review, actor.principal);
      if ('reason' in outcome) throw new Rejection(outcome.status, `the review is ${review.status}: ${outcome.reason}`);
      requireSameWindow(review.window, window);
      const after = applyTransition(review, { action, effect: outcome.effect }, actor);
      await saveReview(trx, after);
      const changed = changedReviewFields(review, after);
      await c.get('record')(trx, { ...auditSubject(after), payload: body, changed, action: 'update', status: 200 });
      return taggedReview(after);
    });
  }

  return {
    name: 'Reviews',
    description: `Approvals that gate the execution on a connection. A review is visible to its requester while they may see the connection, its groups, force-approver groups, auditors and admins. Every group must
approve, or as many as the connection's \`min_review_approvals\` said when the review was asked for: a field of the public gateway,
which the interface does not have. One that is larger than the number of groups asks for all of them.

An approval ends: a jit review after its \`access_duration\`, a onetime review after ${onetimeApprovalHours} hours. \`expires_at\` says when;
from then on the review is REVOKED.`,
    schemas: {
      Review: exactObject({
        id: idSchema,
        created_at: timeSchema,
        session: idSchema,
        type: { enum: reviewTypes, description: 'onetime: one execution; jit: access for a time.' },
        status: statusSchema,
        access_duration: { type: 'integer', description: 'Nanoseconds, for jit reviews.' },
        revoke_at: { ...textSchema, description: 'The time of revocation or of the end of the approval, or empty.' },
        expires_at: { ...textSchema, description: 'When the approval ends; empty before it. The interface does not have this field.' },
        review_groups_data: { type: 'array', items: group, description: 'The groups that must approve.' },
        time_window: timeWindow,
      }),
      Session: {
        ...exactObject({
          id: idSchema,
          connection: { ...textSchema, description: 'The name of the connection; empty when it was deleted.' },
          user: { ...textSchema, description: 'The name of the user that asks for access.' },
          user_id: idSchema,
          user_name: textSchema,
          script: exactObject({ data: { ...textSchema, description: 'What the session executes; empty for none.' } }),
        }),
        description: 'What a review is about. The interface does not show sessions: the fields are those of the public gateway.',
      },
      ReviewRequest: reviewRequestSchema,
      ReviewDecision: reviewDecisionSchema,
    },
    operations: [
      {
        route: 'GET /reviews',
        id: 'listReviews',
        summary: 'List reviews',
        description: 'Newest first. Without paging parameters the whole list as an array.',
        parameters: [
          ...pagingParameters,
          queryParameter('status', 'Only reviews with this status.', statusSchema),
          queryParameter('type', 'Only reviews of this type.', { enum: reviewTypes }),
          queryParameter('session', 'Only the review of this session.', textSchema),
          queryParameter('connection', 'Only reviews on the connection of this name.', textSchema),
        ],
        answer: [200, 'The list, or a page of it.', listOrPage(schemaRef('Review'))],
        errors: [422],
        async serve(c, _body, query) {
          const [page, filter] = [pageOf(query), reviewFilterOf(query)];
          if (page === undefined) return { json: (await listReviews(db, readerOf(c), filter)).map(reviewJson) };
          const { rows, total } = await pageReviews(db, readerOf(c), { filter, page });
          return { json: { data: rows.map(reviewJson), pages: { ...page, total } } };
        },
      },
      {
        route: 'POST /reviews',
        id: 'requestReview',
        summary: 'Ask for a review',
        description:
          'For a session on a connection that has reviewers. The ID of another review is no session. `access_duration` requires jit and is limited by the `access_max_duration` of the connection.',
        body: 'ReviewRequest',
        tagged: true,
        answer: [201, 'The created review.', 'Review'],
        errors: [403, 409],
        mostBytes: smallBodyBytes,
        async serve(c, body) {
          const request = readReviewRequest(body);
          return db.transaction().execute(async (trx) => {
            const review = await openReview(trx, request, readerOf(c));
            // An input may contain credentials, and entries of the log cannot be removed.
            const payload = 'input' in body ? { ...body, input: '***' } : body;
            await c.get('record')(trx, { ...auditSubject(review), payload });
            return taggedReview(review);
          });
        },
      },
      {
        route: 'GET /reviews/:id',
        id: 'readReview',
        summary: 'Read a review',
        named: idParameter,
        tagged: true,
        answer: [200, 'The review.', 'Review'],
        serve: async (c) => taggedReview(await requireReview(c, 'id')),
      },
      {
        route: 'GET /sessions/:id',
        id: 'readSession',
        summary: 'Read the session of a review',
        description: 'Visible to the callers that see its review.',
        named: 'The ID of the session, else of its review.',
        answer: [200, 'The session.', 'Session'],
        serve: async (c) => ({ json: sessionJson(await requireReview(c, 'session')) }),
      },
      {
        route: 'PUT /reviews/:id',
        id: 'decideReview',
        summary: 'Approve, reject or revoke a review',
        description: `A group of the caller approves once, and the last one that was awaited makes the review APPROVED. Users cannot approve their own
request. \`force_review\` approves at once, for groups that the connection lets do so. REJECTED, REVOKED and EXECUTED are final. A wrong
transition is a 409, or a 403 if another user could make it, with the reason (the public gateway: 400 or 500). \`time_window\` is set
once. An admin of no group approves nothing and gets an error (the public gateway: 200 without a change).`,
        named: idParameter,
        tagged: true,
        body: 'ReviewDecision',
        answer: [200, 'The updated review.', 'Review'],
        errors: [403, 409],
        mostBytes: smallBodyBytes,
        serve: (c, body) => decideOn(c, body, readReviewDecision(body)),
      },
    ],
  };
}

function taggedReview(review: StoredReview): ServedAnswer {
  return { json: reviewJson(review), tag: entityTag(review), id: review.id };
}

/** Returns the name of a review in the audit log: its connection, which people recognize. */
function auditSubject({ id, connection }: StoredReview): { readonly id: string; readonly name: string } {
  return { id, name: connection ?? '' };
}

function changedReviewFields(before: StoredReview, after: StoredReview): readonly string[] {
  const [earlier, later] = [reviewJson(before), reviewJson(after)];
  return Object.keys(later).filter((field) => !equal(earlier[field], later[field]));
}

/** Throws a 409 when a decision sets another time window than the stored one. */
function requireSameWindow(stored: StoredTimeWindow | null, given: StoredTimeWindow | null): void {
  if (stored === null || given === null) return;
  const [current, requested] = [stored, given].map(({ configuration: { start_time: start, end_time: end } }) => `${start}-${end}`);
  if (current !== requested) throw new Rejection(409, `the time window is already set and cannot change: ${current}`);
}

function reviewFilterOf({ status, type, session, connection }: Query): ReviewFilter {
  return {
    status: reviewStatuses.find((one) => one === status),
    type: reviewTypes.find((one) => one === type),
    session: session === undefined ? undefined : asText(session).toLowerCase(),
    connection: connection === undefined ? undefined : asText(connection),
  };
}

function unknownReview(text: string): Rejection {
  return new Rejection(404, `unknown review ${text}, or the key cannot see it`);
}
