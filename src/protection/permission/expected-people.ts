import type { AccessExpectation } from '../../model/protection/access-test.ts';
import { membersText, mostGroups } from '../../model/protection/permission.ts';
import { accessModes } from '../../model/protection/access-objects.ts';
import { type MemberSort, seeingAll, sortPlaces, sortsByLists } from '../access/effective-access.ts';
import { effective } from '../effective/effective.ts';
import { listsDeciding, type PermissionSubject } from './permission.ts';

/** People of an expectation: all of their groups, their name where an expectation has several, and in which deciding lists they are. */
export type PeopleOfExpectation = { readonly groups: readonly string[]; readonly who?: string; readonly bits: readonly boolean[] };

/**
 * Lists the people whom an expectation is about: of the others, one for each difference that their groups can make on a connection in one of its
 * states, those in the fewest groups first.
 */
export function listExpectedPeople(
  { people, verbs = accessModes }: Pick<AccessExpectation, 'people' | 'verbs'>,
  states: readonly PermissionSubject[],
): readonly PeopleOfExpectation[] {
  if ('groups' in people) return [{ groups: people.groups, bits: [] }];
  const outside = new Set(people.outside);
  const lists = states
    .flatMap((state) => verbs.flatMap((verb) => listsDeciding(state, verb)))
    .map((groups) => groups.filter((group) => !outside.has(group)));
  const distinct = new Map(lists.map((groups) => [groups.join('\n'), groups]));
  return sortsByLists([...distinct.values()], {
    without: seeingAll(states.map(({ id, snapshot }) => effective(snapshot, id)?.access)),
  }).map(({ bits, sort }) => ({ groups: sort.member, who: whoText(sort), bits }));
}

function whoText({ member, groups, places }: MemberSort): string {
  if (member.length === 0) return 'people in no other group';
  if (member.length > 1) return membersText(sortPlaces(places));
  const more = groups.length - mostGroups;
  return [...groups.slice(0, mostGroups), ...(more > 0 ? [`${more} more groups`] : [])].join(', ');
}

/** Returns whether people are in every deciding list that people in fewer groups are in. */
export function isInMore({ bits, groups }: PeopleOfExpectation, fewer: PeopleOfExpectation): boolean {
  return fewer.groups.length < groups.length && fewer.bits.every((bit, index) => !bit || bits[index] === true);
}
