import { compareText } from '../../model/json.ts';
import { isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import { affectedIds, isFirstOpening, type PlannedWrites, type PlanSnapshots } from '../posture/diff-postures.ts';
import { movedEndsBetween } from '../posture/grant-ends.ts';
import { allConnections } from '../posture/protection-snapshot.ts';
import { type AspectDifference, compareAspects } from './compare-aspects.ts';
import { compare, type Difference } from './compare.ts';

/** Everything that a plan changes for connections: what people may do, and what protects it from whoever uses it. */
export type PlanDifferences = { readonly access: readonly Difference[]; readonly aspects: readonly AspectDifference[] };

/**
 * Compares the connections that a plan may affect, before and after it. One that replaces another is compared with that one; those that no
 * written change can affect are not read.
 */
export function differencesOfPlan(plan: PlannedWrites, snapshots: PlanSnapshots): PlanDifferences {
  const { before, after, postureBefore, predecessors } = snapshots;
  const affected = plan.changes.some(isWritten) ? affectedIds(plan, before, after) : [];
  const moved = allConnections(after).filter(movedEndsBetween(before, after));
  const ids = [...new Set([...affected, ...moved])].toSorted(compareText);
  if (ids.length === 0) return { access: [], aspects: [] };
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const formerOf = (id: ResourceId): ResourceId | undefined =>
    isFirstOpening(changes.get(id), postureBefore(id)) ? predecessors.get(id) : id;
  return { access: compare({ before, after, formerOf }, ids), aspects: compareAspects({ ...snapshots, formerOf }, ids) };
}

/** Returns the directions of a difference; what is certainly more outweighs what cannot be known. */
export function directionsOf({ causes }: Pick<Difference, 'causes'>): readonly AccessDirection[] {
  const all = (['more', 'less', 'unclear'] as const).filter((one) => causes[one] !== undefined);
  return all.includes('more') ? all.filter((one) => one !== 'unclear') : all;
}

/** Returns a lookup of the directions in which what people may do on a connection differs. */
export function accessDirections(differences: readonly Difference[]): (connection: ResourceId) => ReadonlySet<AccessDirection> {
  const found = new Map<ResourceId, Set<AccessDirection>>();
  for (const one of differences) {
    const own = found.get(one.connection) ?? new Set<AccessDirection>();
    for (const direction of directionsOf(one)) own.add(direction);
    found.set(one.connection, own);
  }
  return (connection) => found.get(connection) ?? new Set();
}
