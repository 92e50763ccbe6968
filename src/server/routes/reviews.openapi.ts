import { equal, type JsonObject } from '../../model/json.ts';
import { type ApiSection, exactObject, idSchema, listOrPage, pagingParameters, schemaRef, timeSchema } from './api-section.ts';
import {
  findReview,
  findReviewOfSession,
  listReviews,
  lockReview,
  openReview,
  pageReviews,
  readReviewDecision,
  readReviewExecution,
  readReviewRequest,
  type ReviewDecision,
  reviewDecisionSchema,
  reviewExecutionSchema,
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
} from '../rules/transitions.ts';
import type { Context, Hono } from 'hono';
import { Rejection, requireNoProblems } from '../rejection.ts';
import { readBody, smallBodyBytes } from './request-body.ts';
import { type AppEnv, writeTargetOf } from './request-context.ts';
import { entityTag, requireAllowedTag } from '../rules/versions.ts';
import { readPageRequest } from './paging.ts';
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

/** Describes reviews. */
export const reviewSection: ApiSection = {
  name: 'Reviews',
  description: `Approvals that gate the execution on a connection. The interface shows neither the transitions nor how a review comes to be;
a review is visible to its requester while they may see the connection, its groups, force-approver groups, auditors and admins. Every group must
approve, or as many as the connection's \`min_review_approvals\` said when the review was asked for: a field of the public gateway,
which the interface does not have. One that is larger than the number of groups asks for all of them.

An approval ends: a jit review after its \`access_duration\`, a onetime review that was not started within ${onetimeApprovalHours} hours. \`expires_at\` says when;
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
    ReviewExecution: reviewExecutionSchema,
  },
  operations: [
    {
      route: 'GET /reviews',
      id: 'listReviews',
      summary: 'List reviews',
      description: 'Newest first. Without paging parameters the whole list as an array.',
      parameters: [
        ...pagingParameters,
        { name: 'status', in: 'query', description: 'Only reviews with this status.', schema: statusSchema },
        { name: 'type', in: 'query', description: 'Only reviews of this type.', schema: { enum: reviewTypes } },
        { name: 'session', in: 'query', description: 'Only the review of this session.', schema: textSchema },
        { name: 'connection', in: 'query', description: 'Only reviews on the connection of this name.', schema: textSchema },
      ],
      answer: [200, 'The list, or a page of it.', listOrPage(schemaRef('Review'))],
      errors: [422],
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
    },
    {
      route: 'GET /reviews/:id',
      id: 'readReview',
      summary: 'Read a review',
      named: idParameter,
      tagged: true,
      answer: [200, 'The review.', 'Review'],
    },
    {
      route: 'GET /sessions/:id',
      id: 'readSession',
      summary: 'Read the session of a review',
      description: 'Visible to the callers that see its review.',
      named: 'The ID of the session, else of its review.',
      answer: [200, 'The session.', 'Session'],
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
    },
    {
      route: 'POST /reviews/:id/execution',
      id: 'executeReview',
      summary: 'Report the execution of a review',
      description: 'PROCESSING when an approved onetime review begins, within its time window; EXECUTED when it is done.',
      named: idParameter,
      tagged: true,
      body: 'ReviewExecution',
      answer: [200, 'The updated review.', 'Review'],
      errors: [403, 409],
    },
  ],
};

type ReviewRoutesOptions = { readonly store: Pick<Store, 'db'>; readonly now: () => Date };

/** Serves reviews: request, read, decide, and report the execution. */
export function serveReviews(app: Hono<AppEnv>, { store: { db }, now }: ReviewRoutesOptions): void {
  const readerOf = (c: Context<AppEnv>): ReviewReader => ({ principal: c.get('principal'), now: now() });

  async function requireReview(c: Context<AppEnv>, find: typeof findReview): Promise<StoredReview> {
    const text = c.req.param('id') ?? '';
    const found = await find(db, readerOf(c), text);
    if (found === undefined) throw unknownReview(text);
    return found;
  }

  /** Applies a decision to the locked review; concurrent decisions wait. */
  async function handleDecision(c: Context<AppEnv>, read: (body: JsonObject) => ReviewDecision): Promise<Response> {
    const body = await readBody(c.env.incoming, { limit: smallBodyBytes });
    const decision = read(body);
    const [reader, { text, ...conditions }] = [readerOf(c), writeTargetOf(c)];
    const next = await db.transaction().execute(async (trx) => {
      const review = await lockReview(trx, reader, text);
      if (review === undefined) throw unknownReview(text);
      requireAllowedTag(`the review ${review.id}`, entityTag(review), conditions);
      const actor = { ...reader, window: decision.window };
      const outcome = decide(decision.action, review, actor);
      if ('reason' in outcome) throw new Rejection(outcome.status, `the review is ${review.status}: ${outcome.reason}`);
      requireSameWindow(review, decision);
      const after = applyTransition(review, { action: decision.action, effect: outcome.effect }, actor);
      await saveReview(trx, after);
      await c.get('record')(trx, {
        ...auditSubject(after),
        payload: body,
        changed: changedReviewFields(review, after),
        action: 'update',
        status: 200,
      });
      return after;
    });
    return respond(c, next, 200);
  }

  app.get('/reviews', async (c) => {
    const [page, filter] = [readPageRequest(c.req), readReviewFilter(c)];
    if (page === undefined) return c.json((await listReviews(db, readerOf(c), filter)).map(reviewJson));
    const { rows, total } = await pageReviews(db, readerOf(c), { filter, page });
    return c.json({ data: rows.map(reviewJson), pages: { ...page, total } });
  });
  app.post('/reviews', async (c) => {
    const body = await readBody(c.env.incoming, { limit: smallBodyBytes });
    const request = readReviewRequest(body);
    const opened = await db.transaction().execute(async (trx) => {
      const review = await openReview(trx, request, { principal: c.get('principal'), now: now() });
      // An input may contain credentials, and entries of the log cannot be removed.
      const payload = 'input' in body ? { ...body, input: '***' } : body;
      await c.get('record')(trx, { ...auditSubject(review), payload });
      return review;
    });
    c.header('Location', `/reviews/${opened.id}`);
    return respond(c, opened, 201);
  });
  app.get('/reviews/:id', async (c) => {
    return respond(c, await requireReview(c, findReview), 200);
  });
  app.get('/sessions/:id', async (c) => {
    return c.json(sessionJson(await requireReview(c, findReviewOfSession)));
  });
  app.put('/reviews/:id', async (c) => handleDecision(c, readReviewDecision));
  app.post('/reviews/:id/execution', async (c) => handleDecision(c, readReviewExecution));
}

function respond(c: Context<AppEnv>, review: StoredReview, status: 200 | 201): Response {
  return c.json(reviewJson(review), status, { ETag: entityTag(review) });
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
function requireSameWindow({ window: stored }: StoredReview, { window: given }: ReviewDecision): void {
  if (stored === null || given === null) return;
  const [current, requested] = [stored, given].map(({ configuration: { start_time: start, end_time: end } }) => `${start}-${end}`);
  if (current !== requested) throw new Rejection(409, `the time window is already set and cannot change: ${current}`);
}

function readReviewFilter({ req }: Context<AppEnv>): ReviewFilter {
  const [status, type, session, connection] = ['status', 'type', 'session', 'connection'].map((name) => req.query(name));
  const known = { status: reviewStatuses.find((one) => one === status), type: reviewTypes.find((one) => one === type) };
  const problems = [
    ...(status !== known.status ? [{ field: 'status', reason: `must be one of ${reviewStatuses.join(', ')}` }] : []),
    ...(type !== known.type ? [{ field: 'type', reason: `must be one of ${reviewTypes.join(', ')}` }] : []),
    ...(connection?.includes('\0') === true ? [{ field: 'connection', reason: 'contains a NUL character' }] : []),
    ...(session?.includes('\0') === true ? [{ field: 'session', reason: 'contains a NUL character' }] : []),
  ];
  requireNoProblems(problems);
  return { ...known, session: session?.toLowerCase(), connection };
}

function unknownReview(text: string): Rejection {
  return new Rejection(404, `unknown review ${text}, or the key cannot see it`);
}
