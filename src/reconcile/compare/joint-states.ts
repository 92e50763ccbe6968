import { onFirstUse } from '../../model/collections.ts';
import { type Diff, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { isRequestRule } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { decidesEverywhere } from '../../protection/access/deciding-kinds.ts';
import { sharesStep } from '../../protection/access/rule-moves.ts';
import {
  type ComparisonCache,
  type ControlDifference,
  compareProtection,
  createComparisonCache,
} from '../../protection/controls/compare-protection.ts';
import type { Posture } from '../../protection/controls/control-row.ts';
import { firstsOfAlike } from '../../protection/posture/alike-connections.ts';
import { createPostureBuilder, type PostureReader, readPostures } from '../../protection/posture/posture.ts';
import {
  allConnections,
  mixSnapshots,
  type ProtectionSnapshot,
  readAccessIn,
  withoutConnections,
} from '../../protection/posture/protection-snapshot.ts';

/** The states before and after a plan. */
export type BothSnapshots = { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };

/** Returns whether a connection is less protected than both before and after a plan while only some of its changes are written. */
type ExposureCheck = (connection: ResourceId, written: ReadonlySet<ResourceId>) => boolean;

/** The states between the writes of a plan with objects that decide access together. They are read on first use, and each once. */
export type JointStates = {
  readonly snapshots: () => BothSnapshots;
  /** Returns the first of the connections that the plan treats alike; the other functions take only such first ones. */
  readonly firstAlike: (connection: ResourceId) => ResourceId;
  /** Returns how connections, new ones too, differ with the change of one object: beside what is live, and beside the other changes. */
  readonly comparisonsOf: (key: ResourceId) => (connection: ResourceId) => readonly ControlDifference[];
  readonly isExposed: ExposureCheck;
  /** Returns whether no object of a list is left that has some before and after, and of which none means that everything is open. */
  readonly leavesNone: (written: ReadonlySet<ResourceId>) => boolean;
};

/** Returns the states between the writes of a plan. */
export function jointStates(plan: Pick<Diff, 'changes'>, snapshots: () => BothSnapshots): JointStates {
  const alike = onFirstUse(() => firstsOf(plan, snapshots()));
  const few = onFirstUse(() => readStates(snapshots(), alike()));
  const lists = onFirstUse(() =>
    [snapshots().before, snapshots().after].map(({ resources }) => [...resources.keys()].filter((id) => decidesEverywhere(kindOf(id)))),
  );
  return {
    snapshots,
    firstAlike: (connection) => alike().get(connection) ?? connection,
    comparisonsOf: (key) => few().comparisonsOf(key),
    isExposed: (connection, written) => few().isExposed(connection, written),
    leavesNone(written) {
      const [had = [], has = []] = lists();
      return had.length > 0 && has.length > 0 && had.every((id) => written.has(id)) && !has.some((id) => written.has(id));
    },
  };
}

/** Returns for each connection the first one that the plan treats alike; one with a change of its own is like no other. */
function firstsOf({ changes }: Pick<Diff, 'changes'>, { before, after }: BothSnapshots): ReadonlyMap<ResourceId, ResourceId> {
  const written = new Set(changes.filter(isWritten).map(liveKeyOf));
  const ids = allConnections(before, after).filter((id) => !written.has(id));
  const build = createPostureBuilder({ access: readAccessIn(before), samples: undefined });
  const snapshots = { before, after, postureBefore: readPostures(before, build), postureAfter: readPostures(after, build) };
  return firstsOfAlike(ids, snapshots);
}

/** More states are not remembered: those of one order of writes follow each other. */
const mostMoments = 256;

/** Reads the states between writes of the first of alike connections, without the other ones. */
function readStates(all: BothSnapshots, alike: ReadonlyMap<ResourceId, ResourceId>): Pick<JointStates, 'comparisonsOf' | 'isExposed'> {
  const reduced = withoutConnections((id) => (alike.get(id) ?? id) !== id);
  const [before, after] = [reduced(all.before), reduced(all.after)];
  const build = createPostureBuilder({ access: readAccessIn(before), samples: undefined });
  const compared = createComparisonCache();
  const read = (snapshot: ProtectionSnapshot): PostureReader => readPostures(snapshot, build);
  const [first, last] = [read(before), read(after)];
  // A connection that the plan creates is there before what decides access to it changes.
  const created = new Set(allConnections(after).filter((id) => !before.resources.has(id)));
  const opened = onFirstUse(() => read(mixSnapshots(before, after, created)));
  const moments = new Map<string, Moment>();
  const exposed = new Map<string, boolean>();
  const momentOf = (key: string, written: ReadonlySet<ResourceId>): Moment => {
    const known = moments.get(key);
    if (known !== undefined) return known;
    const snapshot = mixSnapshots(before, after, written);
    const moment = { snapshot, postureOf: read(snapshot) };
    if (moments.size >= mostMoments) moments.clear();
    moments.set(key, moment);
    return moment;
  };
  const isExposed = (connection: ResourceId, written: ReadonlySet<ResourceId>): boolean => {
    const state = [...written].toSorted().join('\u0000');
    const key = `${connection}\u0000${state}`;
    const known = exposed.get(key);
    if (known !== undefined) return known;
    const moment = momentOf(state, written);
    const answer =
      isLess(moment.postureOf(connection), [first(connection), last(connection)], compared) ||
      rivalsOf(connection, moment, written).some((rule) => isExposed(connection, new Set([...written].filter((id) => id !== rule))));
    exposed.set(key, answer);
    return answer;
  };
  return {
    comparisonsOf: (key) => {
      const alone = read(mixSnapshots(before, after, new Set([...created, key])));
      const without = read(mixSnapshots(after, before, new Set([key])));
      const pairs = [[opened(), alone] as const, [without, last] as const];
      return (id) =>
        pairs.flatMap(([one, other]) => {
          const [had, has] = [one(id), other(id)];
          return had === undefined || has === undefined ? [] : compareProtection(had, has, compared);
        });
    },
    isExposed,
  };
}

/** One state between writes. */
type Moment = { readonly snapshot: ProtectionSnapshot; readonly postureOf: PostureReader };

/**
 * Returns the new access-request rules that share a step of a connection with another rule, each by an attribute: the one with the lower id governs,
 * and a plan does not know the id of a new rule.
 */
function rivalsOf(connection: ResourceId, { snapshot }: Moment, written: ReadonlySet<ResourceId>): readonly ResourceId[] {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined) return [];
  const { byAttribute } = readAccessIn(snapshot).lookup(nameOf(connection), spec);
  const names = byAttribute.filter((rule) => rule.id === '' && byAttribute.some((other) => other !== rule && sharesStep(rule, other)));
  return [...written].filter((id) => isRequestRule(id) && names.some(({ name }) => name === nameOf(id)));
}

/** Returns whether a state is less protected than all others; a connection that is created or deleted has one other state. */
function isLess(moment: Posture | undefined, others: readonly (Posture | undefined)[], compared: ComparisonCache): boolean {
  return moment !== undefined && others.every((other) => other === undefined || losesAny(other, moment, compared));
}

/** Returns whether one state has less of any control than another, or one that cannot be compared. */
export function losesAny(before: Posture, after: Posture, compared?: ComparisonCache): boolean {
  return compareProtection(before, after, compared).some(({ lost, incomparable }) => lost.length + incomparable.length > 0);
}
