import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { exactly, idSchema, refer, type Chapter } from './api/operation.ts';
import type { Collection } from './collections.ts';
import { InvalidBody } from './rejection.ts';
import type { Tables } from './tables.ts';

/** An agent as the gateway tells of it; none can connect yet, so none is online. */
export type Agent = { readonly id: string; readonly name: string; readonly status: 'offline' };

/** Makes the named agents known; those that already are keep their ids. */
export async function registerAgents(db: Kysely<Tables>, names: readonly string[], now: Date): Promise<void> {
  if (names.length === 0) return;
  const rows = names.map((name) => ({ id: randomUUID(), name, created_at: now }));
  await db
    .insertInto('agents')
    .values(rows)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Lists all agents by name. */
export async function listAgents(db: Kysely<Tables>): Promise<readonly Agent[]> {
  const rows = await db.selectFrom('agents').select(['id', 'name']).orderBy('name').execute();
  return rows.map(({ id, name }) => ({ id, name, status: 'offline' }));
}

/** Refuses a spec that refers to an agent that does not exist. */
export async function checkAgents(db: Kysely<Tables>, { fields }: Collection, spec: JsonObject): Promise<void> {
  for (const { name, refers, edge } of fields) {
    const id = spec[name];
    if (refers !== 'Agent' || edge !== undefined || typeof id !== 'string') continue;
    const known = await db.selectFrom('agents').select('id').where('id', '=', id).executeTakeFirst();
    if (known === undefined) throw new InvalidBody([{ field: pointer(name), reason: `is no agent of this gateway: ${id}` }]);
  }
}

/** Tells of the agents. */
export const agentChapter: Chapter = {
  name: 'Agents',
  description: 'What carries sessions to the resources.',
  schemas: { Agent: exactly({ id: idSchema, name: { type: 'string' }, status: { enum: ['online', 'offline'] } }) },
  operations: [
    {
      method: 'get',
      path: '/agents',
      id: 'listAgents',
      summary: 'List agents',
      description:
        'Sorted by name. The interface does not show this list; it resolves the names of agents to the ids that connections take.',
      answers: { 200: { description: 'All agents.', schema: { type: 'array', items: refer('Agent') } } },
    },
  ],
};
