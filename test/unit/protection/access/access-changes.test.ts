import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { hiddenControls } from '../../../../src/model/dialects.ts';
import { controlTable, decidingKindsOf } from '../../../../src/protection/controls/control-table.ts';
import { protectionOfAccess } from '../../../../src/protection/protection.ts';
import {
  type AccessLists,
  analyzerRule,
  federation,
  requestRule,
  rulepack,
  runbookRule,
  withAccess,
} from '../../../support/access-objects.ts';
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

/** What a change weakens or strengthens, and what the reverse change does: the opposite if it is not stated. */
type Row = readonly [string, AccessLists, AccessLists, there: string, back?: string];

function expectWays(first: AccessLists, second: AccessLists, there: string, back?: string): void {
  const opposite = { weakens: 'strengthens', strengthens: 'weakens' };
  const reverse = back ?? there.replaceAll(/weakens|strengthens/g, (way) => opposite[way === 'weakens' ? way : 'strengthens']);
  expect(waysThereAndBack(first, second).map((ways) => ways.join(' '))).toEqual([there, reverse]);
}

describe('which runbooks may be run', () => {
  const elsewhere = { 'runbook-rules': [runbookRule('other', { connections: ['other'] })] };
  const whole = runbookRule('all', { connections: ['orders-db'] });
  const [few, more] = [rule('oncall'), rule('oncall', 'contractors')];
  const rows: readonly Row[] = [
    ['the first rule', {}, few, 'strengthens'],
    ['the first rule, for another connection', {}, elsewhere, 'strengthens'],
    ['one more group', few, more, 'weakens'],
    [
      'one more group that sees nothing: its members in a group that sees the connection gain',
      { ...row('payments'), ...few },
      { ...row('payments'), ...more },
      'weakens',
    ],
    [
      'a group of a runbook rule that sees nothing, whose members see the connection in one group and then in another',
      { ...row('payments'), ...few },
      { ...row('orders'), ...more },
      'weakens weakens strengthens',
      'weakens strengthens strengthens',
    ],
    [
      'a group of a runbook rule that sees nothing any more, whose members in a group that still sees the connection gain',
      few,
      { ...row('payments'), ...more },
      'weakens strengthens',
      'weakens strengthens',
    ],
    ['files that another rule has', { 'runbook-rules': [whole] }, { 'runbook-rules': [whole, ...runbookRulesOf(few)] }, ''],
  ];
  test.each(rows.map(([title, ...given]) => [title, given] as const))('%s', (_, given) => expectWays(...given));
});

function runbookRulesOf(state: AccessLists): readonly ReturnType<typeof runbookRule>[] {
  const rules = state['runbook-rules'];
  return typeof rules === 'object' ? rules : [];
}

const packed = (given?: Parameters<typeof rulepack>[0]): AccessLists => ({ rulepacks: [rulepack(given)] });
const federated = (given?: Parameters<typeof federation>[0]): AccessLists => ({ federations: [federation(given)] });
const analyzed = (given?: Parameters<typeof analyzerRule>[0]): AccessLists => ({ 'analyzer-rules': [analyzerRule(given)] });

describe('what else blocks', () => {
  const asking = analyzed({ high_risk: 'require_access_request:r' });
  const admin = { identity_target_template: 'admin' };
  const rows: readonly Row[] = [
    ['a rulepack', {}, packed(), 'strengthens'],
    ['rules of a rulepack', packed(), packed({ digest: '2' }), 'unknown'],
    ['an analyzer rule', {}, analyzed(), 'strengthens'],
    ['the prompt of the analyzer', analyzed(), analyzed({ prompt: '1' }), 'unknown'],
    ['the name of a rulepack', packed(), packed({ name: 'renamed' }), ''],
    [
      'an easier approval by the rule that the analyzer asks for',
      { ...asking, ...requestRules(requestRule('r', { approvals: 2 })) },
      { ...asking, ...requestRules(requestRule('r')) },
      'weakens',
    ],
    [
      'the rule that the analyzer asks for is deleted, so that such commands fail',
      { ...asking, ...requestRules(requestRule('r')) },
      asking,
      'strengthens',
    ],
    ['a federation', {}, federated(), 'strengthens'],
    ['the fallback of a federation', federated(), federated({ fallback_policy: 'static' }), 'weakens'],
    ['whom a federation makes of people', federated(), federated(admin), 'unknown'],
    [
      'another identity and a fallback to the shared credential',
      federated(),
      federated({ ...admin, fallback_policy: 'static' }),
      'weakens',
      'unknown strengthens',
    ],
    ['the policy of another version', federated(), federated({ fallback_policy: 'readonly' }), 'weakens'],
    ['a review in place of a block', analyzed(), asking, 'weakens'],
  ];
  test.each(rows.map(([title, ...given]) => [title, given] as const))('%s', (_, given) => expectWays(...given));
});

test('the controls that lists decide are those that the public gateway may hide', () => {
  const decided = controlTable.filter((one) => decidingKindsOf(one).length > 0).map(({ type }) => type);
  expect([...hiddenControls.hoop].toSorted()).toEqual(decided.toSorted());
});
