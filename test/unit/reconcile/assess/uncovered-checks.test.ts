import { expect, test } from 'vitest';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { UncoveredCheck } from '../../../../src/model/plan/changed-check.ts';
import { highestPlanRisk, type Plan } from '../../../../src/model/plan/plan.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { accessTestText } from '../../../support/access-test.ts';
import { loadText, someConnection } from '../../../support/policies.ts';
import { liveAs } from '../../../support/risks.ts';
import { planOf } from '../../../support/run-pipeline.ts';

const prod = 'env: prod';

function connection(name: string, tags = prod, more = ''): string {
  return `${someConnection.replace('name: orders', `name: ${name}`)}  connection_tags: { ${tags} }\n${more}`;
}

function policy(match: string, { name = 'reviewed', require = 'true', more = '' } = {}): string {
  return `apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: ${name} }\nspec:\n  match: ${match}\n  require: ["${require}"]\n${more}`;
}

const denied = (on: JsonObject | string, group = 'dev'): JsonObject => ({ group, on, expect: 'denied' });
const onProd = { match_tags: { env: 'prod' } };

function asking(require: readonly string[]): string {
  return policy('{ name: a }').replace('["true"]', JSON.stringify(require));
}

function people(...entries: readonly JsonObject[]): string {
  return accessTestText('people', entries);
}

type Documents = readonly string[];

function load(documents: Documents): DesiredState {
  const { value, diagnostics } = loadText(documents.join('---\n'));
  if (value === undefined) throw new Error(JSON.stringify(diagnostics));
  return value;
}

function planned(before: Documents, after: Documents): Plan {
  const [applied, desired] = [load(before), load(after)];
  return planOf(desired, liveAs(applied), { commit: 'a'.repeat(40), desired: applied, removedIn: new Map() });
}

function uncoveredIn({ checks = [] }: Plan): readonly UncoveredCheck[] {
  return checks.flatMap((one) => (one.action === 'uncovered' ? [one] : []));
}

function texts(before: Documents, after: Documents): readonly string[] {
  return uncoveredIn(planned(before, after)).map(({ check, connections }) => `${check}: ${connections.join(', ')}`);
}

const [a, b] = [connection('a'), connection('b')];
const ofPolicy = 'policy reviewed';
const ofTest = 'access test people (dev on env=prod: denied)';

test.each<readonly [string, Documents, Documents, readonly string[]]>([
  ['a tag', [a, b], [connection('a', 'env: dev'), b], ['Connection/a']],
  ['a tag that is gone', [a, b], [connection('a', 'team: a'), connection('b', 'team: a')], ['Connection/a, Connection/b']],
  ['another tag', [a, b], [connection('a', 'env: prod, team: a'), b], []],
  ['a connection that is deleted', [a, b], [b], []],
  ['a connection that never had the tag', [connection('a', 'env: dev'), b], [connection('a', 'env: test'), b], []],
  ['a new connection', [b], [connection('a', 'env: dev'), b], []],
])('%s takes connections out of a policy and of an access test, in one form', (_, before, after, lost) => {
  for (const [name, check] of [
    [ofPolicy, policy('{ tags: { env: prod } }')],
    [ofTest, people(denied(onProd))],
  ] as const)
    expect(texts([...before, check], [...after, check])).toEqual(lost.map((connections) => `${name}: ${connections}`));
});

test('weakens, with the place in the manifest, once', () => {
  const checks = [policy('{ tags: { env: prod } }'), people(denied(onProd))];
  const plan = planned([a, ...checks], [connection('a', 'env: dev'), ...checks]);
  expect(uncoveredIn(plan)).toMatchObject([
    { id: 'Policy/reviewed', class: 'weakens', at: { line: 12 } },
    { id: 'AccessTest/people', class: 'weakens', at: { line: 12 } },
  ]);
  expect([highestPlanRisk(plan), plan.unwritten.flatMap(({ risks }) => risks), plan.protection.headlines]).toEqual(['weakens', [], []]);
});

test.each<readonly [string, readonly JsonObject[], readonly JsonObject[], readonly string[]]>([
  ['nothing', [denied(onProd)], [denied(onProd)], []],
  ['more connections', [denied('a')], [denied('b'), denied('a')], []],
  ['a wider pattern', [denied('a*')], [denied('*')], []],
  ['a narrower pattern that covers what is there', [denied('*')], [denied('?')], []],
  ['fewer tags', [denied({ match_tags: { env: 'prod' } })], [denied('*')], []],
  ['names in place of tags', [denied(onProd)], [denied('a'), denied('b')], []],
  ['a name less', [denied('*')], [denied('a')], ['access test people (dev on *: denied): Connection/b']],
  ['another group', [denied(onProd), denied('a', 'ops')], [denied(onProd)], ['access test people (ops on a: denied): Connection/a']],
])('of the expectations of a test, what they cover counts, not their text: %s', (_, before, after, lost) => {
  expect(texts([a, b, people(...before)], [a, b, people(...after)])).toEqual(lost);
});

