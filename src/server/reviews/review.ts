import type { JsonObject } from '../../model/json.ts';

/** Where a review stands; `UNKNOWN` is never written by this gateway. */
export const reviewStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'REVOKED', 'PROCESSING', 'EXECUTED', 'UNKNOWN'] as const;

/** What a review is for: one execution, or access for a time. */
export const reviewTypes = ['onetime', 'jit'] as const;

export type ReviewStatus = (typeof reviewStatuses)[number];
export type ReviewType = (typeof reviewTypes)[number];

/** The hours of a day, in UTC, in which the session may be executed. */
export type StoredTimeWindow = { readonly configuration: { readonly start_time: string; readonly end_time: string } };

/** What one group said, as it is stored and as it travels. */
export type StoredReviewGroup = {
  readonly id: string;
  readonly group: string;
  readonly status: ReviewStatus;
  readonly forced_review: boolean;
  readonly review_date: string | null;
  readonly reviewed_by: { readonly id: string; readonly name: string; readonly email: string; readonly chat_id: string } | null;
};

/** A review as it is stored. */
export type StoredReview = {
  readonly id: string;
  readonly session: string;
  readonly type: ReviewType;
  readonly status: ReviewStatus;
  /** Nanoseconds. */
  readonly accessDuration: number;
  readonly window: StoredTimeWindow | null;
  readonly groups: readonly StoredReviewGroup[];
  /** How many of the groups have to approve; null: all of them. */
  readonly needed: number | null;
  /** Who asked for it. */
  readonly ownerId: string;
  /** The name of its connection; null where that is gone. */
  readonly connection: string | null;
  /** Groups that may force its approval, as the connection has them now. */
  readonly forceGroups: readonly string[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** Spells a review as it travels. */
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
