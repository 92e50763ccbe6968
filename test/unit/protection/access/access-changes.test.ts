import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { AccessObjects } from '../../../../src/model/protection/access-objects.ts';
import { hiddenControls } from '../../../../src/model/dialects.ts';
import { controlTable, decidingKindsOf } from '../../../../src/protection/controls/control-table.ts';
import { protectionOfAccess } from '../../../../src/protection/protection.ts';
import { type AccessLists, withAccess, requestRule, runbookRule } from '../../../support/access-objects.ts';
import { stateOf } from '../../../support/resources.ts';
import { connection } from '../protection-fixtures.ts';

const open: JsonObject = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Returns the headlines of a change of what decides access, and those of the reverse change. */
function thereAndBack(
  first: AccessLists,
  second: AccessLists,
  spec: JsonObject = {},
  license: 'none' | 'reviewed' = 'reviewed',
): readonly (readonly string[])[] {
  const live = { ...stateOf(connection('orders-db', { ...open, ...spec })), longestAccess: 172_800, accessLimits: license };
  return [
    [first, second],
    [second, first],
  ].map(([before = first, after = second]) =>
    protectionOfAccess(withAccess(live, before), withAccess(live, after), { registry, dialect: 'hoop' }).headlines.map(
      ({ direction, text }) => `${direction}: ${text}`,
    ),
  );
}

/** Returns the directions alone. */
function waysThereAndBack(...sides: Parameters<typeof thereAndBack>): readonly (readonly string[])[] {
  return thereAndBack(...sides).map((texts) => texts.map((text) => text.replace(/:.*$/, '')));
}

function row(...groups: readonly string[]): AccessLists {
  return { 'access-control': [{ id: 'uid-orders-db', name: 'orders-db', groups }] };
}

function requestRules(...all: readonly ReturnType<typeof requestRule>[]): AccessLists {
  return { 'access-request-rules': all };
}

describe('who needs an approval', () => {
  const named = { connections: ['orders-db'] };

  test('two groups together decide, too: one is asked, the other skips', () => {
    const asked = { ...named, approval_required_groups: ['dev'] };
    expect(
      thereAndBack(requestRules(requestRule('r', asked)), requestRules(requestRule('r', { ...asked, skip_review_groups: ['sre'] }))),
    ).toEqual([
      ['weakens: people in both dev and sre no longer need approval on orders-db'],
      ['strengthens: people in both dev and sre now need approval on orders-db'],
    ]);
  });

  test('every two groups that decide together are named, and those that decide the same as one of them', () => {
    const asked = { ...named, approval_required_groups: ['dev', 'qa'] };
    const skip = { ...asked, skip_review_groups: ['sre', 'ops'] };
    expect(thereAndBack(requestRules(requestRule('r', asked)), requestRules(requestRule('r', skip)))).toEqual([
      ['weakens: people in one of dev, qa and in one of ops, sre no longer need approval on orders-db'],
      ['strengthens: people in one of dev, qa and in one of ops, sre now need approval on orders-db'],
    ]);
  });

  test('a rule for a group that sees nothing asks its members who are admins, and auditors for native access', () => {
    const asks = { ...named, approval_required_groups: ['dev'] };
    const hidden = row();
    expect(thereAndBack({ ...hidden, ...requestRules(requestRule('r', asks)) }, hidden)).toEqual([
      ['weakens: people in both admin and dev no longer need approval on orders-db'],
      ['strengthens: people in both admin and dev now need approval on orders-db'],
    ]);
    const ofAuditors = { ...named, approval_required_groups: ['auditor'] };
    expect(thereAndBack({ ...hidden, ...requestRules(requestRule('r', ofAuditors)) }, hidden)).toEqual([
      ['weakens: people in auditor no longer need approval on orders-db'],
      ['strengthens: people in auditor now need approval on orders-db'],
    ]);
  });

  test('on the free license a rule lets commands run after an approval that reviewers alone refuse', () => {
    const found = thereAndBack(
      requestRules(),
      requestRules(requestRule('r', { ...named, access_type: 'command' })),
      { reviewers: ['dba'] },
      'none',
    );
    expect(found).toEqual([['weakens: 1 connection is easier to approve'], ['strengthens: 1 connection is harder to approve']]);
  });
});

function rule(...groups: readonly string[]): AccessLists {
  const runbooks = [{ repository: 'git/ops', name: 'ops/' }];
  return { 'runbook-rules': [runbookRule('nightly', { groups, connections: ['orders-db'], runbooks })] };
}

