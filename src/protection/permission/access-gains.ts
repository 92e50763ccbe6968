import { canonical, compareText } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { type AllowedRunbook, membersText } from '../../model/protection/permission.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import {
  accessOf,
  canUse,
  type ConnectionAccess,
  type MemberSort,
  memberSortsBy,
  modesOfStep,
  type NeededReview,
  reviewFor,
  type ReviewStep,
  runbooksOf,
  seeingAll,
  sortPlaces,
} from '../access/effective-access.ts';
import { machineName } from '../controls/access-rows.ts';
import { coversRunbook } from '../controls/runbooks-row.ts';
import { isEasierApproval } from '../controls/compare-approvals.ts';
import type { Posture } from '../controls/control-row.ts';
import { ownApproval } from '../controls/connection-rows.ts';
import { controlRow, controlTypesOf } from '../controls/control-table.ts';
import { readPostures } from '../posture/posture.ts';
import { allConnections, type ProtectionSnapshot, readAccessIn, rulesOn } from '../posture/protection-snapshot.ts';

/** Who gains: people in all of some groups (`[]`: people in no group that decides anything), or in one of each list; or a machine identity. */
export type Gainer = { readonly groups: readonly string[]; readonly oneOfEach?: MemberSort['places'] } | { readonly machine: string };

/** What gets easier: the use itself, its approval, a longer access, or what the analyzer does with commands. */
type GainOf = 'use' | 'approval' | 'longest' | 'analyzer';

/** One way in which people can do more on a connection than before, or the same after less or other approval. */
export type AccessGain = {
  readonly connection: ResourceId;
  readonly who: Gainer;
  readonly verb: AccessMode;
  readonly of: GainOf;
  /** The runbook, as `REPOSITORY:NAME`; absent for other verbs, and for every runbook. */
  readonly runbook?: string;
};

/** What people gain, and the connections on which it cannot be known. */
export type AccessGains = { readonly gains: readonly AccessGain[]; readonly unknown: readonly ResourceId[] };

type GainsInput = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  /** Returns the connection of `before` that one of `after` was; undefined for a new one. */
  readonly formerOf: (id: ResourceId) => ResourceId | undefined;
  readonly counts: (id: ResourceId, former: ResourceId | undefined) => boolean;
};

/**
 * Finds everything that people can do in one state of a gateway and cannot do, or only after more or other approval, in another: exactly,
 * over all combinations of groups. Admins and auditors see every connection, so a new connection is no gain of theirs.
 */
export function findAccessGains({ before, after, formerOf, counts }: GainsInput): AccessGains {
  const [had, has] = [readAccesses(before), readAccesses(after)];
  const [postureBefore, postureAfter] = [readPostures(before), readPostures(after)];
  const known = new Map<string, readonly FoundGain[]>();
  const gains: AccessGain[] = [];
  const unknown: ResourceId[] = [];
  for (const id of allConnections(after).toSorted(compareText)) {
    const former = formerOf(id);
    const is = counts(id, former) ? has(id) : undefined;
    if (is === undefined) continue;
    const was = former === undefined ? undefined : had(former);
    if (former !== undefined && isIncomplete([before, former], [after, id]) && isChanged([before, former], [after, id])) unknown.push(id);
    const [from, to] = [was === undefined ? '' : accessKey(was), accessKey(is)];
    if (from === to) continue;
    const key = `${from}\n${to}`;
    const found =
      known.get(key) ?? gainsOn(was, is, () => isAnalyzedLess(former === undefined ? undefined : postureBefore(former), postureAfter(id)));
    known.set(key, found);
    for (const one of found) gains.push({ connection: id, ...one });
  }
  return { gains, unknown };
}

/** Returns a reader of what decides access to the connections of a snapshot, without what else protects them. */
function readAccesses(snapshot: ProtectionSnapshot): (id: ResourceId) => ConnectionAccess | undefined {
  const { lookup, license, longestAccess: longest } = readAccessIn(snapshot);
  return (id) => {
    const spec = snapshot.resources.get(id)?.spec;
    return spec && accessOf({ spec, own: ownApproval(spec), facts: lookup(nameOf(id), spec), license, longest });
  };
}

