import { compareText, equal } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { canUse, type ConnectionAccess, memberSorts, modesOfStep, type NeededReview, reviewFor } from './effective-access.ts';

/** People that can use a mode, by the groups that they are in, and what they need for it; no groups: everybody else. */
export type PeopleOfMode = { readonly groups: readonly string[]; readonly needed: NeededReview };

/**
 * Lists the people that can use a mode: those in one group, and those in several where that makes a difference. `named` groups are
 * listed on their own, too. Machine identities are left out.
 */
export function peopleOf(access: ConnectionAccess, mode: AccessMode, named: readonly string[]): readonly PeopleOfMode[] {
  if (!access.open.has(mode)) return [];
  const step = modesOfStep.jit.includes(mode) ? 'jit' : 'command';
  const sorts = memberSorts(access);
  const members = [
    ...sorts.map(({ member }) => member),
    ...[...sorts.flatMap(({ groups }) => groups), ...named].map((group) => [group]),
    ...(mode === 'runbooks' ? withRunners(access, sorts) : []),
  ];
  const distinct = new Map(members.map((member) => member.toSorted(compareText)).map((groups) => [groups.join('\n'), groups]));
  const people = [...distinct.values()]
    .filter((groups) => canUse(access, groups, mode))
    .map((groups): PeopleOfMode => ({ groups, needed: reviewFor(access, groups, step) }));
  return people.filter((one) => one.groups.length === 1 || !people.some((other) => isEnough(other, one)));
}

/** Joins groups of runbook rules with those that see the connection: a group of a rule need not see it. */
function withRunners({ runbooks = [] }: ConnectionAccess, sorts: ReturnType<typeof memberSorts>): readonly (readonly string[])[] {
  const runners = new Set(runbooks.flatMap(({ groups }) => groups));
  return sorts.flatMap(({ member }) => [...runners].filter((group) => !member.includes(group)).map((group) => [...member, group]));
}

/** Returns whether some of the groups of people give the same. */
function isEnough({ groups, needed }: PeopleOfMode, people: PeopleOfMode): boolean {
  if (groups.length >= people.groups.length || !groups.every((group) => people.groups.includes(group))) return false;
  const [one, other] = [needed.by ?? null, people.needed.by ?? null];
  return needed.longest === people.needed.longest && equal(one, other);
}