describe('which runbooks may be run', () => {
  test.each<readonly [string, AccessLists, AccessLists, readonly string[], readonly string[]]>([
    ['the first rule', {}, rule('oncall'), ['strengthens'], ['weakens']],
    [
      'the first rule, for another connection',
      {},
      { 'runbook-rules': [runbookRule('other', { connections: ['other'] })] },
      ['strengthens'],
      ['weakens'],
    ],
    ['one more group', rule('oncall'), rule('oncall', 'contractors'), ['weakens'], ['strengthens']],
    [
      'one more group that sees nothing: its members in a group that sees the connection gain',
      { ...row('payments'), ...rule('oncall') },
      { ...row('payments'), ...rule('oncall', 'contractors') },
      ['weakens'],
      ['strengthens'],
    ],
    [
      'a group of a runbook rule that sees nothing, whose members see the connection in one group and then in another',
      { ...row('payments'), ...rule('oncall') },
      { ...row('orders'), ...rule('oncall', 'contractors') },
      ['weakens', 'weakens', 'strengthens'],
      ['weakens', 'strengthens', 'strengthens'],
    ],
    [
      'a group of a runbook rule that sees nothing any more, whose members in a group that still sees the connection gain',
      rule('oncall'),
      { ...row('payments'), ...rule('oncall', 'contractors') },
      ['weakens', 'strengthens'],
      ['weakens', 'strengthens'],
    ],
    [
      'files that another rule has',
      { 'runbook-rules': [runbookRule('all', { connections: ['orders-db'] })] },
      { 'runbook-rules': [runbookRule('all', { connections: ['orders-db'] }), ...runbookRulesOf(rule('oncall'))] },
      [],
      [],
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(waysThereAndBack(first, second)).toEqual([there, back]);
  });
});

function runbookRulesOf(state: AccessLists): readonly ReturnType<typeof runbookRule>[] {
  const rules = state['runbook-rules'];
  return typeof rules === 'object' ? rules : [];
}

describe('what else blocks', () => {
  const federation: AccessObjects['federations'] = {
    id: 'f',
    name: 'orders-db',
    connections: ['orders-db'],
    fallback_policy: 'deny',
    hook_source: 'builtin',
    builtin_provider: 'gcp_iam',
    identity_source_attribute: '$.user.email',
    identity_target_template: '{user.email}',
    token_ttl_seconds: 3600,
    extra_config: '',
  };
  const pack: AccessObjects['rulepacks'] = {
    id: 'p',
    name: 'PCI',
    digest: '1',
    guardrail_rules: [],
    masking_rules: [],
    connections: ['orders-db'],
    managed: false,
  };
  const analyzer = {
    id: 'a',
    name: 'risky',
    connections: ['orders-db'],
    low_risk: 'allow_execution',
    medium_risk: 'allow_execution',
    high_risk: 'block_execution',
    managed_by: '',
  };
  const asking = { ...analyzer, high_risk: 'require_access_request:r' };
  test.each<readonly [string, AccessLists, AccessLists, readonly string[], readonly string[]]>([
    ['a rulepack', {}, { rulepacks: [pack] }, ['strengthens'], ['weakens']],
    ['rules of a rulepack', { rulepacks: [pack] }, { rulepacks: [{ ...pack, digest: '2' }] }, ['unknown'], ['unknown']],
    ['an analyzer rule', {}, { 'analyzer-rules': [analyzer] }, ['strengthens'], ['weakens']],
    [
      'the prompt of the analyzer',
      { 'analyzer-rules': [analyzer] },
      { 'analyzer-rules': [{ ...analyzer, prompt: '1' }] },
      ['unknown'],
      ['unknown'],
    ],
    ['the name of a rulepack', { rulepacks: [pack] }, { rulepacks: [{ ...pack, name: 'renamed' }] }, [], []],
    [
      'an easier approval by the rule that the analyzer asks for',
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r', { approvals: 2 })] },
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r')] },
      ['weakens'],
      ['strengthens'],
    ],
    [
      'the rule that the analyzer asks for is deleted, so that such commands fail',
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r')] },
      { 'analyzer-rules': [asking] },
      ['strengthens'],
      ['weakens'],
    ],
    ['a federation', {}, { federations: [federation] }, ['strengthens'], ['weakens']],
    [
      'the fallback of a federation',
      { federations: [federation] },
      { federations: [{ ...federation, fallback_policy: 'static' }] },
      ['weakens'],
      ['strengthens'],
    ],
    [
      'whom a federation makes of people',
      { federations: [federation] },
      { federations: [{ ...federation, identity_target_template: 'admin' }] },
      ['unknown'],
      ['unknown'],
    ],
    [
      'another identity and a fallback to the shared credential',
      { federations: [federation] },
      { federations: [{ ...federation, identity_target_template: 'admin', fallback_policy: 'static' }] },
      ['weakens'],
      ['unknown', 'strengthens'],
    ],
    [
      'the policy of another version',
      { federations: [federation] },
      { federations: [{ ...federation, fallback_policy: 'readonly' }] },
      ['weakens'],
      ['strengthens'],
    ],
    [
      'a review in place of a block',
      { 'analyzer-rules': [analyzer] },
      { 'analyzer-rules': [{ ...analyzer, high_risk: 'require_access_request:r' }] },
      ['weakens'],
      ['strengthens'],
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(waysThereAndBack(first, second)).toEqual([there, back]);
  });
});

test('the controls that lists decide are those that the public gateway may hide', () => {
  const decided = controlTable.filter((one) => decidingKindsOf(one).length > 0).map(({ type }) => type);
  expect([...hiddenControls.hoop].toSorted()).toEqual(decided.toSorted());
});
