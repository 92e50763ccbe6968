import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { ownDirections } from '../../../src/protection/compare/own-effects.ts';

/** Who may approve: reviewers of whom a number is needed, and groups that may approve alone. */
type Approval = { readonly reviewers: readonly string[]; readonly needed?: number; readonly forcing?: readonly string[] };

function specOf({ reviewers, needed = reviewers.length, forcing = [] }: Approval): JsonObject {
  return { reviewers, min_review_approvals: needed, force_approve_groups: forcing };
}

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