test('an expectation may move to another test, and a test that covered nothing may go', () => {
  const [moved, unused] = [accessTestText('others', [denied(onProd)]), people(denied('c*'))];
  expect(texts([a, people(denied(onProd))], [a, moved])).toEqual([]);
  expect(texts([a, unused], [a])).toEqual([]);
  // It is still live.
  expect(texts([a, connection('c'), unused], [a])).toEqual(['access test people (dev on c*: denied): Connection/c']);
  expect(texts([a, people(denied(onProd))], [a])).toEqual([`${ofTest}: Connection/a`]);
});

test.each<readonly [string, string, readonly string[], readonly string[]]>([
  ['is gone', policy('{ tags: { env: prod } }'), [], ['Connection/a, Connection/b']],
  ['matches less', policy('{ tags: { env: prod } }'), [policy('{ name: a }')], ['Connection/b']],
  ['matches by something else', policy('{ tags: { env: prod } }'), [policy('{ type: database }')], []],
  ['has another name', policy('{ name: a }'), [policy('{ name: a }', { name: 'asked' })], []],
  [
    'has another name and only warns',
    policy('{ name: a }'),
    [policy('{ name: a }', { name: 'p', more: '  severity: warning\n' })],
    ['Connection/a'],
  ],
  ['only warns', policy('{ name: a }'), [policy('{ name: a }', { more: '  severity: warning\n' })], ['Connection/a']],
  ['only warned', policy('{ name: a }', { more: '  severity: warning\n' }), [policy('{ name: a }')], []],
  ['gives way to another one', policy('{ name: a }'), [policy('{ name: a }', { name: 'p', require: 'false' })], ['Connection/a']],
])('a policy that %s', (_, before, after, lost) => {
  expect(texts([a, b, before], [a, b, ...after])).toEqual(lost.map((connections) => `${ofPolicy}: ${connections}`));
});

test.each<readonly [string, readonly string[], readonly string[], readonly string[]]>([
  ['has more requirements', ['true'], ['true', '1 == 1'], []],
  ['has fewer requirements', ['true', '1 == 1'], ['true'], ['policy reviewed (1 == 1)']],
  ['requires something else', ['1 == 1', '2 == 2'], ['3 == 3'], ['policy reviewed (1 == 1)', 'policy reviewed (2 == 2)']],
])('of a policy that %s, each requirement that is gone weakens', (_, before, after, lost) => {
  const plan = planned([a, b, asking(before)], [a, b, asking(after)]);
  expect(uncoveredIn(plan)).toMatchObject(lost.map((check) => ({ check, connections: ['Connection/a'] })));
  expect(highestPlanRisk(plan)).toBe(lost.length === 0 ? undefined : 'weakens');
});

test('a requirement may move to another policy', () => {
  const both = asking(['true', '1 == 1']);
  const [one, other] = [policy('{ name: a }'), policy('{ name: a* }', { name: 'other', require: '1 == 1' })];
  expect(texts([a, both], [a, one, other])).toEqual([]);
  expect(texts([a, both], [a, one])).toEqual(['policy reviewed (1 == 1): Connection/a']);
});

test('a successor is covered as its predecessor was', () => {
  const replaced = connection('c').replace('name: c', 'name: c, replaces: a');
  const before = [a, b, people(denied('a')), policy('{ name: a }')];
  expect(texts(before, [replaced, b, people(denied('c')), policy('{ name: c }')])).toEqual([]);
  expect(texts(before, [replaced, b, people(denied('b')), policy('{ name: b }')])).toEqual([
    `${ofPolicy}: Connection/c`,
    'access test people (dev on a: denied): Connection/c',
  ]);
});

test('an expectation about a connection that only the gateway has is covered by the same rule', () => {
  const [applied, desired] = [load([a, people(denied(onProd))]), load([a, people(denied('a'))])];
  const base = { commit: 'a'.repeat(40), desired: applied, removedIn: new Map() };
  expect(uncoveredIn(planOf(desired, liveAs(load([a, b])), base))).toMatchObject([{ check: ofTest, connections: ['Connection/b'] }]);
});
