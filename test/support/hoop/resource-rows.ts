import type { ModelContext } from './call.ts';
import { badEnum, badUuid, isUuid, tooLong } from './errors.ts';
import type { ResourceRow } from './rows.ts';

const types = ['command-line', 'postgres', 'mysql', 'mssql', 'tcp', 'application', 'custom', 'database', 'httpproxy'];

export type NewResource = Pick<ResourceRow, 'name' | 'type' | 'subtype' | 'envVars'> & { readonly agentId: string | null };

/** Returns the database error for a type and an agent; undefined if both are valid. */
export function typeProblem(type: string, agentId: string | null): string | undefined {
  if (!types.includes(type)) return badEnum('enum_connection_type', type);
  return agentId === null || isUuid(agentId) ? undefined : badUuid(agentId);
}

/** Returns the database error for a new resource; undefined if it is valid. */
export function resourceProblem({ name, type, subtype, agentId }: NewResource): string | undefined {
  if (name.length > 128) return tooLong(128);
  if (subtype.length > 64) return tooLong(64);
  return typeProblem(type, agentId);
}

export function newResource({ random, clock }: ModelContext, wanted: NewResource): ResourceRow {
  const now = clock.now();
  return { ...wanted, agentId: wanted.agentId?.toLowerCase() ?? null, id: random.uuid(), createdAt: now, updatedAt: now };
}
