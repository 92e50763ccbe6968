import { expect, test } from 'vitest';
import type { AccessExpectation } from '../../../../src/model/protection/access-test.ts';
import { canonical, type Json } from '../../../../src/model/json.ts';
import { statedText } from '../../../../src/protection/permission/expectation-texts.ts';
import { defaultRoles } from '../../../../src/model/protection/access-objects.ts';
import { missingExpectations } from '../../../../src/protection/permission/access-test-findings.ts';

const at = { file: 'access/people.yaml', line: 5, column: 5 };

function expectation(given: Partial<AccessExpectation> = {}): AccessExpectation {
  const one = {
    people: { groups: ['dev', 'ops'] },
    on: { names: ['orders'] },
    verbs: undefined,
    expect: 'denied' as const,
    longest: undefined,
    masked: [],
    blocked: [],
    tools: [],
    ...given,
  };
  const text: Json = JSON.parse(JSON.stringify(one));
  return { at, ...one, text: canonical(text) };
}

/** Returns what the expectations of one connection asked before, and ask no longer. */
function missing(now: readonly Partial<AccessExpectation>[], before: readonly Partial<AccessExpectation>[]): readonly AccessExpectation[] {
  const all = now.map(expectation);
  return before.flatMap((one) => missingExpectations(expectation(one), all, defaultRoles));
}

const approval = { from: ['dba', 'sre'], atLeast: 1, forcedBy: ['leads', 'oncall'] };
const approved = { expect: approval, longest: 3600, masked: ['EMAIL_ADDRESS'], blocked: ['DROP'] };

test.each<readonly [string, Partial<AccessExpectation>, Partial<AccessExpectation>]>([
  ['the same groups in another order', {}, { people: { groups: ['ops', 'dev'] } }],
  ['denied by every verb', { verbs: ['exec'] }, {}],
  ['more verbs', { verbs: ['exec'], expect: 'allowed' }, { verbs: ['connect', 'exec'], expect: 'allowed' }],
  ['an approval', { expect: 'allowed' }, approved],
  ['a stricter approval', approved, { ...approved, expect: { from: ['dba'], atLeast: 2, forcedBy: [] } }],
  [
    'less time, and more masked and blocked',
    approved,
    { ...approved, longest: 60, masked: ['EMAIL_ADDRESS', 'US_SSN'], blocked: ['A', 'DROP'] },
  ],
])('%s: nothing is lost, and the other way round it is', (_, before, after) => {
  expect(missing([after], [before])).toEqual([]);
  const isSame = before.people === undefined && after.people !== undefined && 'groups' in after.people;
  expect(missing([before], [after])).toHaveLength(isSame ? 0 : 1);
});

test('denied access is denied by all verbs, stated or not', () => {
  const stated = { verbs: ['connect', 'exec', 'runbooks'] } as const;
  expect([missing([{}], [stated]), missing([stated], [{}])]).toEqual([[], []]);
});

test.each<readonly [string, Partial<AccessExpectation>, Partial<AccessExpectation>]>([
  ['other groups', {}, { people: { groups: ['dev'] } }],
  ['fewer groups', { people: { groups: ['dev'] } }, {}],
  ['denied becomes allowed', {}, { expect: 'allowed' }],
  ['one verb of allowed access', { expect: 'allowed' }, { expect: 'allowed', verbs: ['exec'] }],
  ['any verb of allowed access', { expect: 'allowed', verbs: ['exec'] }, { expect: 'allowed' }],
  ['other approvers', approved, { ...approved, expect: { ...approval, from: ['dba', 'security'] } }],
  ['any approver', approved, { ...approved, expect: { ...approval, from: [] } }],
  ['anybody forces it', approved, { ...approved, expect: { ...approval, forcedBy: undefined } }],
])('%s: the expectation is lost', (_, before, after) => {
  expect(missing([after], [before])).toHaveLength(1);
});

const others = (...outside: readonly string[]): Partial<AccessExpectation> => ({ people: { outside } });
const dev = { people: { groups: ['dev'] } };
const granted = { expect: 'allowed' as const };

test.each<readonly [string, readonly Partial<AccessExpectation>[], readonly Partial<AccessExpectation>[], readonly string[]]>([
  ['more people are others', [others('dev', 'ops')], [others('dev')], []],
  ['a group is left out of the others', [others('ops')], [others('dev', 'ops')], ['dev on orders: denied']],
  ['a group has an expectation of its own', [others('ops')], [others('dev', 'ops'), dev], []],
  ['a group gets access', [others('ops')], [others('dev', 'ops'), { ...dev, ...granted }], ['dev on orders: denied']],
  ['a group becomes one of the others', [others('dev'), dev], [others()], []],
  ['of others who are allowed', [{ ...dev, ...granted }], [{ ...others(), ...granted }], []],
  ['no others', [others('dev')], [dev], ['others on orders: denied']],
  ['others need less', [others('dev')], [{ ...others('dev'), ...approved }], ['others on orders: denied']],
  ['others need more', [{ ...others('dev'), ...approved }], [others('dev')], []],
  ['a group that others leave out needs more', [{ ...others(), ...approved }], [{ ...others('dev'), ...approved }, dev], []],
  ['admins are no others', [{ people: { groups: ['admin'] } }], [others()], ['admin on orders: denied']],
])('others: %s', (_, before, after, lost) => {
  expect(missing(after, before).map(statedText)).toEqual(lost);
});

test('an approval of others does not replace one of a group: others may be denied', () => {
  const [one, all] = [
    { ...dev, ...approved },
    { ...others(), ...approved },
  ];
  expect(missing([all], [one])).toHaveLength(1);
});
