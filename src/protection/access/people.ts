import { compareText, equal } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { canUse, type ConnectionAccess, type MemberSort, memberSortsBy, type NeededReview, reviewFor, stepOf } from './effective-access.ts';

/** Lists one sort of people for each difference that the groups of some states of a connection, or being in one of other lists, can make by a verb. */
export function sortsIn(
  states: readonly ConnectionAccess[],
  verb: AccessMode,
  others: readonly (readonly string[])[] = [],
): readonly MemberSort[] {
  const runners = verb === 'runbooks' ? states.flatMap(({ runbooks = [] }) => runbooks.map(({ groups }) => groups)) : [];
  return memberSortsBy(
    states,
    others,
    runners.filter((groups) => groups.length > 0),
  );
}

/** Lists one sort of people for each difference that the groups of some states of a connection can make by a verb, and the auditors. */
export function peopleIn(states: readonly ConnectionAccess[], verb: AccessMode): readonly MemberSort[] {
  const sorts = sortsIn(states, verb);
  const listed = new Set(sorts.flatMap(({ member }) => (member.length === 1 ? member : [])));
  const auditors = new Set(states.map(({ roles }) => roles.auditor).filter((group) => !listed.has(group)));
  return [...sorts, ...[...auditors].map((group): MemberSort => ({ member: [group], groups: [group], places: [[group]], seesAll: true }))];
}

/** Returns what people need for a verb. */
export function neededFor(access: ConnectionAccess, member: readonly string[], verb: AccessMode): NeededReview {
  return reviewFor(access, member, stepOf(verb));
}

/** Returns whether some people, other than admins and auditors, use a verb without review. */
export function isUsedWithoutReview(access: ConnectionAccess, verb: AccessMode): boolean {
  return peopleIn([access], verb).some(
    ({ member, seesAll }) => seesAll !== true && canUse(access, member, verb) && neededFor(access, member, verb).by === undefined,
  );
}

/** People that can use a mode, by the groups that they are in, and what they need for it; no groups: everybody else. */
export type PeopleOfMode = { readonly groups: readonly string[]; readonly needed: NeededReview };

/**
 * Lists the people that can use a mode: those in one group, and those in several where that makes a difference. `named` groups are
 * listed on their own, too. Machine identities are left out.
 */
export function peopleOf(access: ConnectionAccess, mode: AccessMode, named: readonly string[]): readonly PeopleOfMode[] {
  if (!access.open.has(mode)) return [];
  const sorts = sortsIn([access], mode);
  const members = [...sorts.map(({ member }) => member), ...[...sorts.flatMap(({ groups }) => groups), ...named].map((group) => [group])];
  const distinct = new Map(members.map((member) => member.toSorted(compareText)).map((groups) => [groups.join('\n'), groups]));
  const people = [...distinct.values()]
    .filter((groups) => canUse(access, groups, mode))
    .map((groups): PeopleOfMode => ({ groups, needed: neededFor(access, groups, mode) }));
  return people.filter((one) => one.groups.length === 1 || !people.some((other) => isEnough(other, one)));
}

/** Returns whether some of the groups of people give the same. */
function isEnough({ groups, needed }: PeopleOfMode, people: PeopleOfMode): boolean {
  if (groups.length >= people.groups.length || !groups.every((group) => people.groups.includes(group))) return false;
  const [one, other] = [needed.by ?? null, people.needed.by ?? null];
  return needed.longest === people.needed.longest && equal(one, other);
}
