import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type FieldProblem, requireNoProblems } from '../http/rejection.ts';
import { compileSchemaValidator } from '../http/request-body.ts';
import { type ReviewType, reviewTypes, type StoredTimeWindow, type ReviewAction } from './transitions.ts';
import { uuidPattern } from '../store/migrations.ts';

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
    input: { type: 'string', maxLength: 16_384, pattern: '^[^\\u0000]*$', $comment: 'text without NUL characters' },
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

/** The schema of `POST /reviews/{id}/execution`. */
export const reviewExecutionSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['status'],
  properties: { status: { enum: ['PROCESSING', 'EXECUTED'] } },
};

const formats = { uuid: uuidPattern };
const validateRequest = compileSchemaValidator(reviewRequestSchema, formats);
const validateDecision = compileSchemaValidator(reviewDecisionSchema, formats);
const validateExecution = compileSchemaValidator(reviewExecutionSchema, formats);

/** Reads a request for a review. Throws `InvalidBody` with all problems. */
export function readReviewRequest(body: JsonObject): ReviewRequest {
  const window = readWindow(body['time_window']);
  const duration = body['access_duration'];
  const type = reviewTypes.find((one) => one === body['type']) ?? 'onetime';
  requireNoProblems([
    ...validateRequest(body),
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

/** Reads a decision. Throws `InvalidBody` with all problems. */
export function readReviewDecision(body: JsonObject): ReviewDecision {
  const { status, force_review: force } = body;
  const window = readWindow(body['time_window']);
  const approves = status === 'APPROVED';
  const onlyApproved = 'requires the status APPROVED';
  requireNoProblems([
    ...validateDecision(body),
    ...checkWindow(window),
    ...(window !== null && !approves ? [{ field: '/time_window', reason: onlyApproved }] : []),
    ...(force === true && !approves ? [{ field: '/force_review', reason: onlyApproved }] : []),
  ]);
  if (approves) return { action: force === true ? 'force' : 'approve', window };
  return { action: status === 'REJECTED' ? 'reject' : 'revoke', window };
}

/** Reads a report on the execution. Throws `InvalidBody` with all problems. */
export function readReviewExecution(body: JsonObject): ReviewDecision {
  requireNoProblems(validateExecution(body));
  return { action: body['status'] === 'PROCESSING' ? 'start' : 'finish', window: null };
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

function textOrUndefined(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
