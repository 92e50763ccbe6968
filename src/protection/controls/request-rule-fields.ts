import { type JsonObject, textsIn } from '../../model/json.ts';
import { readRequestRule } from '../../model/protection/access-objects.ts';
import {
  attributeRisks,
  type ControlRow,
  type FieldRisks,
  limitRisks,
  type MemberCodes,
  type RiskCode,
  setRisks,
  strengthening,
  uncertain,
  weakening,
} from './control-row.ts';

type LimitCodes = { readonly raised: RiskCode; readonly lowered: RiskCode };

/** The codes of groups that review, of how many have to approve, and of groups that approve alone: of connections and of access-request rules. */
export const approvalCodes: {
  readonly reviewers: MemberCodes;
  readonly count: LimitCodes;
  readonly force: MemberCodes;
  readonly duration: LimitCodes & { readonly unset: RiskCode };
} = {
  reviewers: {
    removed: weakening('reviewer-removed', 'a reviewer group is removed'),
    added: strengthening('reviewer-added', 'a reviewer group is added'),
  },
  count: {
    raised: strengthening('approvals-raised', 'more groups must approve'),
    lowered: weakening('approvals-lowered', 'fewer groups must approve'),
  },
  force: {
    added: weakening('force-approver-added', 'one more group can approve alone'),
    removed: strengthening('force-approver-removed', 'one fewer group can approve alone'),
  },
  duration: {
    raised: weakening('duration-raised', 'sessions can last longer or have no limit'),
    lowered: strengthening('duration-lowered', 'sessions end sooner'),
    unset: uncertain('duration-changed', 'a limit is replaced by the default of the gateway, or replaces it'),
  },
};

const askedCodes: MemberCodes = {
  removed: weakening('approval-not-asked', 'fewer people need an approval'),
  added: strengthening('approval-asked', 'more people need an approval'),
};

const typeChanged = uncertain('approval-type-changed', 'an access-request rule asks for approval of something else');

/** Finds groups of which an approval is asked; an empty list asks everybody, so that a first group asks fewer. */
const askedRisks: FieldRisks = {
  codes: [askedCodes.removed, askedCodes.added],
  find: ({ before, after }) => {
    const [had, has] = [before, after].map((spec) => textsIn(spec['approval_required_groups']));
    const found = setRisks(['approval_required_groups'], askedCodes).find({ before, after });
    if (had === undefined || has === undefined || (had.length > 0 && has.length > 0)) return found;
    return found.map((draft) => ({ ...draft, code: has.length === 0 ? askedCodes.added : askedCodes.removed }));
  },
};

/** Finds how many groups have to approve a session, or a credential for a native client. */
function countRisks(field: string): FieldRisks {
  const { codes, find } = limitRisks(field, approvalCodes.count);
  return {
    codes,
    find: ({ before, after }) => {
      const [had, has] = [approvalsOf(before), approvalsOf(after)];
      const found = had.flatMap((count, index) => find({ before: { [field]: count }, after: { [field]: has[index] ?? count } }));
      return found.filter(({ code }, index) => found.findIndex((one) => one.code === code) === index);
    },
  };
}

/** Returns how many groups have to approve a session, and a credential; a rule about commands alone decides no credentials. */
function approvalsOf(spec: JsonObject): readonly number[] {
  const {
    approvals,
    credential_approvals: fewer = approvals,
    access_type: type,
  } = readRequestRule(spec, { id: '', name: '', connections: [] });
  return [approvals, type === 'command' ? approvals : fewer];
}

/** What the fields of an access-request rule do. */
export const requestRuleRisks: readonly FieldRisks[] = [
  setRisks(['reviewers_groups'], approvalCodes.reviewers),
  countRisks('min_approvals'),
  askedRisks,
  setRisks(['skip_review_groups'], { added: askedCodes.removed, removed: askedCodes.added }),
  setRisks(['force_approval_groups'], approvalCodes.force),
  limitRisks('access_max_duration', approvalCodes.duration),
  {
    codes: [typeChanged],
    find: ({ before, after }) => (before['access_type'] === after['access_type'] ? [] : [{ code: typeChanged, fields: ['access_type'] }]),
  },
  attributeRisks,
];

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
    detached: weakening('request-rule-detached', 'an access-request rule no longer names a connection'),
    attached: strengthening('request-rule-attached', 'an access-request rule names a connection'),
  },
};
