import { type BaseState, desiredByKey, type DesiredResource } from '../../model/desired.ts';
import { formerIdOf } from '../prepare/former-names.ts';
import type { AppliedResource } from './origin.ts';

/** Finds what was last applied of a resource, under the name that it has or, where it is live, had. */
export function lastAppliedLookup(
  base: BaseState | undefined,
  revert: readonly string[] = [],
): (resource: DesiredResource, isLive: boolean) => AppliedResource | undefined {
  if (base === undefined) return () => undefined;
  const applied = desiredByKey(base.desired.resources);
  const reverts = new Set(revert);
  return (resource, isLive) => {
    const former = isLive ? formerIdOf(resource) : undefined;
    const found = applied.get(resource.key) ?? (former === undefined ? undefined : applied.get(former));
    return found === undefined ? undefined : { base: found, revert: reverts.has(resource.id) };
  };
}
