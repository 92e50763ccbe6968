import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { ownDirections } from '../../../src/protection/compare/own-effects.ts';
import { changeOf, connection, fieldOf, protectionOfWrites } from './protection-fixtures.ts';

/** Who may approve: reviewers of whom a number is needed, and groups that may approve alone. */
type Approval = { readonly reviewers: readonly string[]; readonly needed?: number; readonly forcing?: readonly string[] };

function specOf({ reviewers, needed = reviewers.length, forcing = [] }: Approval): JsonObject {
  return { reviewers, min_review_approvals: needed, force_approve_groups: forcing };
}

function verdicts(before: Approval, after: Approval): readonly string[] {
  const [had, has] = [specOf(before), specOf(after)];
  const fields = Object.keys(had).map((name) => fieldOf(`/${name}`, had[name], has[name]));
  const { connections } = protectionOfWrites([connection('db', had)], [changeOf('Connection/db', fields)]);
  return connections.flatMap(({ controls }) => controls.map(({ control, direction }) => `${control} ${direction}`));
}

test.each<readonly [string, Approval, Approval, readonly string[], readonly string[]]>([
  [
    'one of two reviewers becomes a group that may force',
    { reviewers: ['a', 'b'], needed: 1 },
    { reviewers: ['a'], forcing: ['b'] },
    [],
    [],
  ],
  [
    'one of two that must both approve becomes a group that may force',
    { reviewers: ['a', 'b'] },
    { reviewers: ['a'], forcing: ['b'] },
    ['review weakens', 'force weakens'],
    ['review strengthens', 'force strengthens'],
  ],
  [
    'a group that may force becomes a reviewer, too',
    { reviewers: ['a'], forcing: ['b'] },
    { reviewers: ['a', 'b'], forcing: ['b'] },
    ['review strengthens'],
    ['review weakens'],
  ],
  [
    'a reviewer and a group that may force are added',
    { reviewers: ['a'] },
    { reviewers: ['a', 'b'], forcing: ['c'] },
    ['review strengthens', 'force weakens'],
    ['review weakens', 'force strengthens'],
  ],
  [
    'more approvals of groups that may all force',
    { reviewers: ['a', 'b'], needed: 1, forcing: ['a', 'b'] },
    { reviewers: ['a', 'b'], needed: 2, forcing: ['a', 'b'] },
    [],
    [],
  ],
  [
    'more approvals, and one of two groups may force',
    { reviewers: ['a', 'b'], needed: 1, forcing: ['a'] },
    { reviewers: ['a', 'b'], needed: 2, forcing: ['a'] },
    ['review strengthens'],
    ['review weakens'],
  ],
  [
    'two of three reviewers, of whom one may force, for the others',
    { reviewers: ['a', 'b', 'c'], needed: 2, forcing: ['a'] },
    { reviewers: ['b', 'c'], needed: 2, forcing: ['a'] },
    [],
    [],
  ],
  ['the only reviewer may force', { reviewers: ['a'] }, { reviewers: ['a'], forcing: ['a'] }, [], []],
  ['the only reviewer may force, and another one is added', { reviewers: ['a'] }, { reviewers: ['a', 'b'], forcing: ['a'] }, [], []],
  [
    'review ends, although a group may force',
    { reviewers: ['a'], forcing: ['b'] },
    { reviewers: [], forcing: ['b'] },
    ['review weakens'],
    ['review strengthens'],
  ],
])('%s', (_, before, after, there, back) => {
  expect(verdicts(before, after)).toEqual(there);
  expect(verdicts(after, before)).toEqual(back);
});

const groups = ['a', 'b', 'c', 'd'];
const everySet = groups.reduce<readonly (readonly string[])[]>((sets, one) => [...sets, ...sets.map((set) => [...set, one])], [[]]);

function canApprove({ reviewers, needed = reviewers.length, forcing = [] }: Approval, set: readonly string[]): boolean {
  if (reviewers.length === 0) return true;
  const approving = set.filter((group) => reviewers.includes(group)).length;
  return approving >= Math.min(needed, reviewers.length) || set.some((group) => forcing.includes(group));
}

function admitsMore(one: Approval, other: Approval): boolean {
  return everySet.some((set) => canApprove(one, set) && !canApprove(other, set));
}

test('a verdict is that of all sets of groups, one after the other', () => {
  const approval: fc.Arbitrary<Approval> = fc.record({
    reviewers: fc.subarray(groups),
    needed: fc.integer({ min: 1, max: 4 }),
    forcing: fc.subarray(groups),
  });
  fc.assert(
    fc.property(approval, approval, (before, after) => {
      const directions = ownDirections('Connection/db', { before: specOf(before), after: specOf(after) });
      expect(directions.has('more')).toBe(admitsMore(after, before));
      expect(directions.has('less')).toBe(admitsMore(before, after));
    }),
    { numRuns: 2_000 },
  );
});
