import { sessionView } from './sessions.ts';
import { readBody } from './body.ts';
import { ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, milliTime, nanoTime } from './clock.ts';
import { badUuid, checkUuid, isUuid, ModelError } from './errors.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { decide, type Decision } from './review-state.ts';
import type { ReviewGroup, ReviewRow } from './rows.ts';

export const reviewRoutes: readonly Route[] = [
  { method: 'GET', path: '/reviews', access: 'reader', answer: list },
  { method: 'GET', path: '/reviews/:id', access: 'reader', answer: read },
  { method: 'PUT', path: '/reviews/:id', access: 'member', answer: (call) => update(call, param(call, 'id')) },
  { method: 'GET', path: '/sessions/:session_id', access: 'reader', answer: readSession },
  { method: 'PUT', path: '/sessions/:session_id/review', access: 'member', answer: (call) => update(call, param(call, 'session_id')) },
];

/** A list never loads the time windows. */
function list({ store, context }: Call): Reply {
  return ok(context.random.shuffle(store.reviews.values()).map((row) => ({ ...view(row, stored), time_window: null })));
}

function read(call: Call): Reply {
  const id = param(call, 'id');
  checkUuid(id, 'failed fetching review: ');
  const row = find(call, id);
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return ok(view(row, stored));
}

/** A session contains its input unless something else is asked for; users see their own sessions and those that they review. */
function readSession(call: Call): Reply {
  const { caller, query, store, context } = call;
  const id = param(call, 'session_id').toLowerCase();
  const asked = query.get('expand') ?? '';
  const isExpanded = asked === '' || asked.split(',').includes('session_input');
  const started = store.sessions.find((one) => one.id === id);
  const row = [...store.reviews.values()].find((one) => one.session === id);
  const shown = started === undefined ? row && reviewedSession(row, context.organisation.id) : sessionView(call, started);
  if (shown === undefined) throw new ModelError(404, 'not found');
  const isOwn = [started?.userId, row?.ownerId].includes(caller.id);
  if (caller.role === 'standard' && !isOwn && !(row !== undefined && isReviewer(row, caller.groups)))
    throw new ModelError(403, 'user is not allowed to access this session');
  const script = isExpanded ? { data: (started ?? row)?.input ?? '' } : null;
  return { ...ok({ ...shown, script }), headers: { 'content-type': 'application/json' } };
}

function reviewedSession(row: ReviewRow, organisation: string): JsonObject {
  return {
    id: row.session,
    org_id: organisation,
    script_size: Buffer.byteLength(row.input),
    labels: null,
    user: row.ownerEmail,
    user_id: row.ownerId,
    user_name: '',
    connection: row.connection,
    verb: row.type === 'jit' ? 'connect' : 'exec',
    status: 'open',
  };
}

function isReviewer({ groups }: ReviewRow, own: readonly string[]): boolean {
  return groups.some(({ group }) => own.includes(group));
}

function update(call: Call, id: string): Reply {
  const decision = readDecision(call.text);
  const prefix = 'failed updating review status: ';
  if (!isUuid(id)) throw new ModelError(500, `${prefix}failed obtaining review, err=${badUuid(id)}`);
  const row = find(call, id);
  if (row === undefined) throw new ModelError(500, `${prefix}review not found`);
  const { next, forcedGroups, touched } = decide(call, row, decision);
  call.store.reviews.set(next.id, next);
  return ok(
    view(next, {
      group: (group) => ({
        review_date: touched.has(group.id) && group.reviewedAt !== null ? nanoTime(group.reviewedAt) : reviewDate(group),
        forced_review: forcedGroups.has(group.id),
      }),
      revokeAt: next.revokeAt === row.revokeAt ? microTime : nanoTime,
    }),
  );
}

function find({ store }: Call, id: string): ReviewRow | undefined {
  const key = id.toLowerCase();
  return store.reviews.get(key) ?? [...store.reviews.values()].find((row) => row.session === key);
}

function readDecision(text: string): Decision {
  const body = readBody(text, 'ReviewRequest');
  const status = body.string('status');
  const window = body.map('time_window');
  const force = body.bool('force_review');
  const reason = body.string('rejection_reason');
  body.require({ Status: status });
  return { status: status.toUpperCase(), window: window === null ? null : readWindow(window), force, reason };
}

function readWindow(window: JsonObject): JsonObject {
  const inner = readBody(JSON.stringify(window), 'ReviewRequest.TimeWindow');
  const type = inner.string('type');
  const configuration = inner.map('configuration');
  inner.require({ Type: type, Configuration: configuration });
  const times = isObject(configuration ?? undefined) ? configuration : null;
  const start = times?.['start_time'];
  const end = times?.['end_time'];
  if (typeof start !== 'string' || typeof end !== 'string' || start === '' || end === '')
    throw new ModelError(400, 'both from and to time must be provided');
  for (const [name, time] of Object.entries({ start_time: start, end_time: end }))
    if (!/^(?:[01]?\d|2[0-3]):[0-5]\d$/.test(time)) throw new ModelError(400, `invalid ${name} format, expected HH:MM in 24-hour format`);
  return { type, configuration };
}

type Shape = { readonly group: (group: ReviewGroup) => JsonObject; readonly revokeAt: (moment: bigint) => string };

/** Returns a review as reads show it: dates as stored, and never that it was forced. */
const stored: Shape = { group: (group) => ({ review_date: reviewDate(group), forced_review: false }), revokeAt: microTime };

function reviewDate({ reviewedAt }: ReviewGroup): Json {
  return reviewedAt === null ? null : milliTime(reviewedAt);
}

function view(row: ReviewRow, shape: Shape): JsonObject {
  return {
    id: row.id,
    session: row.session,
    type: row.type,
    access_duration: row.accessDuration,
    status: row.status,
    revoke_at: row.revokeAt === null ? null : shape.revokeAt(row.revokeAt),
    created_at: microTime(row.createdAt),
    review_groups_data: row.groups.map((group) => ({
      id: group.id,
      group: group.group,
      status: group.status,
      reviewed_by: group.reviewedBy === null ? null : { ...group.reviewedBy, slack_id: '' },
      ...shape.group(group),
    })),
    time_window: row.timeWindow,
    access_request_rule_name: row.ruleName,
    min_approvals: row.minApprovals,
    force_approval_groups: row.forceApprovalGroups,
    ...(row.rejectionReason === null ? {} : { rejection_reason: row.rejectionReason }),
  };
}
