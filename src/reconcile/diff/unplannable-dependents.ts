import { liveKeyOf } from '../../model/plan/plan.ts';
import { desiredByKey } from '../../model/desired.ts';
import { liveEdges } from '../../model/live.ts';
import type { ResourceId } from '../../model/resource.ts';
import { effectOn, effectsOf } from '../order/effects.ts';
import type { UnplannableObject } from '../prepare/omissions.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { declaredEnds, indexEdges } from '../cells/edge-cells.ts';

/**
 * Returns the connections that must not become less protected, with the object that is left as it is: an unplannable connection, the
 * predecessor of one, and each connection that an unplannable rule protects or should protect.
 */
export function findExposed({ named, frozen, input: { registry } }: Prepared): ReadonlyMap<ResourceId, ResourceId> {
  if (frozen.size === 0) return new Map();
  const { desired, live } = named;
  const declared = declaredEnds(desired, indexEdges({ desired, live, registry }));
  const protectedToo = [...liveEdges(live, registry), ...declared].flatMap(({ rule, connection }) =>
    frozen.has(rule) ? [[connection, rule] as const] : [],
  );
  return new Map([...protectedToo, ...[...frozen].map((id) => [id, id] as const)]);
}

/**
 * Returns the objects that depend on unplannable ones: their changes weaken or open a connection before an unplannable object protects it.
 * What an apply skips after a failed write, a plan blocks by the same rule.
 */
export function unplannableDependents(prepared: Prepared, { diff, snapshots }: PlannedStates): readonly UnplannableObject[] {
  const exposed = findExposed(prepared);
  if (exposed.size === 0) return [];
  const { desired, live } = prepared.named;
  const manifests = desiredByKey(desired.resources);
  return effectsOf(diff, live, prepared.input.registry, snapshots).flatMap((effect): readonly UnplannableObject[] => {
    const key = liveKeyOf(effect.change);
    const resource = manifests.get(key);
    if (resource === undefined) return [];
    const connection = [...effect.connections].find((id) => exposed.has(id) && effectOn(effect, id).weakens);
    const by = connection === undefined ? undefined : exposed.get(connection);
    if (connection === undefined || by === undefined) return [];
    const about = connection === key ? '' : `, for ${connection}`;
    const message = by === connection ? `it weakens ${by}, which is blocked` : `it needs ${by}, which is blocked${about}`;
    return [{ resource, error: { code: 'plan/needs-blocked', message, hint: `resolve the error of ${by} first` } }];
  });
}
