import { distinctSorted } from '../../model/json.ts';
import { isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import { type Difference, directionsIn, type TermPart } from '../access/terms.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { affectedIds, isFirstOpening, type PlannedWrites, type PlanSnapshots } from '../posture/diff-postures.ts';
import { movedEndsBetween } from '../posture/grant-ends.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { type AspectDifference, compareAspects } from './compare-aspects.ts';
import { compare, type Compared } from './compare.ts';

/** Everything that a plan changes for connections: what people may do, and what protects it from whoever uses it. */
export type PlanDifferences = { readonly access: readonly Difference[]; readonly aspects: readonly AspectDifference[] };

/**
 * Compares the connections that a plan may affect, before and after it. One that replaces another is compared with that one; those that no
 * written change can affect are not read.
 */
export function differencesOfPlan(plan: PlannedWrites, snapshots: PlanSnapshots): PlanDifferences {
  const { before, after, predecessors } = snapshots;
  const affected = plan.changes.some(isWritten) ? affectedIds(plan, before, after) : [];
  const isMoved = movedEndsBetween(before, after);
  const moved = isMoved === undefined ? [] : allConnections(after).filter(isMoved);
  const ids = distinctSorted([...affected, ...moved]);
  if (ids.length === 0) return { access: [], aspects: [] };
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const formerOf = (id: ResourceId): ResourceId | undefined =>
    isFirstOpening(changes.get(id), before.resources.has(id)) ? predecessors.get(id) : id;
  return compareStates({ before, after, formerOf }, ids);
}

function compareStates(states: Compared, ids: readonly ResourceId[]): PlanDifferences {
  return { access: compare(states, ids), aspects: compareAspects(states, ids) };
}

/** Compares connections of two states of a gateway; without `formerOf` none replaces another one. */
export function differencesBetween(
  before: ProtectionSnapshot,
  after: ProtectionSnapshot,
  ids: readonly ResourceId[],
  formerOf: Compared['formerOf'] = (id) => id,
): PlanDifferences {
  return compareStates({ before, after, formerOf }, ids);
}

/** Returns whether a connection of two states gives more, or protects less, in the second one, or whether that cannot be known. */
export function isLessProtected(before: ProtectionSnapshot, after: ProtectionSnapshot, id: ResourceId): boolean {
  const { access, aspects } = differencesBetween(before, after, [id]);
  return [...access, ...aspects].some(({ causes }) => causes.more !== undefined || causes.unclear !== undefined);
}

/** Returns the connections, not the new ones, of which people can certainly do more, or that something certainly protects less. */
export function losingIn({ access, aspects }: PlanDifferences): ReadonlySet<ResourceId> {
  return new Set([
    ...access.filter(({ causes, former }) => causes.more !== undefined && former !== undefined).map(({ connection }) => connection),
    ...aspects.filter(({ causes }) => causes.more !== undefined).flatMap(({ alike }) => alike),
  ]);
}

/** Returns the directions of a difference; what is certainly more outweighs what cannot be known. */
export function directionsOf(difference: Pick<Difference, 'causes'>): readonly AccessDirection[] {
  const all = directionsIn([difference]);
  return all.includes('more') ? all.filter((one) => one !== 'unclear') : all;
}

/** The controls that a difference of each part is about, the first of them before all others. */
const controlsOfPart: readonly (readonly [TermPart, readonly ControlType[]])[] = [
  ['open', ['access']],
  ['sees', ['who']],
  ['runs', ['runbooks']],
  ['approval', ['review', 'force', 'approval']],
  ['longest', ['duration']],
  ['files', ['runbooks']],
  ['until', ['who']],
  ['analyzer', ['analyzer']],
];

/** Lists the controls that a difference of what people may do is about, the first of them before all others. */
export function controlsAbout({ people, of }: Difference): readonly ControlType[] {
  if ('machine' in people) return ['who'];
  return controlsOfPart.flatMap(([part, controls]) => (of.includes(part) ? controls : []));
}
