import { type ControlRow } from './control-row.ts';

/** The fields of an access-request rule that decide about approval: one rule replaces the others. */
const requestRuleFields: readonly string[] = [
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

/** Returns what access-request rules and own fields of a connection are of a control that they decide together. */
export function ofRequestRules(
  own: readonly string[],
  fields: readonly string[] = requestRuleFields,
): Pick<ControlRow, 'fields' | 'ofAccess'> {
  return {
    fields: { Connection: own, AccessRequestRule: fields },
    ofAccess: { AccessRequestRule: { verb: 'asks for approval' } },
  };
}
