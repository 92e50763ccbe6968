import type { DesiredResource } from '../desired.ts';
import { textsIn } from '../json.ts';
import { type Pointer, tokensOf } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import { endsLater } from '../time.ts';

/** A group that both manifests grant or leave to the gateway, with the end that it had; `until` is absent if it has none any more. */
export type MovedEnd = {
  readonly id: ResourceId;
  readonly path: Pointer;
  readonly group: string;
  readonly until?: string;
  readonly was: string;
};

/** Returns the groups of a manifest whose access ended at another time in the base. */
export function movedEnds({ id, spec, grants = [] }: DesiredResource, base: DesiredResource | undefined): readonly MovedEnd[] {
  return (base?.grants ?? []).flatMap(({ path, group, until: was, ended }): readonly MovedEnd[] => {
    const [field = ''] = tokensOf(path);
    // A list that is no longer stated stays as it is on the gateway.
    if (ended === true || (spec[field] !== undefined && !textsIn(spec[field]).includes(group))) return [];
    const until = grants.find((grant) => grant.path === path)?.until;
    return until === was ? [] : [{ id, path, group, was, ...(until === undefined ? {} : { until }) }];
  });
}

/** Returns whether a group keeps its access for longer. */
export function isExtended({ until, was }: MovedEnd): boolean {
  return until === undefined || endsLater(until, was);
}
