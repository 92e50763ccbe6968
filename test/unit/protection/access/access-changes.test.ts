import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { AccessState, MachineIdentity, Rulepack } from '../../../../src/model/protection/access-objects.ts';
import { hiddenControls } from '../../../../src/model/dialects.ts';
import { controlTable } from '../../../../src/protection/controls/control-table.ts';
import { protectionOfAccess } from '../../../../src/protection/protection.ts';
import { accessState, requestRule, runbookRule } from '../../../support/access-objects.ts';
import { stateOf } from '../../../support/resources.ts';
import { connection } from '../protection-fixtures.ts';

const open: JsonObject = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Returns the headlines of a change of what decides access, and those of the reverse change. */
function thereAndBack(
  first: Partial<AccessState>,
  second: Partial<AccessState>,
  spec: JsonObject = {},
  license: 'none' | 'reviewed' = 'reviewed',
): readonly (readonly string[])[] {
  const [one, other] = [accessState(first), accessState(second)];
  const live = { ...stateOf(connection('orders-db', { ...open, ...spec })), longestAccess: 172_800, accessLimits: license };
  return [
    [one, other],
    [other, one],
  ].map(([before = one, access = other]) =>
    protectionOfAccess({ ...live, access: before }, { ...live, access }, { registry, dialect: 'hoop' }).headlines.map(
      ({ direction, text }) => `${direction}: ${text}`,
    ),
  );
}

function row(...groups: readonly string[]): Pick<AccessState, 'access-control'> {
  return { 'access-control': [{ id: 'uid-orders-db', name: 'orders-db', groups }] };
}

function attribute(name: string, groups: readonly string[]): Pick<AccessState, 'attributes'> {
  const nothing = { connections: [], access_request_rules: [], guardrail_rules: [], masking_rules: [], managed_by: '' };
  return { attributes: [{ ...nothing, id: `id-${name}`, name, groups }] };
}

function machine(name: string): MachineIdentity {
  return { id: `id-${name}`, name, connections: [], attributes: ['pii'] };
}

