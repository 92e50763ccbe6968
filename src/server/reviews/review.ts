import type { JsonObject } from '../../model/json.ts';

/** The statuses of a review. This gateway never writes `UNKNOWN`. */
export const reviewStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED', 'PROCESSING', 'EXECUTED', 'UNKNOWN'] as const;

/** The types of a review: one execution, or access for a time. */
export const reviewTypes = ['onetime', 'jit'] as const;

export type ReviewStatus = (typeof reviewStatuses)[number];
export type ReviewType = (typeof reviewTypes)[number];

/** The hours of a day, in UTC, in which the session may be executed. */
export type StoredTimeWindow = { readonly configuration: { readonly start_time: string; readonly end_time: string } };

/** The decision of one group, as it is stored and returned. */
export type StoredReviewGroup = {
  readonly id: string;
  readonly group: string;
  readonly status: ReviewStatus;
  readonly forced_review: boolean;
  readonly review_date: string | null;
  readonly reviewed_by: { readonly id: string; readonly name: string; readonly email: string; readonly chat_id: string } | null;
};

/** A stored review. */
export type StoredReview = {
  readonly id: string;
  readonly session: string;
  readonly type: ReviewType;
  readonly status: ReviewStatus;
  /** Nanoseconds. */
  readonly accessDuration: number;
  readonly window: StoredTimeWindow | null;
  readonly groups: readonly StoredReviewGroup[];
  /** How many groups must approve; null: all of them. */
  readonly needed: number | null;
  /** The caller that requested the review. */
  readonly ownerId: string;
  /** The name of the connection; null when it was deleted. */
  readonly connection: string | null;
  /** The groups that may force an approval, according to the connection now. */
  readonly forceGroups: readonly string[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** Returns the JSON of a review in responses. */
export function reviewJson(review: StoredReview): JsonObject {
  return {
    id: review.id,
    created_at: review.createdAt.toISOString(),
    session: review.session,
    type: review.type,
    status: review.status,
    access_duration: review.accessDuration,
    revoke_at: review.revokedAt?.toISOString() ?? '',
    review_groups_data: review.groups,
    time_window: review.window,
  };
}
