import { groupBy } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { compareText, equal } from '../../model/json.ts';
import { tokensOf } from '../../model/pointer.ts';
import { accessModes, type AccessMode, type RoleNames } from '../../model/protection/access-objects.ts';
import type { Decider, PermissionTerms } from '../../model/protection/permission.ts';
import {
  type PermissionChange,
  type PermissionDelta,
  type PermissionEffect,
  permissionEffects,
} from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type AccessDirection, type MemberSort, seeingAll, sortPlaces } from '../access/effective-access.ts';
import { peopleIn } from '../access/people.ts';
import { compareTerms } from '../access/compare-terms.ts';
import type { AccessPart, Difference } from '../access/terms.ts';
import { decidersOf } from '../effective/deciders.ts';
import { type Effective, effective } from '../effective/effective.ts';
import { causesAt, type DeciderPosition, deciderPositions } from './decider-positions.ts';
import { groupsIn, permissionTerms, type Question } from './permission.ts';
import type { PlanSnapshots } from '../posture/diff-postures.ts';
import { allConnections, type ProtectionSnapshot, rolesIn } from '../posture/protection-snapshot.ts';

/** Returns who can do what after a plan that could not before, and the reverse; undefined if that stays the same. */
export function permissionDelta(
  differences: readonly Difference[],
  snapshots: PlanSnapshots,
  desired: DesiredState,
): PermissionDelta | undefined {
  const { before, after } = snapshots;
  const ofPeople = differences.filter(({ part }) => part !== 'analyzer');
  const all = [...groupBy(ofPeople, ({ connection }) => connection).values()].flatMap((own) => linesOf(own, snapshots));
  if (all.length === 0) return undefined;
  const groups = new Set([...groupsIn(before), ...groupsIn(after), ...all.flatMap(({ named }) => named)]);
  const changed = all.reduce((sum, { who, verbs }) => sum + verbs.length * countPeople(who, groups.size), 0);
  return {
    changes: foldConnections(all, causePositions(desired, before, after), rolesIn(after)),
    changed,
    same: allConnections(before, after).length * accessModes.length * (groups.size + 1) - changed,
  };
}

/** Returns a lookup of positions: of what a plan writes the manifest's, even where it keeps a part of what the gateway has. */
function causePositions(desired: DesiredState, before: ProtectionSnapshot, after: ProtectionSnapshot): DeciderPosition {
  const [stated, kept] = [deciderPositions(desired), deciderPositions(desired, after)];
  return (decider) => {
    const [field = ''] = tokensOf(decider.path);
    const [had, has] = [before, after].map(({ resources }) => resources.get(decider.id)?.spec[field]);
    return equal(had, has) ? kept(decider) : stated(decider);
  };
}

/** Whose members a change is about. */
type People = Pick<PermissionChange, 'groups' | 'together' | 'oneOfEach' | 'except'>;

/** Returns the number of groups, and of people in none; people in several groups are in those already. */
function countPeople({ groups, together, except = [] }: People, all: number): number {
  if (together === true) return 0;
  return groups === undefined ? all + 1 - except.length : groups.length;
}

/** What changes in the same way on one connection. */
type Line = Pick<PermissionChange, 'effect' | 'before' | 'after'> & {
  readonly id: ResourceId;
  readonly who: People;
  readonly verbs: readonly AccessMode[];
  readonly deciders: readonly Decider[];
  /** All groups that something names on the connection. */
  readonly named: readonly string[];
};

/** One connection in the states before and after. */
type Sides = {
  readonly id: ResourceId;
  readonly had: Effective | undefined;
  readonly has: Effective | undefined;
  readonly termsOf: (groups: readonly string[], verb: AccessMode) => TermsOfSides;
};

/** What people need before and after. */
type TermsOfSides = readonly [PermissionTerms, PermissionTerms];

