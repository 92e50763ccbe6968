import { type RawBuilder, sql } from 'kysely';
import type { Principal } from '../principal.ts';

/** The field of a connection with the groups that may see and use it, beside admins and auditors. An empty list is everybody. */
const accessField = 'access_groups';

/** Returns the groups of a caller that decide which connections it sees; null for a caller that sees all of them. */
export function decidingGroups({ role, groups }: Principal): readonly string[] | null {
  return role === 'standard' ? groups : null;
}

/** Returns a condition: a caller with these deciding groups may see and use the connection of a spec. */
export function isReachable(groups: unknown, spec: RawBuilder<unknown>): RawBuilder<boolean> {
  const [own, field] = [sql`${groups}::text[]`, sql.lit(accessField)];
  return sql`(${own} is null or coalesce(${spec} -> ${field}, '[]') = '[]' or ${spec} -> ${field} ?| ${own})`;
}

/**
 * Returns a condition: the caller may see a resource, which is often named after its only connection. It must see one of the
 * connections of the resource, if there are any.
 */
export function isResourceReachable(groups: unknown, name: RawBuilder<unknown>): RawBuilder<boolean> {
  const reachable = isReachable(groups, sql`c.spec`);
  return sql`(${groups}::text[] is null or ${name} not in (select c.spec ->> 'resource_name' from connections c
    where c.spec ->> 'resource_name' is not null group by 1 having not bool_or(${reachable})))`;
}