function accessKey({ open, ...rest }: ConnectionAccess): string {
  return JSON.stringify([[...open].toSorted(compareText), rest]);
}

/** The controls that decide which people can use a connection, and after whose approval. */
const accessControls: readonly ControlType[] = ['access', 'who', 'review', 'force', 'duration', 'approval', 'runbooks', 'analyzer'];

/** Returns whether something that decides access cannot be read on one of the sides. */
function isIncomplete(...sides: readonly (readonly [ProtectionSnapshot, ResourceId])[]): boolean {
  return sides.some(([{ resources, listed }, id]) => {
    const hidden = (resources.get(id)?.unknown ?? []).flatMap((path) => (path === '' ? accessControls : controlTypesOf(kindOf(id), path)));
    return accessControls.some((control) => listed.incomplete.has(control) || hidden.includes(control));
  });
}

/** Returns whether a connection, or something that decides its access, is another one. */
export function isChanged(...sides: readonly (readonly [ProtectionSnapshot, ResourceId])[]): boolean {
  const texts = sides.map(([snapshot, id]) => {
    const rules = [...rulesOn(snapshot, id)].toSorted(compareText);
    return canonical([id, ...rules].map((one) => [kindOf(one), snapshot.resources.get(one)?.spec ?? null]));
  });
  return new Set(texts).size > 1;
}

type FoundGain = Omit<AccessGain, 'connection'>;

function gainsOn(before: ConnectionAccess | undefined, after: ConnectionAccess, analyzedLess: () => boolean): readonly FoundGain[] {
  if (after.open.size === 0) return [];
  const states = before === undefined ? [after] : [before, after];
  const isLessStrict = states.some(({ analyzer }) => analyzer !== undefined) && analyzedLess();
  const sorts = withAuditors(memberSortsBy(states));
  const plain = (['connect', 'exec'] as const).flatMap((verb) =>
    foldSorts(sorts, ({ member }) => {
      const gain = gainOf([before, after], { member, verb });
      return gain ?? (isLessStrict && verb === 'exec' && canUse(after, member, verb) ? 'analyzer' : undefined);
    }).map((one): FoundGain => ({ ...one, verb })),
  );
  // A machine identity acts as an admin, with native access alone.
  const machines = after.machines
    .filter((name) => before?.machines.includes(name) !== true)
    .flatMap((name): readonly FoundGain[] =>
      usableReview(after, ['admin'], 'connect') === undefined ? [] : [{ who: { machine: name }, verb: 'connect', of: 'use' }],
    );
  const runbooks = after.open.has('runbooks') ? runbookGains(before, after, isLessStrict) : [];
  return [...plain, ...runbooks, ...machines];
}

/** Returns whether the analyzer stops fewer commands, or asks for less approval, as far as that can be compared. */
function isAnalyzedLess(was: Posture | undefined, is: Posture | undefined): boolean {
  if (was === undefined || is === undefined) return false;
  const { lost, incomparable } = controlRow('analyzer').compare(was, is);
  return lost.length + incomparable.length > 0;
}

/** Adds the auditors where they need the same as admins: they have the same native access, and no other. */
function withAuditors(sorts: readonly MemberSort[]): readonly MemberSort[] {
  const isListed = sorts.some(({ member }) => member.length === 1 && member.includes('auditor'));
  return isListed ? sorts : [...sorts, { member: ['auditor'], groups: ['auditor'], places: [['auditor']] }];
}