function termsIn(snapshot: ProtectionSnapshot, id: ResourceId | undefined, question: Question): PermissionTerms {
  return id === undefined || !snapshot.resources.has(id) ? { answer: 'no' } : permissionTerms({ id, snapshot }, question);
}

function linesOf(differences: readonly [Difference, ...Difference[]], { before, after }: PlanSnapshots): readonly Line[] {
  const [{ connection: id, former }] = differences;
  const sides: Sides = {
    id,
    had: former === undefined ? undefined : effective(before, former),
    has: effective(after, id),
    termsOf: (groups, verb) => [termsIn(before, former, { groups, verb }), termsIn(after, id, { groups, verb })],
  };
  const all = accessModes.flatMap((verb) => {
    const own = differences.filter((one) => one.verb === verb);
    if (own.length === 0) return [];
    const named = groupsNamedOn(sides, verb);
    const changes = [...changesOfGroups(sides, own, { verb, named }), ...jointGains(sides, own, verb)];
    return changes.map((change) => ({ ...change, verb, named: [...named, ...(change.who.groups ?? [])] }));
  });
  const lines = groupBy(all, (one) => JSON.stringify([one.effect, one.before, one.after, one.who]));
  return [...lines.values()].map((same) => ({
    ...same[0],
    id,
    verbs: same.map(({ verb }) => verb),
    deciders: same.flatMap(({ deciders }) => deciders),
  }));
}

/** Lists the groups that something names on a connection; those who see every connection only where it differs from everybody else for them. */
function groupsNamedOn(sides: Sides, verb: AccessMode): readonly string[] {
  const states = [sides.had, sides.has].flatMap((side) => side?.access ?? []);
  const named = peopleIn(states, verb).flatMap(({ groups, seesAll }) => (seesAll === true ? [] : groups));
  return [...named, ...peopleApart(sides)];
}

/** Lists those who see every connection and for whom it differs from everybody else: admins run every runbook. */
function peopleApart({ had, has }: Sides): readonly string[] {
  if (had === undefined || has === undefined) return [];
  const [before, after] = [had.access, has.access];
  if ((before.groups === undefined) !== (after.groups === undefined)) return seeingAll([before, after]);
  return before.groups === undefined && (before.runbooks ?? after.runbooks) !== undefined ? [after.roles.admin] : [];
}

type Change = Pick<Line, 'effect' | 'before' | 'after' | 'who' | 'deciders'>;

/** What differs for people by one verb, by the part. */
type Parts = ReadonlyMap<AccessPart, Difference>;

function differencesByPart(differences: readonly Difference[]): Parts {
  return new Map(differences.map((one) => [one.part, one]));
}

/** Returns what changes for people in one group, and in none. */
function changesOfGroups(
  sides: Sides,
  differences: readonly Difference[],
  { verb, named }: { readonly verb: AccessMode; readonly named: readonly string[] },
): readonly Change[] {
  const ofGroups = differences.flatMap((one) => {
    if ('machine' in one.people || one.people.member.length > 1) return [];
    return (one.people.member.length === 0 ? [undefined] : one.people.groups).map((group) => ({ group, one }));
  });
  const ruled = new Set([sides.had, sides.has].flatMap((side) => (side === undefined ? [] : groupsOfRules(side))));
  const isRestricted = sides.had?.access.groups !== undefined && sides.has?.access.groups !== undefined;
  const seeing = seeingAll([sides.had?.access, sides.has?.access]);
  const all = [...groupBy(ofGroups, ({ group }) => group)].map(([group, own]) => {
    const member = group === undefined ? [] : [group];
    const terms = sides.termsOf(member, verb);
    const [before, after] = differingTerms(terms);
    const isAlone = isRestricted && group !== undefined && seeing.includes(group) && !ruled.has(group);
    return { group, isAlone, before, after, ...effectOf(sides, { parts: differencesByPart(own.map(({ one }) => one)), terms, member }) };
  });
  const alike = groupBy(all, ({ effect, before, after, isAlone }) => JSON.stringify([effect, before, after, isAlone]));
  return [...alike.values()].map((same): Change => {
    const [{ effect, before, after }] = same;
    const changed = same.flatMap(({ group }) => group ?? []);
    const isEverybody = changed.length < same.length;
    const except = named.filter((group) => !changed.includes(group));
    const who = isEverybody ? { except: except.toSorted(compareText) } : { groups: changed.toSorted(compareText) };
    return { effect, before, after, who, deciders: same.flatMap(({ deciders }) => deciders) };
  });
}

