import { addToGroup } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { type JsonObject, textsIn } from '../../model/json.ts';
import { type Pointer, pointer } from '../../model/pointer.ts';
import type { Decider, PermissionTerms } from '../../model/protection/permission.ts';
import type { TimedGrant } from '../../model/protection/timed-grants.ts';
import type { ResourceId } from '../../model/resource.ts';
import { endsLater } from '../../model/time.ts';
import { attributesIn } from '../access/deciding-kinds.ts';

/** The ends of grants, by the object and the path of the grant in it. */
export type GrantEnds = ReadonlyMap<ResourceId, ReadonlyMap<Pointer, TimedGrant>>;

/** The part of a state that grants access. */
type Granting = { readonly resources: ReadonlyMap<ResourceId, { readonly spec: JsonObject }>; readonly ends?: GrantEnds | undefined };

/** The ends of what grants a connection to people. */
export type EndedAccess = Pick<PermissionTerms, 'until' | 'reason'>;

/** Returns the ends that manifests state, by the object and the path of what grants access. */
export function grantEnds({ resources }: Pick<DesiredState, 'resources'>): GrantEnds {
  const ends = new Map<ResourceId, ReadonlyMap<Pointer, TimedGrant>>();
  for (const { id, key, grants = [] } of resources) {
    const own = grants.filter(({ ended }) => ended !== true).map((grant) => [grant.path, grant] as const);
    if (own.length > 0) for (const name of [id, key]) ends.set(name, new Map(own));
  }
  return ends;
}

/** What grants a connection to each group, its own list first. */
export type GrantsByGroup = ReadonlyMap<string, readonly Decider[]>;

/** Lists what grants a connection to each group, of itself and its attributes. */
export function grantsByGroup({ resources }: Granting, by: readonly ResourceId[]): GrantsByGroup {
  const found = new Map<string, Decider[]>();
  for (const granting of by)
    for (const group of textsIn(resources.get(granting)?.spec['access_groups']))
      addToGroup(found, group, { id: granting, path: pointer('access_groups', group) });
  return found;
}

/** Returns when the manifests take access away: the end of the grant that ends last, unless one of them has no end. */
export function lastEnd(ends: GrantEnds | undefined, grants: readonly Decider[]): EndedAccess {
  const found = grants.map(({ id, path }) => ends?.get(id)?.get(path));
  const last = found.reduce((one, other) => one && other && (endsLater(other.until, one.until) ? other : one), found[0]);
  return last === undefined ? {} : { until: last.until, reason: last.reason };
}

/** Returns a check whether the end of a grant of a connection differs between two states; undefined if no end does. */
export function movedEndsBetween(before: Granting, after: Granting): ((connection: ResourceId) => boolean) | undefined {
  const [had, has] = [before.ends ?? noEnds, after.ends ?? noEnds];
  const moved = new Set([...had.keys(), ...has.keys()].filter((id) => endsText(had.get(id)) !== endsText(has.get(id))));
  if (moved.size === 0) return undefined;
  return (id) => moved.has(id) || attributesIn(after.resources.get(id)?.spec ?? {}).some((attribute) => moved.has(attribute));
}

const noEnds: GrantEnds = new Map();

function endsText(grants: ReadonlyMap<Pointer, TimedGrant> | undefined): string {
  return [...(grants ?? [])].map(([path, { until }]) => `${path} ${until}`).join('\n');
}
