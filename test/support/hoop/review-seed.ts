import type { ModelContext } from './call.ts';
import type { ReviewRow } from './rows.ts';

/** A review that a session opened, which is not done through the API. */
export type ReviewSeed = {
  readonly connection: string;
  readonly groups: readonly string[];
  readonly ownerId?: string;
  readonly ownerEmail?: string;
  readonly input?: string;
  readonly id?: string;
  readonly session?: string;
  readonly type?: ReviewRow['type'];
  readonly status?: string;
  readonly ruleName?: string;
  readonly minApprovals?: number;
  readonly forceApprovalGroups?: readonly string[];
};

const halfAnHour = 1_800_000_000_000;

/** Opens a review: pending in every group. */
export function openReview({ store, random, clock }: ModelContext, seed: ReviewSeed): ReviewRow {
  const row: ReviewRow = {
    id: seed.id ?? random.uuid(),
    session: seed.session ?? random.uuid(),
    type: seed.type ?? 'jit',
    accessDuration: halfAnHour,
    status: seed.status ?? 'PENDING',
    connection: seed.connection,
    ownerId: seed.ownerId ?? random.uuid(),
    ownerEmail: seed.ownerEmail ?? 'otto@example.com',
    input: seed.input ?? '',
    revokeAt: null,
    createdAt: clock.now(),
    groups: seed.groups.map((group) => ({ id: random.uuid(), group, status: 'PENDING', reviewedBy: null, reviewedAt: null })),
    timeWindow: null,
    ruleName: seed.ruleName ?? null,
    minApprovals: seed.minApprovals ?? null,
    forceApprovalGroups: seed.forceApprovalGroups ?? null,
    rejectionReason: null,
  };
  store.reviews.set(row.id, row);
  return row;
}