/** Lists the groups that rules name on a connection. */
function groupsOfRules({ access: { rules, runbooks = [] } }: Effective): readonly string[] {
  const asking = [rules.jit, rules.command].flatMap((rule) => [
    ...(rule?.approval_required_groups ?? []),
    ...(rule?.skip_review_groups ?? []),
  ]);
  return [...asking, ...runbooks.flatMap(({ groups }) => groups)];
}

/** Returns what people need on both sides, without an end that stays: people with and without an end are one line. */
function differingTerms([before, after]: TermsOfSides): TermsOfSides {
  if (before.until !== after.until || before.until === undefined) return [before, after];
  return [withoutEnd(before), withoutEnd(after)];
}

function withoutEnd(terms: PermissionTerms): PermissionTerms {
  const { until: _, reason: _why, ...others } = terms;
  return others;
}

/** What people can do after a plan and could not before, or for which they need less. */
const gains: ReadonlySet<PermissionEffect> = new Set<PermissionEffect>(['opened', 'granted', 'eased', 'longer']);

/** Returns what people in several groups gain, and people in fewer of these groups do not: one group shows them a connection, another frees them from its review. */
function jointGains(sides: Sides, differences: readonly Difference[], verb: AccessMode): readonly Change[] {
  const stated: MemberSort[] = [];
  return [...groupBy(differences, ({ people }) => people)].flatMap(([sort, own]): readonly Change[] => {
    if ('machine' in sort || sort.seesAll === true) return [];
    const { member, places } = sort;
    // Ends are stated for each group alone.
    const [before, after] = sides.termsOf(member, verb).map(withoutEnd);
    if (before === undefined || after === undefined) return [];
    const { effect, deciders } = effectOf(sides, { parts: differencesByPart(own), terms: [before, after], member });
    if (!gains.has(effect)) return [];
    const isStated = stated.some((one) => one.member.every((group) => member.includes(group)) && !needsLess(sides, [one, sort], verb));
    stated.push(sort);
    return isStated || member.length < 2 ? [] : [{ effect, before, after, deciders, who: peopleTogether(places) }];
  });
}

/** Returns whether the second people need less than the first. */
function needsLess({ has }: Sides, people: readonly [MemberSort, MemberSort], verb: AccessMode): boolean {
  const [one, other] = people.map(({ member }) => has?.may(member, verb));
  return compareTerms([one, other]).some(({ directions }) => directions.includes('more'));
}

/** Returns the people who are in one group of each list. */
function peopleTogether(places: readonly (readonly string[])[]): People {
  const lists = sortPlaces(places);
  const groups = lists.flatMap((list) => list.slice(0, 1));
  return { groups, together: true, oneOfEach: lists.some((list) => list.length > 1) ? lists : undefined };
}

type Found = { readonly effect: PermissionEffect; readonly deciders: readonly Decider[] };

/** What differs for people who are in some groups. */
type Differing = { readonly parts: Parts; readonly terms: TermsOfSides; readonly member: readonly string[] };

