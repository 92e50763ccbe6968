import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { type Diff, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import {
  type ComparisonCache,
  type ControlDifference,
  compareProtection,
  createComparisonCache,
} from '../../protection/controls/compare-protection.ts';
import type { Posture } from '../../protection/controls/control-row.ts';
import { groupAlike } from '../../protection/posture/alike-connections.ts';
import { createPostureBuilder, type PostureReader, readPostures } from '../../protection/posture/posture.ts';
import {
  allConnections,
  liveSnapshot,
  mixSnapshots,
  plannedSnapshot,
  type ProtectionSnapshot,
  readAccessIn,
  withoutConnections,
} from '../../protection/posture/protection-snapshot.ts';

type BothSnapshots = { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };

/** Returns whether a connection is less protected than both before and after a plan while only some of its changes are written. */
export type ExposureCheck = (connection: ResourceId, written: ReadonlySet<ResourceId>) => boolean;

/** The states between the writes of a plan with objects that decide access together. They are read on first use, and each once. */
export type JointStates = {
  readonly snapshots: () => BothSnapshots;
  /** Returns the first of the connections that the plan treats alike; the other functions take only such first ones. */
  readonly firstAlike: (connection: ResourceId) => ResourceId;
  /** Returns how connections, new ones too, differ with the change of one object: beside what is live, and beside the other changes. */
  readonly comparisonsOf: (key: ResourceId) => (connection: ResourceId) => readonly ControlDifference[];
  readonly isExposed: ExposureCheck;
};

/** Returns the states between the writes of a plan. */
export function jointStates(plan: Pick<Diff, 'changes' | 'edges'>, live: LiveState, registry: Registry): JointStates {
  const snapshots = onFirstUse(() => bothSnapshots(plan, live, registry));
  const alike = onFirstUse(() => firstsOf(plan, snapshots()));
  const few = onFirstUse(() => readStates(snapshots(), alike()));
  return {
    snapshots,
    firstAlike: (connection) => alike().get(connection) ?? connection,
    comparisonsOf: (key) => few().comparisonsOf(key),
    isExposed: (connection, written) => few().isExposed(connection, written),
  };
}

function onFirstUse<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => (known ??= { value: make() }).value;
}

/** Takes the snapshots before and after a plan; only where the gateway was not asked what decides access would a dialect matter. */
function bothSnapshots({ changes, edges }: Pick<Diff, 'changes' | 'edges'>, live: LiveState, registry: Registry): BothSnapshots {
  const dialect = changes.map(({ id }) => registry.get(kindOf(id))?.dialect).find((one) => one !== undefined) ?? '';
  return {
    before: liveSnapshot(live, registry, dialect),
    after: plannedSnapshot({ changes, edges, target: { dialect } }, live, registry),
  };
}

/** Returns for each connection the first one that the plan treats alike; one with a change of its own is like no other. */
function firstsOf({ changes }: Pick<Diff, 'changes'>, { before, after }: BothSnapshots): ReadonlyMap<ResourceId, ResourceId> {
  const written = new Set(changes.filter(isWritten).map(liveKeyOf));
  const ids = allConnections(before, after).filter((id) => !written.has(id));
  const build = createPostureBuilder({ access: readAccessIn(before), samples: undefined });
  const snapshots = { before, after, postureBefore: readPostures(before, build), postureAfter: readPostures(after, build) };
  const groups = groupAlike(ids, { snapshots, isChanged: () => false, writersOf: () => undefined });
  return new Map(groups.flatMap(({ alike }) => alike.flatMap((list) => list.map((id) => [id, list[0] ?? id] as const))));
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
  const moments = new Map<string, PostureReader>();
  const exposed = new Map<string, boolean>();
  const momentOf = (key: string, written: ReadonlySet<ResourceId>): PostureReader => {
    const moment = moments.get(key) ?? read(mixSnapshots(before, after, written));
    if (moments.size >= mostMoments) moments.clear();
    moments.set(key, moment);
    return moment;
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
    isExposed: (connection, written) => {
      const state = [...written].toSorted().join('\u0000');
      const key = `${connection}\u0000${state}`;
      const answer = exposed.get(key) ?? isLess(momentOf(state, written)(connection), [first(connection), last(connection)], compared);
      exposed.set(key, answer);
      return answer;
    },
  };
}

/** Returns whether a state is less protected than all others; a connection that is created or deleted has one other state. */
function isLess(moment: Posture | undefined, others: readonly (Posture | undefined)[], compared: ComparisonCache): boolean {
  return moment !== undefined && others.every((other) => other === undefined || losesAny(other, moment, compared));
}

/** Returns whether one state has less of any control than another, or one that cannot be compared. */
export function losesAny(before: Posture, after: Posture, compared?: ComparisonCache): boolean {
  return compareProtection(before, after, compared).some(({ lost, incomparable }) => lost.length + incomparable.length > 0);
}