/** Compares file by file: for one file, a runbook rule only has groups that may run it. */
function runbookGains(before: ConnectionAccess | undefined, after: ConnectionAccess, isLessStrict: boolean): readonly FoundGain[] {
  const files = new Map<string, AllowedRunbook>([['', { name: '' }]]);
  for (const { runbooks } of after.runbooks ?? []) for (const one of runbooks) files.set(runbookName(one) ?? '', one);
  const states = before === undefined ? [after] : [before, after];
  const known = new Map<string, readonly Omit<FoundGain, 'verb' | 'runbook'>[]>();
  return [...files.values()].flatMap((file) => {
    const lists = states.map((access) => groupsRunning(access, file));
    const key = JSON.stringify(lists);
    const mayRun = (access: ConnectionAccess, member: readonly string[]): boolean =>
      runbooksOf(access, member).some((by) => coversRunbook(by, file) === true);
    const found =
      known.get(key) ??
      foldSorts(memberSortsBy(states, lists), ({ member }) => {
        if (!mayRun(after, member)) return undefined;
        const had = before !== undefined && mayRun(before, member) ? before : undefined;
        const gain = gainOf([had, after], { member, verb: 'runbooks', isNew: before === undefined });
        return gain ?? (isLessStrict && canUse(after, member, 'runbooks') ? 'analyzer' : undefined);
      });
    known.set(key, found);
    const runbook = runbookName(file);
    return found.map((one): FoundGain => ({ ...one, verb: 'runbooks', ...(runbook === undefined ? {} : { runbook }) }));
  });
}

function runbookName({ repository, name }: AllowedRunbook): string | undefined {
  return repository === undefined ? undefined : `${repository}:${name}`;
}

/** Lists the groups that runbook rules let run a file, and whether they let everybody: `['']`. */
function groupsRunning({ runbooks = [] }: ConnectionAccess, file: AllowedRunbook): readonly string[] {
  return runbooks.flatMap((rule) => {
    const allowed: readonly AllowedRunbook[] = rule.runbooks.length === 0 ? [{ name: '' }] : rule.runbooks;
    return allowed.some((by) => coversRunbook(by, file) === true) ? (rule.groups.length === 0 ? [''] : rule.groups) : [];
  });
}

type Asked = { readonly member: readonly string[]; readonly verb: AccessMode; readonly isNew?: boolean };

/** Returns what some people gain for a verb; undefined if it is nothing. */
function gainOf(
  [before, after]: readonly [ConnectionAccess | undefined, ConnectionAccess],
  { member, verb, isNew = before === undefined }: Asked,
): GainOf | undefined {
  const has = usableReview(after, member, verb);
  if (has === undefined || (isNew && member.some((group) => seeingAll.includes(group)))) return undefined;
  const had = before === undefined ? undefined : usableReview(before, member, verb);
  if (had === undefined) return 'use';
  if (isEasierApproval(has.by, had.by)) return 'approval';
  return verb === 'connect' && has.longest > had.longest ? 'longest' : undefined;
}

/** Returns what some people need for a verb; undefined if they cannot use it. */
function usableReview(access: ConnectionAccess, member: readonly string[], verb: AccessMode): NeededReview | undefined {
  if (!canUse(access, member, verb)) return undefined;
  const review = reviewFor(access, member, stepOf(verb));
  return review.by === 'refused' ? undefined : review;
}

function stepOf(verb: AccessMode): ReviewStep {
  return modesOfStep.jit.includes(verb) ? 'jit' : 'command';
}

/** Lists the people who gain: each group, and those in several groups only where none of them gains alone. */
function foldSorts(sorts: readonly MemberSort[], gain: (sort: MemberSort) => GainOf | undefined): readonly Pick<FoundGain, 'who' | 'of'>[] {
  const alone = new Set<string>();
  return sorts.flatMap((sort): readonly Pick<FoundGain, 'who' | 'of'>[] => {
    const { member, groups, places } = sort;
    const of = gain(sort);
    if (of === undefined) return [];
    if (member.length < 2) {
      for (const group of member) alone.add(group);
      return (member.length === 0 ? [[]] : groups.map((group) => [group])).map((one) => ({ who: { groups: one }, of }));
    }
    const oneOfEach = places.some((list) => list.length > 1) ? { oneOfEach: sortPlaces(places) } : {};
    return member.some((group) => alone.has(group)) ? [] : [{ who: { groups: member, ...oneOfEach }, of }];
  });
}

/** Names people: `contractors`, `people in both a and b`, `people in no other group`, `machine identity ci`. */
export function gainerText(who: Gainer): string {
  if ('machine' in who) return machineName(who.machine);
  const { groups, oneOfEach = groups.toSorted(compareText).map((group) => [group]) } = who;
  return groups.length > 1 ? membersText(oneOfEach) : (groups[0] ?? 'people in no other group');
}