/** Returns the effect of what differs for people, the largest of its parts, and what decides it. */
function effectOf(sides: Sides, { parts, terms: [before, after], member }: Differing): Found {
  const is = (part: AccessPart, direction: AccessDirection): boolean => parts.get(part)?.causes[direction] !== undefined;
  const found = (effect: PermissionEffect, part: AccessPart, direction: AccessDirection): Found => {
    return { effect, deciders: causesOf(sides, { difference: parts.get(part), direction, member }) };
  };
  const isUnsure = before.answer === 'unknown' || after.answer === 'unknown';
  if (parts.has('use')) {
    if (is('use', 'more') && !isUnsure) return found(after.approval === undefined ? 'opened' : 'granted', 'use', 'more');
    if (is('use', 'less') && !isUnsure) return found('lost', 'use', 'less');
    return found('unknown', 'use', 'unclear');
  }
  if ((before.approval === 'unknown') !== (after.approval === 'unknown')) return found('unknown', 'approval', 'unclear');
  for (const [effect, part, direction] of effects) if (is(part, direction)) return found(effect, part, direction);
  const [part = 'use'] = parts.keys();
  return found('unknown', part, 'unclear');
}

/** The effects on people with access before and after, the largest first. */
const effects: readonly (readonly [PermissionEffect, AccessPart, AccessDirection])[] = [
  ['eased', 'approval', 'more'],
  ['stricter', 'approval', 'less'],
  ['eased', 'files', 'more'],
  ['longer', 'longest', 'more'],
  ['stricter', 'longest', 'less'],
  ['stricter', 'files', 'less'],
  ['longer', 'until', 'more'],
  ['stricter', 'until', 'less'],
];

type Caused = {
  readonly difference: Difference | undefined;
  readonly direction: AccessDirection;
  readonly member: readonly string[];
};

/** Returns the causes of a direction, or of all of them where it has none; of a connection that is new, what grants or opens it, and of one that is deleted, that. */
function causesOf({ id, had, has }: Sides, { difference, direction, member }: Caused): readonly Decider[] {
  const whole: readonly Decider[] = [{ id, path: '' }];
  if (difference === undefined || has === undefined || 'machine' in difference.people) return whole;
  const { people, verb } = difference;
  if (had === undefined) {
    const granting = member.flatMap((group) => has.grants().get(group) ?? []);
    return granting.length > 0 ? granting : decidersOf(has, 'open', { member, verb });
  }
  const causes = difference.causes[direction] ?? Object.values(difference.causes).flat();
  // Of groups that decide the same, each line names its own.
  const isOfOthers = (group: string | undefined): boolean =>
    group !== undefined && people.groups.includes(group) && !member.includes(group);
  const parts = causes.filter((one) => (one.id !== id || one.path !== '' || one.edge !== undefined) && !isOfOthers(tokensOf(one.path)[1]));
  return parts.length > 0 ? parts : whole;
}

/** Folds what changes in the same way on several connections, the largest effect first. */
function foldConnections(all: readonly Line[], positionOf: DeciderPosition, roles: RoleNames): readonly PermissionChange[] {
  const groups = groupBy(all, ({ who, verbs, effect, before, after }) => JSON.stringify([who, verbs, effect, before, after]));
  const folded = [...groups.values()].map((same): PermissionChange => {
    const [{ effect, who, verbs, before, after }] = same;
    const causes = causesAt(
      same.flatMap(({ deciders }) => deciders),
      positionOf,
    );
    return { effect, ...who, verbs, connections: same.map(({ id }) => id), before, after, causes };
  });
  return folded.toSorted(
    (left, right) =>
      permissionEffects.indexOf(left.effect) - permissionEffects.indexOf(right.effect) ||
      Number(right.groups === undefined) - Number(left.groups === undefined) ||
      Number(isOfAdmins(left, roles)) - Number(isOfAdmins(right, roles)) ||
      right.connections.length - left.connections.length ||
      compareText(sortText(left), sortText(right)),
  );
}

function isOfAdmins({ groups }: PermissionChange, roles: RoleNames): boolean {
  return groups?.every((group) => seeingAll([{ roles }]).includes(group)) ?? false;
}

function sortText({ groups = [], connections, verbs }: PermissionChange): string {
  return [...groups, ...connections, ...verbs].join(' ');
}