describe('who reaches a connection', () => {
  test.each<readonly [string, Partial<AccessState>, Partial<AccessState>, string, string]>([
    [
      'access control that is switched on without a row',
      {},
      { 'access-control': [] },
      'availability: 1 connection is visible to no group: everybody loses access',
      'weakens: everybody can reach orders-db',
    ],
    [
      'a first group',
      row(),
      row('payments'),
      'weakens: payments can reach orders-db',
      'availability: 1 connection is visible to no group: payments loses access',
    ],
    [
      'a second group',
      row('payments'),
      row('payments', 'contractors'),
      'weakens: contractors can reach orders-db',
      'strengthens: contractors can no longer reach orders-db',
    ],
    [
      'an attribute that grants',
      { ...row('payments'), ...attribute('pii', []) },
      { ...row('payments'), ...attribute('pii', ['contractors']) },
      'weakens: contractors can reach orders-db',
      'strengthens: contractors can no longer reach orders-db',
    ],
    [
      'a machine identity by attribute',
      {},
      { 'machine-identities': [{ id: 'm', name: 'deployer', connections: [], attributes: ['pii'] }] },
      'weakens: machine identity deployer can reach orders-db',
      'strengthens: machine identity deployer can no longer reach orders-db',
    ],
    [
      'another machine identity',
      { 'machine-identities': [machine('deployer')] },
      { 'machine-identities': [machine('deployer'), machine('backup')] },
      'weakens: machine identity backup can reach orders-db',
      'strengthens: machine identity backup can no longer reach orders-db',
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(thereAndBack(first, second, { attributes: ['pii'] })).toEqual([[there], [back]]);
  });

  test('the groups admin and auditor see every connection, with or without a row', () => {
    expect(thereAndBack(row('payments'), row('payments', 'admin', 'auditor'))).toEqual([[], []]);
  });

  test('an attribute that grants nothing while access control is off decides nothing', () => {
    expect(thereAndBack(attribute('pii', []), attribute('pii', ['contractors']), { attributes: ['pii'] })).toEqual([[], []]);
  });
});

function requestRules(...all: readonly ReturnType<typeof requestRule>[]): Partial<AccessState> {
  return { 'access-request-rules': all };
}

describe('who needs an approval', () => {
  const named = { connections: ['orders-db'] };
  test.each<readonly [string, Partial<AccessState>, Partial<AccessState>, readonly string[], readonly string[]]>([
    [
      'a first rule',
      requestRules(),
      requestRules(requestRule('r', named)),
      ['strengthens: 1 connection gains approval'],
      ['weakens: 1 connection loses approval'],
    ],
    ['a rule for another connection', requestRules(), requestRules(requestRule('r', { connections: ['other'] })), [], []],
    [
      'a rule that asks one group alone',
      requestRules(requestRule('r', named)),
      requestRules(requestRule('r', { ...named, approval_required_groups: ['dev'] })),
      ['weakens: everybody else no longer needs approval on orders-db'],
      ['strengthens: everybody else now needs approval on orders-db'],
    ],
    [
      'a group that skips',
      requestRules(requestRule('r', named)),
      requestRules(requestRule('r', { ...named, skip_review_groups: ['contractors'] })),
      ['weakens: people in contractors no longer need approval on orders-db'],
      ['strengthens: people in contractors now need approval on orders-db'],
    ],
    [
      'one more group that forces',
      requestRules(requestRule('r', named)),
      requestRules(requestRule('r', { ...named, force_approval_groups: ['oncall'] })),
      ['weakens: 1 connection can be force-approved by group oncall'],
      ['strengthens: 1 connection can no longer be force-approved by group oncall'],
    ],
    [
      'fewer approvals',
      requestRules(requestRule('r', { ...named, approvals: 2 })),
      requestRules(requestRule('r', named)),
      ['weakens: 1 connection can be approved by any 1 of 2 groups (was 2 of 2)'],
      ['strengthens: 1 connection needs approval by 2 of 2 groups (was 1 of 2)'],
    ],
    ['another name of the same requirement', requestRules(requestRule('r', named)), requestRules(requestRule('s', named)), [], []],
    [
      'a rule by attribute before one by name',
      requestRules(requestRule('r', named)),
      requestRules(requestRule('r', named), requestRule('weak', { attributes: ['pii'], skip_review_groups: ['contractors'] })),
      ['weakens: people in contractors no longer need approval on orders-db'],
      ['strengthens: people in contractors now need approval on orders-db'],
    ],
    [
      'the higher id of two by attribute',
      requestRules(requestRule('a', { attributes: ['pii'] })),
      requestRules(requestRule('a', { attributes: ['pii'] }), requestRule('b', { attributes: ['pii'], approvals: 2 })),
      [],
      [],
    ],
    [
      'a longer duration',
      requestRules(requestRule('r', { ...named, access_max_duration: 600 })),
      requestRules(requestRule('r', { ...named, access_max_duration: 3600 })),
      ['weakens: 1 connection allows longer access: 1 h (was 10 min)'],
      ['strengthens: 1 connection allows only shorter access: 10 min (was 1 h)'],
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(thereAndBack(first, second, { attributes: ['pii'] })).toEqual([there, back]);
  });

  test.each<readonly [string, Partial<AccessState>, Partial<AccessState>, readonly string[], readonly string[], JsonObject]>([
    [
      'a rule for commands where only native access is open',
      requestRules(),
      requestRules(requestRule('r', { ...named, access_type: 'command' })),
      [],
      [],
      { access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' },
    ],
    [
      'a rule in place of reviewers',
      requestRules(),
      requestRules(requestRule('r', { ...named, reviewers_groups: ['sec'] })),
      ['weakens: 1 connection is easier to approve', 'strengthens: 1 connection is harder to approve'],
      ['weakens: 1 connection is easier to approve', 'strengthens: 1 connection is harder to approve'],
      { reviewers: ['dba'] },
    ],
    [
      'a rule for one group beside reviewers who stay for all others',
      requestRules(),
      requestRules(requestRule('r', { ...named, approval_required_groups: ['dev'], reviewers_groups: ['dba', 'sec'], approvals: 2 })),
      ['strengthens: 1 connection is harder to approve'],
      ['weakens: 1 connection is easier to approve'],
      { reviewers: ['dba'] },
    ],
  ])('%s', (_, first, second, there, back, spec) => {
    expect(thereAndBack(first, second, { attributes: ['pii'], ...spec })).toEqual([there, back]);
  });

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

function rule(...groups: readonly string[]): Partial<AccessState> {
  const runbooks = [{ repository: 'git/ops', name: 'ops/' }];
  return { 'runbook-rules': [runbookRule('nightly', { groups, connections: ['orders-db'], runbooks })] };
}

describe('which runbooks may be run', () => {
  test.each<readonly [string, Partial<AccessState>, Partial<AccessState>, readonly string[], readonly string[]]>([
    [
      'the first rule',
      {},
      rule('oncall'),
      ['strengthens: 1 connection allows only the runbooks of rules: there were no runbook rules before'],
      ['weakens: 1 connection lets everybody run every runbook: no runbook rule is left'],
    ],
    [
      'the first rule, for another connection',
      {},
      { 'runbook-rules': [runbookRule('other', { connections: ['other'] })] },
      ['strengthens: 1 connection allows only the runbooks of rules: there were no runbook rules before'],
      ['weakens: 1 connection lets everybody run every runbook: no runbook rule is left'],
    ],
    [
      'one more group',
      rule('oncall'),
      rule('oncall', 'contractors'),
      ['weakens: contractors can run git/ops:ops/ on orders-db'],
      ['strengthens: contractors can no longer run git/ops:ops/ on orders-db'],
    ],
    [
      'one more group that sees nothing: its members in a group that sees the connection gain',
      { ...row('payments'), ...rule('oncall') },
      { ...row('payments'), ...rule('oncall', 'contractors') },
      ['weakens: contractors can run git/ops:ops/ on orders-db'],
      ['strengthens: contractors can no longer run git/ops:ops/ on orders-db'],
    ],
    [
      'a group of a runbook rule that sees nothing, whose members see the connection in one group and then in another',
      { ...row('payments'), ...rule('oncall') },
      { ...row('orders'), ...rule('oncall', 'contractors') },
      [
        'weakens: orders can reach orders-db',
        'weakens: contractors can run git/ops:ops/ on orders-db',
        'strengthens: payments can no longer reach orders-db',
      ],
      [
        'weakens: payments can reach orders-db',
        'strengthens: orders can no longer reach orders-db',
        'strengthens: contractors can no longer run git/ops:ops/ on orders-db',
      ],
    ],
    [
      'a group of a runbook rule that sees nothing any more, whose members in a group that still sees the connection gain',
      rule('oncall'),
      { ...row('payments'), ...rule('oncall', 'contractors') },
      ['weakens: contractors can run git/ops:ops/ on orders-db', 'strengthens: only payments can reach orders-db'],
      ['weakens: everybody can reach orders-db', 'strengthens: contractors can no longer run git/ops:ops/ on orders-db'],
    ],
    [
      'files that another rule has',
      { 'runbook-rules': [runbookRule('all', { connections: ['orders-db'] })] },
      { 'runbook-rules': [runbookRule('all', { connections: ['orders-db'] }), ...runbookRulesOf(rule('oncall'))] },
      [],
      [],
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(thereAndBack(first, second)).toEqual([there, back]);
  });
});

function runbookRulesOf(state: Partial<AccessState>): readonly ReturnType<typeof runbookRule>[] {
  const rules = state['runbook-rules'];
  return typeof rules === 'object' ? rules : [];
}

describe('what else blocks', () => {
  const pack: Rulepack = {
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
  test.each<readonly [string, Partial<AccessState>, Partial<AccessState>, readonly string[], readonly string[]]>([
    [
      'a rulepack',
      {},
      { rulepacks: [pack] },
      ['strengthens: 1 connection gains the rulepack PCI'],
      ['weakens: 1 connection loses the rulepack PCI'],
    ],
    [
      'rules of a rulepack',
      { rulepacks: [pack] },
      { rulepacks: [{ ...pack, digest: '2' }] },
      ['unknown: 1 connection changes rulepacks in a way that cannot be compared'],
      ['unknown: 1 connection changes rulepacks in a way that cannot be compared'],
    ],
    [
      'an analyzer rule',
      {},
      { 'analyzer-rules': [analyzer] },
      ['strengthens: 1 connection gains the analyzer'],
      ['weakens: 1 connection loses the analyzer'],
    ],
    [
      'the prompt of the analyzer',
      { 'analyzer-rules': [analyzer] },
      { 'analyzer-rules': [{ ...analyzer, prompt: '1' }] },
      ['unknown: 1 connection changes the analyzer in a way that cannot be compared'],
      ['unknown: 1 connection changes the analyzer in a way that cannot be compared'],
    ],
    ['the name of a rulepack', { rulepacks: [pack] }, { rulepacks: [{ ...pack, name: 'renamed' }] }, [], []],
    [
      'an easier approval by the rule that the analyzer asks for',
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r', { approvals: 2 })] },
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r')] },
      ['weakens: 1 connection is less strict about risky commands'],
      ['strengthens: 1 connection is stricter about risky commands'],
    ],
    [
      'the rule that the analyzer asks for is deleted, so that such commands fail',
      { 'analyzer-rules': [asking], 'access-request-rules': [requestRule('r')] },
      { 'analyzer-rules': [asking] },
      ['strengthens: 1 connection is stricter about risky commands'],
      ['weakens: 1 connection is less strict about risky commands'],
    ],
    [
      'a review in place of a block',
      { 'analyzer-rules': [analyzer] },
      { 'analyzer-rules': [{ ...analyzer, high_risk: 'require_access_request:r' }] },
      ['weakens: 1 connection is less strict about risky commands'],
      ['strengthens: 1 connection is stricter about risky commands'],
    ],
  ])('%s', (_, first, second, there, back) => {
    expect(thereAndBack(first, second)).toEqual([there, back]);
  });
});

test('the controls that lists decide are those that the public gateway may hide', () => {
  const decided = controlTable.filter(({ lists }) => lists !== undefined).map(({ type }) => type);
  expect([...hiddenControls.hoop].toSorted()).toEqual(decided.toSorted());
});
