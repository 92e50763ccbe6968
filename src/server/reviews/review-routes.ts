import type { Context, Hono } from 'hono';
import { equal, type JsonObject } from '../../model/json.ts';
import { Rejection, requireNoProblems } from '../http/rejection.ts';
import { readBody } from '../http/request-body.ts';
import { type AppEnv, entityTag, isAllowedVersion } from '../http/request-context.ts';
import { readReviewDecision, readReviewExecution, readReviewRequest, type ReviewDecision } from './review-bodies.ts';
import { findReview, listReviews, lockReview, openReview, pageReviews, type ReviewFilter, saveReview } from './review-store.ts';
import { reviewJson, reviewStatuses, reviewTypes, type StoredReview, applyTransition, decide } from './transitions.ts';
import { readPageRequest } from '../store/paging.ts';
import type { Store } from '../store/store.ts';

type ReviewRoutesOptions = { readonly store: Pick<Store, 'db'>; readonly now: () => Date };

/** Serves reviews: request, read, decide, and report the execution. */
export function serveReviews(app: Hono<AppEnv>, { store: { db }, now }: ReviewRoutesOptions): void {
  /** Applies a decision to the locked review; concurrent decisions wait. */
  async function handleDecision(c: Context<AppEnv>, read: (body: JsonObject) => ReviewDecision): Promise<Response> {
    const body = await readBody(c.env.incoming);
    const decision = read(body);
    const [principal, text, ifMatch] = [c.get('principal'), c.req.param('id') ?? '', c.req.header('If-Match')];
    const next = await db.transaction().execute(async (trx) => {
      const review = await lockReview(trx, principal, text);
      if (review === undefined) throw unknownReview(text);
      if (!isAllowedVersion(review, ifMatch)) throw new Rejection(412, `the review ${review.id} has changed since it was read`);
      const actor = { principal, now: now(), window: decision.window };
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
    if (page === undefined) return c.json((await listReviews(db, c.get('principal'), filter)).map(reviewJson));
    const { rows, total } = await pageReviews(db, c.get('principal'), { filter, page });
    return c.json({ data: rows.map(reviewJson), pages: { ...page, total } });
  });
  app.post('/reviews', async (c) => {
    const body = await readBody(c.env.incoming);
    const request = readReviewRequest(body);
    const opened = await db.transaction().execute(async (trx) => {
      const review = await openReview(trx, request, { principal: c.get('principal'), now: now() });
      await c.get('record')(trx, { ...auditSubject(review), payload: body });
      return review;
    });
    c.header('Location', `/reviews/${opened.id}`);
    return respond(c, opened, 201);
  });
  app.get('/reviews/:id', async (c) => {
    const text = c.req.param('id');
    const found = await findReview(db, c.get('principal'), text);
    if (found === undefined) throw unknownReview(text);
    return respond(c, found, 200);
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
  if (current !== requested) throw new Rejection(409, `the time window is set already, and stays: ${current}`);
}

function readReviewFilter({ req }: Context<AppEnv>): ReviewFilter {
  const [status, type, session, connection] = ['status', 'type', 'session', 'connection'].map((name) => req.query(name));
  const known = { status: reviewStatuses.find((one) => one === status), type: reviewTypes.find((one) => one === type) };
  const problems = [
    ...(status !== known.status ? [{ field: 'status', reason: `must be one of ${reviewStatuses.join(', ')}` }] : []),
    ...(type !== known.type ? [{ field: 'type', reason: `must be one of ${reviewTypes.join(', ')}` }] : []),
    ...(connection?.includes('\0') === true ? [{ field: 'connection', reason: 'holds a NUL' }] : []),
    ...(session?.includes('\0') === true ? [{ field: 'session', reason: 'holds a NUL' }] : []),
  ];
  requireNoProblems(problems);
  return { ...known, session: session?.toLowerCase(), connection };
}

function unknownReview(text: string): Rejection {
  return new Rejection(404, `there is no review ${text} that you may see`);
}
