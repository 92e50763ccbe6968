import type { JsonObject } from '../../model/json.ts';
import {
  exactObject,
  idSchema,
  ifMatchParameter,
  pathParameter,
  pageSchema,
  pagingParameters,
  schemaRef,
  timeSchema,
  type ApiResponse,
  type ApiSection,
} from '../api/api-section.ts';
import { reviewDecisionSchema, reviewExecutionSchema, reviewRequestSchema } from './review-bodies.ts';
import { reviewTypes, reviewStatuses } from './transitions.ts';

const text = { type: 'string' } as const;
const status = { enum: reviewStatuses } as const;
const id = pathParameter('id', 'The id of the review, or of its session.');
const found = (description: string): ApiResponse => ({ description, schema: schemaRef('Review'), headers: ['ETag'] });

const group: JsonObject = exactObject({
  id: idSchema,
  group: text,
  status,
  forced_review: { type: 'boolean' },
  review_date: { type: ['string', 'null'], format: 'date-time' },
  reviewed_by: { anyOf: [exactObject({ id: idSchema, name: text, email: text, chat_id: text }), { type: 'null' }] },
});

const timeWindow: JsonObject = {
  anyOf: [exactObject({ configuration: exactObject({ start_time: text, end_time: text }) }), { type: 'null' }],
  description: 'The hours of a day, in UTC, in which the session may be executed; one that ends before it starts goes over midnight.',
};

/** Describes reviews. */
export const reviewSection: ApiSection = {
  name: 'Reviews',
  description: `Approvals that gate the execution on a connection. The interface shows neither the transitions nor how a review comes to be;
a review is seen by who asked for it, by its groups, by groups that may force it, by auditors and by admins. Every group must
approve, or as many as the connection's \`min_review_approvals\` said when the review was asked for: a field of the public gateway,
which the interface does not have. One that is larger than the number of groups asks for all of them.`,
  schemas: {
    Review: exactObject({
      id: idSchema,
      created_at: timeSchema,
      session: idSchema,
      type: { enum: reviewTypes, description: 'onetime: one execution; jit: access for a time.' },
      status,
      access_duration: { type: 'integer', description: 'Nanoseconds, for jit reviews.' },
      revoke_at: { ...text, description: 'When it was revoked; empty: it was not.' },
      review_groups_data: { type: 'array', items: group, description: 'The groups that must approve.' },
      time_window: timeWindow,
    }),
    ReviewRequest: reviewRequestSchema,
    ReviewDecision: reviewDecisionSchema,
    ReviewExecution: reviewExecutionSchema,
  },
  operations: [
    {
      method: 'get',
      path: '/reviews',
      id: 'listReviews',
      summary: 'List reviews',
      description: 'Newest first. Without paging parameters the whole list as an array.',
      parameters: [
        ...pagingParameters,
        { name: 'status', in: 'query', description: 'Only reviews that stand so.', schema: status },
        { name: 'type', in: 'query', description: 'Only reviews of this type.', schema: { enum: reviewTypes } },
        { name: 'session', in: 'query', description: 'Only the review of this session.', schema: text },
        { name: 'connection', in: 'query', description: 'Only reviews on the connection of this name.', schema: text },
      ],
      responses: {
        200: {
          description: 'The list, or a page of it.',
          schema: { oneOf: [{ type: 'array', items: schemaRef('Review') }, pageSchema(schemaRef('Review'))] },
        },
      },
      errors: [422],
    },
    {
      method: 'post',
      path: '/reviews',
      id: 'requestReview',
      summary: 'Ask for a review',
      description:
        'For a session on a connection that has reviewers. `access_duration` goes with jit alone, and is capped by the `access_max_duration` of the connection.',
      body: schemaRef('ReviewRequest'),
      responses: { 201: { ...found('It waits now.'), headers: ['Location', 'ETag'] } },
      errors: [403, 409],
    },
    {
      method: 'get',
      path: '/reviews/:id',
      id: 'readReview',
      summary: 'Read a review',
      parameters: [id],
      responses: { 200: found('The review.') },
    },
    {
      method: 'put',
      path: '/reviews/:id',
      id: 'decideReview',
      summary: 'Approve, reject or revoke a review',
      description: `A group of the caller approves once, and the last one that was awaited makes the review APPROVED. Nobody approves their own
request. \`force_review\` approves at once, for groups that the connection lets do so. REJECTED, REVOKED and EXECUTED are final. A wrong
transition is a 409, or a 403 where somebody else could make it, with the reason (the public gateway: 400 or 500). \`time_window\` is set
once. An admin of no group approves nothing, and is told so (the public gateway: 200 without a change).`,
      parameters: [id, ifMatchParameter],
      body: schemaRef('ReviewDecision'),
      responses: { 200: found('It stands so now.') },
      errors: [403, 409, 412],
    },
    {
      method: 'post',
      path: '/reviews/:id/execution',
      id: 'executeReview',
      summary: 'Tell of the execution of a review',
      description: 'PROCESSING when an approved onetime review begins, within its time window; EXECUTED when it is done.',
      parameters: [id, ifMatchParameter],
      body: schemaRef('ReviewExecution'),
      responses: { 200: found('It stands so now.') },
      errors: [403, 409, 412],
    },
  ],
};
