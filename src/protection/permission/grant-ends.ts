import type { DesiredState } from '../../model/desired.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { TimedGrant } from '../../model/protection/timed-grants.ts';

/** Returns the end of what grants access to a group; undefined if the manifests state none. */
export type GrantEnds = (grant: Decider) => TimedGrant | undefined;

/** Returns a lookup of the ends that manifests state. */
export function grantEnds({ resources }: Pick<DesiredState, 'resources'>): GrantEnds {
  const ends = new Map(
    resources.flatMap(({ id, key, grants = [] }) =>
      grants.flatMap((grant) => (grant.ended === true ? [] : [id, key].map((own) => [`${own}${grant.path}`, grant] as const))),
    ),
  );
  return ({ id, path }) => ends.get(`${id}${path}`);
}
