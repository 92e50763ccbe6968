import { addToGroup, appendAll } from '../../model/collections.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { canonical, compareText, equal } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { tokensOf } from '../../model/pointer.ts';
import {
  type AllowedRunbook,
  type Decider,
  type Permission,
  type PermissionFact,
  type PermissionPart,
  type PermissionTerms,
} from '../../model/protection/permission.ts';
import {
  type PermissionChange,
  type PermissionDelta,
  type PermissionEffect,
  permissionEffects,
  type Cause,
} from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { decidesEverywhere } from '../access/deciding-kinds.ts';
import { accessModes, type ConnectionAccess, memberSortsBy, seeingAll, sortPlaces } from '../access/effective-access.ts';
import { coversRunbook } from '../controls/runbooks-row.ts';
import { isEasierApproval } from '../controls/compare-approvals.ts';
import { affectedIds, isFirstOpening, type PlannedWrites, type PlanSnapshots } from '../posture/diff-postures.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { type DeciderPosition, deciderPositions } from './decider-positions.ts';
import { type AppliedManifests, findMovedEnds } from './extensions.ts';
import { grantEnds } from './grant-ends.ts';
import { decidingFacts, endTerms, groupsIn, type PermissionSubject, permissionTerms } from './permission.ts';
import { isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { endsLater } from '../../model/time.ts';

/**
 * Compares what every group, and people in none, may do on every connection before and after a plan; undefined if that stays the same.
 * A connection that replaces another is compared with that one. Connections that no written change can affect are not read.
 */
export function diffPermissions(plan: PlannedWrites, snapshots: PlanSnapshots, manifests: AppliedManifests): PermissionDelta | undefined {
  const moved = findMovedEnds(manifests, snapshots.after).flatMap(({ reached }) => reached);
  if (!plan.changes.some(isWritten) && moved.length === 0) return undefined;
  const { before, after, postureBefore, postureAfter, predecessors } = snapshots;
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const [endBefore, endAfter] = [grantEnds(manifests.base ?? manifests.desired), grantEnds(manifests.desired)];
  const affected = plan.changes.some(isWritten) ? affectedIds(plan, before, after) : [];
  const all = [...new Set([...affected, ...moved])].toSorted(compareText).flatMap((id): readonly ConnectionDelta[] => {
    const own = postureBefore(id);
    const predecessor = isFirstOpening(changes.get(id), own) ? predecessors.get(id) : undefined;
    const former = predecessor ?? id;
    const [had, has] = [predecessor === undefined ? own : postureBefore(former), postureAfter(id)];
    const sides: Sides = {
      id,
      had: had && { id: former, posture: had, snapshot: before, endOf: endBefore },
      has: has && { id, posture: has, snapshot: after, endOf: endAfter },
    };
    const people = peopleOn(sides);
    return [...changesOn(sides, people), ...changesOn(sides, peopleSeeingAll(sides, people.flat())), ...jointGainsOn(sides)];
  });
  if (all.length === 0) return undefined;
  const groups = new Set([...groupsIn(before), ...groupsIn(after), ...all.flatMap(({ named }) => named)]);
  const changed = all.reduce((sum, { who, verbs }) => sum + verbs.length * countPeople(who, groups.size), 0);
  return {
    changes: foldConnections(all, causePositions(manifests, before, after)),
    changed,
    same: allConnections(before, after).length * accessModes.length * (groups.size + 1) - changed,
  };
}

/** Returns a lookup of positions: of what a plan writes the manifest's, even where it keeps a part of what the gateway has. */
function causePositions({ desired }: AppliedManifests, before: ProtectionSnapshot, after: ProtectionSnapshot): DeciderPosition {
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

type Difference = Pick<PermissionChange, 'effect' | 'before' | 'after'>;

/** What changes in the same way on one connection. */
type ConnectionDelta = Difference & {
  readonly id: ResourceId;
  readonly who: People;
  readonly verbs: readonly AccessMode[];
  readonly deciders: readonly Decider[];
  /** All groups that something names on the connection. */
  readonly named: readonly string[];
};

/** A connection before and after; undefined where it does not exist. */
type Sides = { readonly id: ResourceId; readonly had: PermissionSubject | undefined; readonly has: PermissionSubject | undefined };

function changesOn(sides: Sides, sorts: readonly Sort[]): readonly ConnectionDelta[] {
  const named = sorts.flat();
  const found = new Map<string, ConnectionDelta & { readonly verbs: AccessMode[]; readonly deciders: Decider[] }>();
  for (const verb of accessModes) {
    for (const [key, { sorts: own, ...change }] of changesOfVerb(sides, sorts, verb)) {
      const changed = new Set(own.flat());
      const who: People = own.some((sort) => sort.length === 0)
        ? { except: named.filter((group) => !changed.has(group)).toSorted(compareText) }
        : { groups: [...changed].toSorted(compareText) };
      const joint = canonical([key, { ...who }]);
      const delta = found.get(joint) ?? { ...change, id: sides.id, who, verbs: [], deciders: [], named };
      delta.verbs.push(verb);
      for (const sort of own) appendAll(delta.deciders, decidersOfSort(sides, { sort, verb }, change.effect));
      found.set(joint, delta);
    }
  }
  return [...found.values()];
}

/** What people can do after a plan and could not before, or for which they need less. */
const gains: ReadonlySet<PermissionEffect | undefined> = new Set<PermissionEffect>(['opened', 'granted', 'eased', 'longer']);

/** Returns what people in several groups gain, and people in fewer of these groups do not: one group shows them a connection, another frees them from its review. */
function jointGainsOn(sides: Sides): readonly ConnectionDelta[] {
  const states = [sides.had, sides.has].flatMap((side) => (side === undefined ? [] : [side.posture.access]));
  // Without rules, people in several groups can do what people in one of them can.
  const areRules = states.some(({ rules, runbooks }) => (rules.jit ?? rules.command ?? runbooks) !== undefined);
  if (sides.has === undefined || !areRules) return [];
  const runners = states.map(({ runbooks = [] }) => runbooks.flatMap((rule) => rule.groups));
  const sorts = memberSortsBy(states, runners).filter(({ member }) => !member.some((group) => seeingAll.includes(group)));
  const found = new Map<string, ConnectionDelta & { readonly verbs: AccessMode[]; readonly deciders: Decider[] }>();
  for (const verb of accessModes) {
    const earlier: { readonly member: readonly string[]; readonly after: PermissionTerms }[] = [];
    for (const { member, places } of sorts) {
      const question = { groups: member, verb };
      // Ends are stated for each group alone.
      const [before, after] = [sides.had, sides.has]
        .map((side) => side && { ...side, endOf: undefined })
        .map((side) => termsOn(side, question));
      if (before === undefined || after === undefined) continue;
      const effect = effectOf(before, after);
      if (effect === undefined || !gains.has(effect)) continue;
      const isStated = earlier.some((one) => one.member.every((group) => member.includes(group)) && !gains.has(effectOf(one.after, after)));
      earlier.push({ member, after });
      if (isStated || member.length < 2) continue;
      const key = canonical([effect, { ...before }, { ...after }, member]);
      const who = peopleTogether(places);
      const delta = found.get(key) ?? { effect, before, after, id: sides.id, who, verbs: [], deciders: [], named: member };
      delta.verbs.push(verb);
      appendAll(delta.deciders, decidersOf(sides, question, effect));
      found.set(key, delta);
    }
  }
  return [...found.values()];
}

/** Returns the people who are in one group of each list. */
function peopleTogether(places: readonly (readonly string[])[]): People {
  const lists = sortPlaces(places);
  const groups = lists.flatMap((list) => list.slice(0, 1));
  return { groups, together: true, ...(lists.some((list) => list.length > 1) ? { oneOfEach: lists } : {}) };
}

/** Returns what differs for a verb, and the sorts of people for whom it does. */
function changesOfVerb(
  { had, has }: Sides,
  sorts: readonly Sort[],
  verb: AccessMode,
): ReadonlyMap<string, Difference & { readonly sorts: Sort[] }> {
  const alike = new Map<string, Difference & { readonly sorts: Sort[] }>();
  for (const sort of sorts) {
    const question = { groups: sort.slice(0, 1), verb };
    const [before, after] = [termsOn(had, question), termsOn(has, question)];
    const effect = effectOf(before, after);
    if (effect === undefined) continue;
    const terms = differingTerms(before, after);
    const key = canonical([effect, ...terms.map((side) => ({ ...side }))]);
    const group = alike.get(key) ?? { effect, before: terms[0], after: terms[1], sorts: [] };
    group.sorts.push(sort);
    alike.set(key, group);
  }
  return alike;
}

/** Returns what people need on both sides, without an end that stays: people with and without an end are one line. */
function differingTerms(before: PermissionTerms, after: PermissionTerms): readonly [PermissionTerms, PermissionTerms] {
  if (before.until !== after.until || before.until === undefined) return [before, after];
  return [withoutEnd(before), withoutEnd(after)];
}

function withoutEnd(terms: PermissionTerms): PermissionTerms {
  const { until: _, reason: _why, ...others } = terms;
  return others;
}

const nothing: PermissionTerms = { answer: 'no' };

function termsOn(subject: PermissionSubject | undefined, question: Pick<Permission, 'groups' | 'verb'>): PermissionTerms {
  return subject === undefined ? nothing : permissionTerms(subject, question);
}

/** Groups of which each decides the same on a connection; empty: everybody else. */
type Sort = readonly string[];

/** Sorts the groups that something names on a connection by what they can decide there, those that nothing names first. */
function peopleOn({ had, has }: Sides): readonly Sort[] {
  const lists = [had, has].flatMap((side) => (side === undefined ? [] : [...namedBy(side.posture.access), ...endingOn(side)]));
  const alike = new Map<string, string[]>();
  for (const group of new Set(lists.flat())) addToGroup(alike, lists.map((list) => (list.includes(group) ? 1 : 0)).join(''), group);
  const apart = peopleApart(had?.posture.access, has?.posture.access).filter(
    (group) => ![...alike.values()].some((sort) => sort.includes(group)),
  );
  return [[], ...alike.values(), ...apart.map((group) => [group])];
}

/** Lists those who see every connection and for whom it differs from everybody else: admins run every runbook. */
function peopleApart(before: ConnectionAccess | undefined, after: ConnectionAccess | undefined): readonly string[] {
  if (before === undefined || after === undefined) return [];
  if ((before.groups === undefined) !== (after.groups === undefined)) return seeingAll;
  return before.groups === undefined && (before.runbooks ?? after.runbooks) !== undefined ? ['admin'] : [];
}

/** Lists those who see every connection, where others do not and nothing names them. A new or a deleted connection says nothing about them. */
function peopleSeeingAll({ had, has }: Sides, named: readonly string[]): readonly Sort[] {
  const isRestricted = had?.posture.access.groups !== undefined && has?.posture.access.groups !== undefined;
  return isRestricted ? seeingAll.filter((group) => !named.includes(group)).map((group) => [group]) : [];
}

function namedBy({ groups, rules, runbooks = [] }: ConnectionAccess): readonly (readonly string[])[] {
  const asking = [rules.jit, rules.command].flatMap((rule) =>
    rule === undefined ? [] : [rule.approval_required_groups, rule.skip_review_groups],
  );
  return [groups ?? [], ...asking, ...runbooks.map((rule) => rule.groups)];
}

/** Lists the groups that lose a connection at a time, each alone. */
function endingOn(side: PermissionSubject): readonly (readonly string[])[] {
  return (side.posture.access.groups ?? []).map((group) => [group]).filter((member) => endTerms(side, member).until !== undefined);
}

/** Returns what differs for people; undefined if they can do the same as before. */
function effectOf(before: PermissionTerms, after: PermissionTerms): PermissionEffect | undefined {
  if (before.answer !== after.answer) {
    if (before.answer === 'unknown' || after.answer === 'unknown') return 'unknown';
    if (after.answer === 'no') return 'lost';
    return after.approval === undefined ? 'opened' : 'granted';
  }
  if (after.answer === 'no') return undefined;
  const [had, has] = [before.approval, after.approval];
  if (had === 'unknown' || has === 'unknown') {
    if (had !== has) return 'unknown';
  } else {
    if (isEasierApproval(has, had)) return 'eased';
    if (isEasierApproval(had, has)) return 'stricter';
  }
  if (!includesRunbooks(after, before)) return 'eased';
  const [most = Infinity, longest = Infinity] = [before.longest, after.longest];
  if (longest !== most) return longest > most ? 'longer' : 'stricter';
  if (!includesRunbooks(before, after)) return 'stricter';
  if (before.until === after.until || before.until === undefined) return before.until === after.until ? undefined : 'stricter';
  return after.until === undefined || endsLater(after.until, before.until) ? 'longer' : 'stricter';
}

/** Returns whether the runbooks of one side certainly include those of the other one. */
function includesRunbooks({ runbooks: some = everyFile }: PermissionTerms, { runbooks: by = everyFile }: PermissionTerms): boolean {
  return some.every((one) => by.some((other) => canonical({ ...other }) === canonical({ ...one }) || coversRunbook(other, one) === true));
}

const everyFile: readonly AllowedRunbook[] = [{ name: '' }];

/** Returns what decides a changed permission of groups that decide the same; a grant names each of them. */
function decidersOfSort(
  sides: Sides,
  { sort, verb }: { readonly sort: Sort; readonly verb: AccessMode },
  effect: PermissionEffect,
): readonly Decider[] {
  const [first, ...others] = sort;
  const deciders = decidersOf(sides, { groups: first === undefined ? [] : [first], verb }, effect);
  const isGrant = first !== undefined && deciders.some(({ path }) => tokensOf(path).at(-1) === first);
  return isGrant ? [...deciders, ...others.flatMap((group) => decidersOf(sides, { groups: [group], verb }, effect))] : deciders;
}

/** The facts that decide each effect on people with access before and after. */
const decidingParts: Readonly<Partial<Record<PermissionEffect, readonly PermissionPart[]>>> = {
  eased: ['approval', 'runbooks', 'longest'],
  longer: ['longest', 'sees it'],
  stricter: ['approval', 'runbooks', 'longest', 'sees it'],
};

/** Returns what decides a changed permission: what made the difference after the plan, or before it where nothing does any more. */
function decidersOf({ id, had, has }: Sides, question: Pick<Permission, 'groups' | 'verb'>, effect: PermissionEffect): readonly Decider[] {
  const own: readonly Decider[] = [{ id, path: '' }];
  if (has === undefined) return own;
  const factsOf = (side: PermissionSubject | undefined): ReadonlyMap<PermissionPart, PermissionFact> =>
    new Map(side === undefined ? [] : decidingFacts(side, question).map((fact) => [fact.part, fact]));
  const [before, after] = [factsOf(had), factsOf(has)];
  // Only what refuses access is a fact of those who have none.
  const created: readonly PermissionPart[] = [question.groups.length === 0 ? 'open' : 'sees it'];
  const parts = had === undefined ? created : (decidingParts[effect] ?? [...(effect === 'lost' ? after : before).keys()]);
  const changed = parts.flatMap((part) => {
    const [first, last] = [before.get(part), after.get(part)];
    if (first?.text === last?.text) return [];
    return [last, first].find((fact) => fact !== undefined && fact.by.length > 0)?.by ?? [];
  });
  // What protected the predecessor of a connection is decided by its successor.
  // Of several fields, those that the plan changes.
  const exact = changed.filter(({ id: by, path }) => {
    const [field = ''] = tokensOf(path);
    return !equal(had?.snapshot.resources.get(by)?.spec[field], has.snapshot.resources.get(by)?.spec[field]);
  });
  const named = exact.length === 0 ? changed : exact;
  const isByRunbooks = before.get('runbooks')?.text !== after.get('runbooks')?.text;
  const ends = named.length === 0 && had !== undefined && isByRunbooks ? firstOrLastRules(had, has) : [];
  if (ends.length > 0) return ends;
  return named.length === 0 ? own : named.map((decider) => (decider.id === had?.id ? { ...decider, id } : decider));
}

/** Returns the first runbook rules of a gateway or its last ones, which close or open also what they do not name; none if both sides have rules. */
function firstOrLastRules(had: PermissionSubject, has: PermissionSubject): readonly Decider[] {
  const [ruled, ...others] = [had, has].filter(({ posture }) => posture.access.runbooks !== undefined);
  if (ruled === undefined || others.length > 0) return [];
  return [...ruled.snapshot.resources.keys()].filter((id) => decidesEverywhere(kindOf(id))).map((id) => ({ id, path: '' }));
}

/** Folds what changes in the same way on several connections, the largest effect first. */
function foldConnections(all: readonly ConnectionDelta[], positionOf: DeciderPosition): readonly PermissionChange[] {
  const groups = new Map<string, [ConnectionDelta, ...ConnectionDelta[]]>();
  for (const one of all) {
    const { who, verbs, effect, before, after } = one;
    const key = canonical([{ ...who }, verbs, effect, { ...before }, { ...after }]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  const folded = [...groups.values()].map((same): PermissionChange => {
    const [{ effect, who, verbs, before, after }] = same;
    const causes = new Map<string, Cause>();
    for (const decider of same.flatMap(({ deciders }) => deciders)) {
      const key = `${decider.id}${decider.path}`;
      if (!causes.has(key)) causes.set(key, causeOf(decider, positionOf));
    }
    return { effect, ...who, verbs, connections: same.map(({ id }) => id), before, after, causes: [...causes.values()] };
  });
  return folded.toSorted(
    (left, right) =>
      permissionEffects.indexOf(left.effect) - permissionEffects.indexOf(right.effect) ||
      Number(right.groups === undefined) - Number(left.groups === undefined) ||
      Number(isOfAdmins(left)) - Number(isOfAdmins(right)) ||
      right.connections.length - left.connections.length ||
      compareText(sortText(left), sortText(right)),
  );
}

function isOfAdmins({ groups }: PermissionChange): boolean {
  return groups?.every((group) => seeingAll.includes(group)) ?? false;
}

function sortText({ groups = [], connections, verbs }: PermissionChange): string {
  return [...groups, ...connections, ...verbs].join(' ');
}

function causeOf(decider: Decider, positionOf: DeciderPosition): Cause {
  const at = positionOf(decider);
  const { id, path } = decider;
  return { by: id, ...(path === '' ? {} : { path }), ...(at === undefined ? {} : { place: formatPosition(at) }) };
}
