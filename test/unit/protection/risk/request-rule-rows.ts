import type { JsonObject } from '../../../../src/model/json.ts';
import { connectionManifest as connection } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';
import type { Row } from './credential-rows.ts';

const open = { access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Two connections, and a rule that asks two groups for approval of native access to the first. */
function ruled(spec: JsonObject = {}): readonly Manifest[] {
  const usual = { access_type: 'jit', connection_names: ['one'], reviewers_groups: ['dba', 'security'], all_groups_must_approve: true };
  const rule = { kind: 'AccessRequestRule', metadata: { name: 'prod' }, spec: { ...usual, ...spec } };
  return [connection('one', open), connection('two', open), rule];
}

/** A connection under a rule of which all groups must approve a session, and one of them is enough for a credential. */
function credentialed(reviewers: readonly string[]): readonly Manifest[] {
  return [connection('one', { reviewers }), ...ruled({ min_approvals: 1 }).slice(1)];
}

const without = ruled().slice(0, 2);
const counted = { all_groups_must_approve: null };

/** Access-request rules, in both directions. */
export const requestRuleRows: readonly Row[] = [
  ['an access-request rule', without, ruled(), 'strengthens approval', ''],
  ['a connection that it names', ruled(), ruled({ connection_names: ['one', 'two'] }), 'strengthens approval'],
  ['a number of approvals', ruled({ ...counted, min_approvals: 2 }), ruled({ ...counted, min_approvals: 1 }), 'weakens approval'],
  ['a group that it asks alone', ruled(), ruled({ approval_required_groups: ['dev'] }), 'weakens approval'],
  ['a group that skips the review', ruled(), ruled({ skip_review_groups: ['sre'] }), 'weakens approval'],
  ['a group that can force it', ruled(), ruled({ force_approval_groups: ['oncall'] }), 'weakens approval'],
  ['a group that reviews', ruled(), ruled({ reviewers_groups: ['dba', 'security', 'audit'] }), 'strengthens approval'],
  ['the type of access', ruled(), ruled({ access_type: 'jit_command' }), 'strengthens approval'],
  ['reviewers without whom a rule counts fewer approvals', credentialed(['dba']), credentialed([]), 'weakens review'],
  ['the longest access', ruled({ access_max_duration: 60 }), ruled({ access_max_duration: 600 }), 'weakens duration'],
];
