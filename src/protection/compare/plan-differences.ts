import { compareText } from '../../model/json.ts';
import { isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { affectedIds, type DirectionLookup, isFirstOpening, type PlannedWrites, type PlanSnapshots } from '../posture/diff-postures.ts';
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

/** Returns a lookup of the directions in which what people may do on a connection differs, by the controls that may say so. */
export function accessDirections(differences: readonly Difference[]): DirectionLookup {
  const found = new Map<string, Set<AccessDirection>>();
  for (const one of differences) {
    for (const control of controlsAbout(one)) {
      const key = `${one.connection} ${control}`;
      const own = found.get(key) ?? new Set<AccessDirection>();
      for (const direction of directionsOf(one)) own.add(direction);
      found.set(key, own);
    }
  }
  return (connection, control) => found.get(`${connection} ${control}`) ?? new Set();
}

const approving: readonly ControlType[] = ['review', 'force', 'approval'];

/** Lists the controls that a difference of what people may do is about, the first of them before all others. */
export function controlsAbout({ part, people, terms: [had, has] }: Difference): readonly ControlType[] {
  if ('machine' in people) return ['who'];
  switch (part) {
    case 'use': {
      const found: readonly ControlType[] = [
        ...(had?.open === has?.open ? [] : (['access'] as const)),
        ...(had?.sees === has?.sees ? [] : (['who'] as const)),
        ...(had?.runs === has?.runs ? [] : (['runbooks'] as const)),
        ...((had?.approval === 'refused') === (has?.approval === 'refused') ? [] : approving),
      ];
      // What is not read may decide any of them.
      return found.length > 0 ? found : ['access', 'who', 'runbooks', ...approving];
    }
    case 'approval':
      return approving;
    case 'longest':
      return ['duration', 'approval'];
    case 'files':
      return ['runbooks'];
    case 'until':
      return ['who'];
    case 'analyzer':
      return ['analyzer'];
  }
}
