import { desiredByKey } from '../../model/desired.ts';
import { liveById } from '../../model/live.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { FormerConnection, FormerConnections } from '../../protection/policy/left-matches.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** Fields that a policy may match; a manifest without them keeps the live value. */
const matchFields = ['type', 'subtype', 'connection_tags'];

/**
 * Returns a lookup of what a connection was before the plan: as last applied, so that drift does not decide which policies apply;
 * without a base as it is live. A successor was its predecessor.
 */
export function readFormerConnections({ live, applied }: Prepared): FormerConnections {
  const found = liveById(live.resources);
  const base = desiredByKey(applied?.resources ?? []);
  const stateOf = (id: ResourceId): FormerConnection | undefined => {
    const [declared, present] = [base.get(id), found.get(id)];
    if (declared === undefined) return present === undefined ? undefined : { id, resource: present };
    const values = matchFields.flatMap((name) => {
      const value = declared.spec[name] ?? present?.spec[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { id, resource: { spec: Object.fromEntries(values), unknown: [] } };
  };
  return ({ id, key, replaces }) => stateOf(key) ?? (replaces === undefined ? undefined : stateOf(resourceId(kindOf(id), replaces)));
}
