import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareProtection, differenceVerdict, effectsOfDifferences } from '../../../src/protection/controls/compare-protection.ts';
import { emptyPosture, type Posture } from '../../../src/protection/controls/control-row.ts';

/** Who may approve: reviewers of whom a number is needed, and groups that may approve alone. */
type Approval = { readonly reviewers: readonly string[]; readonly needed?: number; readonly forcing?: readonly string[] };

function named(names: readonly string[]): readonly { readonly name: string }[] {
  return names.map((name) => ({ name }));
}

function postureOf({ reviewers, needed = reviewers.length, forcing = [] }: Approval): Posture {
  const least = Math.min(needed, reviewers.length);
  const own = least > 0 ? { groups: reviewers, needed: least, force: forcing } : undefined;
  return {
    ...emptyPosture,
    controls: { review: named(reviewers), force: named(forcing) },
    approvals: least,
    access: { ...emptyPosture.access, own },
  };
}

function verdicts(before: Approval, after: Approval): readonly string[] {
  return compareProtection(postureOf(before), postureOf(after)).map((found) => `${found.control} ${differenceVerdict(found)}`);
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
      const effects = effectsOfDifferences(compareProtection(postureOf(before), postureOf(after)));
      expect(effects.has('weakens')).toBe(admitsMore(after, before));
      expect(effects.has('strengthens')).toBe(admitsMore(before, after));
    }),
    { numRuns: 2_000 },
  );
});
