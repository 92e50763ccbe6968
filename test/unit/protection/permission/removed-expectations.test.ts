import { expect, test } from 'vitest';
import type { AccessExpectation, AccessTest } from '../../../../src/model/protection/access-test.ts';
import { canonical, type Json } from '../../../../src/model/json.ts';
import { statedText } from '../../../../src/protection/permission/expectation-texts.ts';
import { removedExpectations } from '../../../../src/protection/permission/access-test-findings.ts';

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
    ...given,
  };
  const text: Json = JSON.parse(JSON.stringify(one));
  return { at, ...one, text: canonical(text) };
}

function testOf(...expectations: readonly AccessExpectation[]): readonly AccessTest[] {
  return [{ name: 'people', at, expectations }];
}

const approval = { from: ['dba', 'sre'], atLeast: 1, forcedBy: ['leads', 'oncall'] };
const approved = { expect: approval, longest: 3600, masked: ['EMAIL_ADDRESS'], blocked: ['DROP'] };

test.each<readonly [string, Partial<AccessExpectation>, Partial<AccessExpectation>]>([
  ['the same groups in another order', {}, { people: { groups: ['ops', 'dev'] } }],
  ['more connections', {}, { on: { names: ['billing', 'orders'] } }],
  ['all connections', { on: { names: ['orders-*'] } }, { on: { names: ['*'] } }],
  ['all connections instead of tags', { on: { tags: { env: 'prod' } } }, { on: { names: ['*'] } }],
  ['a wider pattern', { on: { names: ['orders-*'] } }, { on: { names: ['ord*'] } }],
  ['fewer tags', { on: { tags: { env: 'prod', team: 'a' } } }, { on: { tags: { env: 'prod' } } }],
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
  const [had, has] = [testOf(expectation(before)), testOf(expectation(after))];
  expect(removedExpectations(has, had)).toEqual([]);
  const isSame = before.people === undefined && after.people !== undefined && 'groups' in after.people;
  expect(removedExpectations(had, has)).toHaveLength(isSame ? 0 : 1);
});

test('denied access is denied by all verbs, stated or not', () => {
  const [without, stated] = [testOf(expectation()), testOf(expectation({ verbs: ['connect', 'exec', 'runbooks'] }))];
  expect([removedExpectations(without, stated), removedExpectations(stated, without)]).toEqual([[], []]);
});

test.each<readonly [string, Partial<AccessExpectation>, Partial<AccessExpectation>]>([
  ['a pattern of one letter instead of any', { on: { names: ['o*'] } }, { on: { names: ['o?'] } }],
  ['other groups', {}, { people: { groups: ['dev'] } }],
  ['fewer groups', { people: { groups: ['dev'] } }, {}],
  ['names instead of tags', { on: { tags: { env: 'prod' } } }, {}],
  ['another tag', { on: { tags: { env: 'prod' } } }, { on: { tags: { team: 'a' } } }],
  ['denied becomes allowed', {}, { expect: 'allowed' }],
  ['one verb of allowed access', { expect: 'allowed' }, { expect: 'allowed', verbs: ['exec'] }],
  ['any verb of allowed access', { expect: 'allowed', verbs: ['exec'] }, { expect: 'allowed' }],
  ['other approvers', approved, { ...approved, expect: { ...approval, from: ['dba', 'security'] } }],
  ['any approver', approved, { ...approved, expect: { ...approval, from: [] } }],
  ['anybody forces it', approved, { ...approved, expect: { ...approval, forcedBy: undefined } }],
])('%s: the expectation is lost', (_, before, after) => {
  expect(removedExpectations(testOf(expectation(after)), testOf(expectation(before)))).toHaveLength(1);
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
  const found = removedExpectations(testOf(...after.map(expectation)), testOf(...before.map(expectation)));
  expect(found.map(({ about }) => statedText(about))).toEqual(lost);
});

test('an approval of others does not replace one of a group: others may be denied', () => {
  const [one, all] = [
    { ...dev, ...approved },
    { ...others(), ...approved },
  ];
  expect(removedExpectations(testOf(expectation(all)), testOf(expectation(one)))).toHaveLength(1);
});
