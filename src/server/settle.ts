import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { agentStatusAt } from './agent-status.ts';
import type { Collection } from './collections.ts';
import { InvalidBody } from './http/rejection.ts';
import type { Tables } from './store/tables.ts';

/**
 * Gives a spec its agent and its resource, and tells whether the agent is online: an agent that does not exist is
 * refused, a resource that does not exist is made like the spec, and one that does stays as it is.
 */
export async function ensureAgentAndResource(
  trx: Transaction<Tables>,
  { agentField, resourceField }: Collection,
  { spec, now }: { readonly spec: JsonObject; readonly now: Date },
): Promise<boolean> {
  if (agentField === undefined || resourceField === undefined) return false;
  const agent = text(spec, agentField);
  // One statement, as every write of a connection waits for it.
  const { rows } = await sql<{ readonly last_seen: Date | null }>`
    with served as (select id, last_seen from agents where id = ${agent}),
    made as (
      insert into resources (id, name, type, subtype, agent_id, revision, created_at, updated_at)
      select ${randomUUID()}::uuid, ${text(spec, resourceField)}, ${text(spec, 'type')}, ${text(spec, 'subtype')}, id, 1,
        ${now}::timestamptz, ${now}::timestamptz from served
      on conflict (name) do nothing
    )
    select last_seen from served`.execute(trx);
  const [served] = rows;
  if (served === undefined) throw new InvalidBody([{ field: pointer(agentField), reason: `is no agent of this gateway: ${agent}` }]);
  return agentStatusAt(now, served.last_seen) === 'online';
}

function text(spec: JsonObject, field: string): string {
  const value = spec[field];
  return typeof value === 'string' ? value : '';
}
