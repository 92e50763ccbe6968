import { expect, test } from 'vitest';
import type { AccessExpectation, AccessTest } from '../../../../src/model/protection/access-test.ts';
import { canonical, type Json } from '../../../../src/model/json.ts';
import { removedExpectations } from '../../../../src/protection/permission/access-test-findings.ts';

const at = { file: 'access/people.yaml', line: 5, column: 5 };

function expectation(given: Partial<AccessExpectation> = {}): AccessExpectation {
  const one = {
    groups: ['dev', 'ops'],
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
  ['the same groups in another order', {}, { groups: ['ops', 'dev'] }],
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
  const isSame = before.groups === undefined && after.groups !== undefined;
  expect(removedExpectations(had, has)).toHaveLength(isSame ? 0 : 1);
});

test('denied access is denied by all verbs, stated or not', () => {
  const [without, stated] = [testOf(expectation()), testOf(expectation({ verbs: ['connect', 'exec', 'runbooks'] }))];
  expect([removedExpectations(without, stated), removedExpectations(stated, without)]).toEqual([[], []]);
});

test.each<readonly [string, Partial<AccessExpectation>, Partial<AccessExpectation>]>([
  ['a pattern of one letter instead of any', { on: { names: ['o*'] } }, { on: { names: ['o?'] } }],
  ['other groups', {}, { groups: ['dev'] }],
  ['fewer groups', { groups: ['dev'] }, {}],
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
