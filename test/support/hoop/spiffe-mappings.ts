import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { microTime, nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { SpiffeMappingRow } from './rows.ts';

const audit = 'agent_spiffe_mappings';

/** Which workloads are which agents (gateway/api/spiffemappings). */
export const spiffeMappingRoutes: readonly Route[] = [
  { method: 'GET', path: '/spiffe-mappings', access: 'reader', answer: list },
  { method: 'POST', path: '/spiffe-mappings', access: 'admin', answer: create, audit },
  { method: 'PUT', path: '/spiffe-mappings/:id', access: 'admin', answer: replace, audit },
  { method: 'DELETE', path: '/spiffe-mappings/:id', access: 'admin', answer: remove, audit },
];

/** Newest first. */
function list({ store, context }: Call): Reply {
  const rows = [...store.spiffeMappings.values()].toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
  return ok(rows.map((row) => view(context.organisation.id, row)));
}

type Sent = Omit<SpiffeMappingRow, 'id' | 'createdAt' | 'updatedAt' | 'groups'> & { readonly groups: readonly string[] | null };

function readMapping(text: string): Sent {
  const body = readBody(text, 'AgentSPIFFEMapping');
  const stated = (name: string): string | null => body.string(name) || null;
  body.require({ TrustDomain: body.string('trust_domain') });
  return {
    trustDomain: body.string('trust_domain'),
    spiffeId: stated('spiffe_id'),
    prefix: stated('spiffe_prefix'),
    agentId: stated('agent_id'),
    template: stated('agent_template'),
    groups: body.strings('groups'),
  };
}

function refuseShape({ spiffeId, prefix, agentId, template }: Sent): void {
  if ((spiffeId === null) === (prefix === null)) throw new ModelError(422, 'exactly one of spiffe_id or spiffe_prefix must be set');
  if ((agentId === null) === (template === null)) throw new ModelError(422, 'exactly one of agent_id or agent_template must be set');
}

function create({ text, store, context }: Call): Reply {
  const { groups, ...sent } = readMapping(text);
  refuseShape({ ...sent, groups });
  if ([...store.spiffeMappings.values()].some(({ spiffeId, prefix }) => spiffeId === sent.spiffeId && prefix === sent.prefix))
    throw new ModelError(409, 'resource already exists');
  if (groups === null)
    throw new ModelError(
      500,
      'failed creating spiffe mapping: ERROR: null value in column "groups" of relation "agent_spiffe_mappings" violates not-null constraint (SQLSTATE 23502)',
    );
  const now = context.clock.now();
  const row = { ...sent, groups, id: context.random.uuid(), createdAt: now, updatedAt: now };
  store.spiffeMappings.set(row.id, row);
  return created({ ...view(context.organisation.id, row), created_at: nanoTime(now), updated_at: nanoTime(now) });
}

function find(call: Call): SpiffeMappingRow {
  const row = call.store.spiffeMappings.get(param(call, 'id'));
  if (row === undefined) throw new ModelError(404, 'resource not found');
  return row;
}

function replace(call: Call): Reply {
  const { store, context, text } = call;
  const sent = readMapping(text);
  refuseShape(sent);
  const before = find(call);
  const row = { ...before, ...sent, groups: sent.groups ?? [], updatedAt: context.clock.now() };
  store.spiffeMappings.set(row.id, row);
  return ok(view(context.organisation.id, row));
}

function remove(call: Call): Reply {
  call.store.spiffeMappings.delete(find(call).id);
  return empty;
}

function view(organisation: string, row: SpiffeMappingRow): JsonObject {
  return {
    id: row.id,
    org_id: organisation,
    trust_domain: row.trustDomain,
    ...(row.spiffeId === null ? {} : { spiffe_id: row.spiffeId }),
    ...(row.prefix === null ? {} : { spiffe_prefix: row.prefix }),
    ...(row.agentId === null ? {} : { agent_id: row.agentId }),
    ...(row.template === null ? {} : { agent_template: row.template }),
    groups: row.groups,
    created_at: microTime(row.createdAt),
    updated_at: microTime(row.updatedAt),
  };
}
