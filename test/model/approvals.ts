import type { NeededApproval, Subject, Terms } from './access-model.ts';
import { accessPools } from './access-pools.ts';
import { bitsOf, subsetsOf } from './universe.ts';

const approvers = subsetsOf<string>(accessPools.groups);

/** Returns whether some groups that approve are enough. */
export function isEnough(approval: NeededApproval | undefined, given: readonly string[]): boolean {
  if (approval === undefined) return true;
  const { reviewers, needed, forcing } = approval;
  return given.some((group) => forcing.includes(group)) || given.filter((group) => reviewers.includes(group)).length >= needed;
}

const known = new Map<string, bigint>();

/** Returns the sets of approvers that are enough, one bit each. */
export function approvalsOf({ refused, approval }: Terms): bigint {
  if (refused) return 0n;
  const key = JSON.stringify(approval ?? null);
  const bits = known.get(key) ?? bitsOf(approvers, (given) => isEnough(approval, given));
  known.set(key, bits);
  return bits;
}

/** Returns whether some approvers are enough for one, and not for the other. */
export function isEasier(one: Terms, other: Terms): boolean {
  return (approvalsOf(one) & ~approvalsOf(other)) !== 0n;
}

/** Returns terms without an approval that people give themselves. Nothing else limits the time for which people reach something: they ask again. */
export function withoutOwnApproval(terms: Terms, { groups }: Subject): Terms {
  return terms.refused || !isEnough(terms.approval, groups) ? terms : { refused: false, longest: Infinity };
}
