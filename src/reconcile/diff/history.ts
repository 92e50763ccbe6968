import { type BaseState, desiredByKey, type DesiredResource } from '../../model/desired.ts';
import { formerOf } from '../prepare/former.ts';
import type { Past } from './origin.ts';

/** Finds what was last applied of a resource, under the name that it has or, where it is live, had. */
export function historian(
  base: BaseState | undefined,
  revert: readonly string[] = [],
): (resource: DesiredResource, isLive: boolean) => Past | undefined {
  if (base === undefined) return () => undefined;
  const applied = desiredByKey(base.desired.resources);
  const reverts = new Set(revert);
  return (resource, isLive) => {
    const former = isLive ? formerOf(resource) : undefined;
    const found = applied.get(resource.key) ?? (former === undefined ? undefined : applied.get(former));
    return found === undefined ? undefined : { base: found, revert: reverts.has(resource.id) };
  };
}
