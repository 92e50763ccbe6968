import { writeAttributes } from './attribute-links.ts';
import type { Call } from './call.ts';
import { badEnum, badUuid, foreignKey, isUuid, ModelError, tooLong, unknownGuardrail } from './errors.ts';
import { reconcileCredentials } from './machine-identities.ts';
import { newResource, resourceProblem, typeProblem } from './resource-rows.ts';
import type { ConnectionRow } from './rows.ts';
import { upsertTags } from './tags.ts';

export type ConnectionWrite = {
  readonly row: Omit<ConnectionRow, 'status'>;
  /** Ids of guardrails to link; null keeps the links. */
  readonly guardrails: readonly string[] | null;
  readonly prefix: string;
};

/** Saves a connection in one transaction, with the resource it needs; refuses with 500 and saves nothing where the database would. */
export function saveConnection(call: Call, { row, guardrails, prefix }: ConnectionWrite): ConnectionRow {
  const { store, context } = call;
  const resource = {
    name: row.resourceName,
    type: row.type,
    subtype: row.subtype,
    agentId: row.agentId === '' ? null : row.agentId,
    envVars: {},
  };
  const fresh = !store.resources.has(row.resourceName);
  if (fresh) refuse(prefix, 'failed upserting resource, reason=', resourceProblem(resource));
  refuse(prefix, 'failed saving connections, reason=', rowProblem(call, row));
  const rules = guardrails === null ? null : new Set(guardrails);
  refuse(prefix, 'failed creating guard rail association, reason=', guardrailProblem(call, rules ?? new Set()));
  if (fresh) store.resources.set(resource.name, newResource(context, resource));
  const agentId = row.agentId === '' ? null : (row.agentId?.toLowerCase() ?? null);
  const saved: ConnectionRow = {
    ...row,
    agentId,
    subtype: row.subtype,
    status: store.agents.get(agentId ?? '')?.online === true ? 'online' : 'offline',
  };
  store.saveConnection(saved);
  if (rules !== null)
    store.guardrailLinks.setLefts(
      row.id,
      [...rules].map((id) => id.toLowerCase()),
    );
  upsertTags(context, saved.connectionTags);
  return saved;
}

/** Writes the attributes of a saved connection, in the second transaction. */
export function saveAttributes(call: Call, connection: string, names: readonly string[] | null): void {
  const prefix = 'failed upserting connection attributes: ';
  writeAttributes(call, { links: call.store.connectionAttributes, owner: connection, names, prefix }, true);
  reconcileCredentials(call.context);
}

function refuse(prefix: string, step: string, problem: string | undefined): void {
  if (problem !== undefined) throw new ModelError(500, `${prefix}${step}${problem}`);
}

function rowProblem({ store }: Call, row: ConnectionWrite['row']): string | undefined {
  if (row.name.length > 254) return tooLong(254);
  if (row.subtype.length > 64) return tooLong(64);
  const type = typeProblem(row.type, row.agentId === '' ? null : row.agentId);
  if (type !== undefined) return type;
  const mode = [row.runbooks, row.exec, row.connect, row.schema].find((value) => value !== 'enabled' && value !== 'disabled');
  if (mode !== undefined) return badEnum('enum_access_status', mode);
  if (row.jiraTemplate === '') return undefined;
  if (!isUuid(row.jiraTemplate)) return badUuid(row.jiraTemplate);
  return store.jiraTemplates.has(row.jiraTemplate) ? undefined : foreignKey;
}

function guardrailProblem({ store }: Call, ids: ReadonlySet<string>): string | undefined {
  const broken = [...ids].find((id) => !isUuid(id));
  if (broken !== undefined) return badUuid(broken);
  return [...ids].every((id) => store.guardrails.has(id.toLowerCase())) ? undefined : unknownGuardrail;
}
