import { type ControlRow } from './control-row.ts';

/** The fields of an access-request rule that decide about approval: one rule replaces the others. */
export const requestRuleFields: readonly string[] = [
  'access_type',
  'attributes',
  'approval_required_groups',
  'reviewers_groups',
  'min_approvals',
  'all_groups_must_approve',
  'force_approval_groups',
  'skip_review_groups',
];

/** All fields of an access-request rule that protect: beside the approval, how long it lasts. */
export const requestRuleLimits: readonly string[] = [...requestRuleFields, 'access_max_duration'];

/** How access-request rules reach connections. */
export const requestRules: NonNullable<ControlRow['ofAccess']> = {
  AccessRequestRule: {
    verb: 'asks for approval',
  },
};
