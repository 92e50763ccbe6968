import type { DesiredResource } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { Change, Refusal } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { declaredKeys, type StateDiff } from '../diff/diff-states.ts';
import { findChangedName } from '../diff/changed-name.ts';
import type { RemovedObject } from '../diff/removed-objects.ts';
import { formerIdOf } from '../prepare/former-names.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { findLosses } from './losses.ts';
import { limitRefusals, type SortedRefusals } from './refusals.ts';

/** Refuses mass changes, imports that nobody confirmed, and changed names; measured over all differences, whatever a command applies of them. */
export function checkLimits({ input, base, named, desired }: Prepared, { diff, removed }: StateDiff): SortedRefusals {
  const { registry, limits, allowed, consent } = input;
  let ours = removed.length;
  for (const id of declaredKeys(named.desired)) if (named.liveById.has(id)) ours += 1;
  const applied = new Set(base?.desired.resources.map(({ id }) => id));
  const created = diff.changes.filter(({ id, action }) => action === 'create' && !applied.has(id));
  return limitRefusals(diff.changes, changedNames(created, named.desired.resources, removed, registry), {
    ours,
    losses: findLosses(diff.changes, diff.edges, named.live, registry),
    limits,
    allowed,
    adopts: new Set([...(consent?.adopt ?? []), ...desired.resources.flatMap(({ id, adopt }) => (adopt ? [id] : []))]),
  });
}

/** Refuses new names for removed objects that are still live and the same otherwise. */
function changedNames(
  created: readonly Change[],
  resources: readonly DesiredResource[],
  removed: readonly RemovedObject[],
  registry: Registry,
): readonly Refusal[] {
  if (removed.length === 0 || created.length === 0) return [];
  const ids = new Set<ResourceId>(created.map(({ id }) => id));
  const taken = new Set(resources.map(formerIdOf));
  const free = removed.filter(({ live }) => !taken.has(live.id));
  return resources
    .filter(({ id }) => ids.has(id))
    .flatMap((resource) => {
      const kind = registry.get(kindOf(resource.id));
      return kind === undefined ? [] : (findChangedName(kind, resource, free) ?? []);
    });
}
