import { readBody } from './body.ts';
import { created, empty, ok, param, type Call, type Reply, type Route, type ModelContext } from './call.ts';
import { ModelError } from './errors.ts';
import type { Json } from './json.ts';
import { nameProblem } from './like.ts';
import { uuidOf } from './random.ts';
import type { AgentRow } from './rows.ts';

const audit = 'agents';

export const agentRoutes: readonly Route[] = [
  { method: 'GET', path: '/agents', access: 'reader', answer: list },
  { method: 'POST', path: '/agents', access: 'admin', answer: create, audit },
  { method: 'GET', path: '/agents/:nameOrID', access: 'reader', answer: read },
  { method: 'DELETE', path: '/agents/:nameOrID', access: 'admin', answer: remove, audit },
];

/** Adds an agent under the id that its name gives it. */
export function addAgent(context: ModelContext, agent: Omit<AgentRow, 'id'>): AgentRow {
  const row = { ...agent, id: uuidOf(`agent/${context.organisation.id}/${agent.name}`) };
  context.store.agents.set(row.id, row);
  return row;
}

/** Connects or disconnects an agent; the status of its connections follows. */
export function setAgentOnline({ store }: ModelContext, name: string, online: boolean): void {
  const agent = store.agentNamed(name);
  if (agent === undefined) return;
  store.agents.set(agent.id, { ...agent, online });
  for (const row of store.connections.values())
    if (row.agentId === agent.id) store.saveConnection({ ...row, status: online ? 'online' : 'offline' });
}

function list({ store, query, context }: Call): Reply {
  const status = query.get('status') ?? '';
  if (!['', 'CONNECTED', 'DISCONNECTED'].includes(status)) throw new ModelError(500, 'failed listing agents');
  const rows = [...store.agents.values()].filter((row) => row.mode !== 'multi-connection').map(view);
  return ok(context.random.shuffle(rows).filter((row) => status === '' || row['status'] === status));
}

function read(call: Call): Reply {
  const row = call.store.agentNamed(param(call, 'nameOrID'));
  if (row === undefined) throw new ModelError(404, 'agent not found');
  return ok(view(row));
}

function create({ text, store, context }: Call): Reply {
  const body = readBody(text, 'AgentRequest');
  const name = body.string('name');
  const mode = body.string('mode') || 'standard';
  body.require({ Name: name });
  const problem = nameProblem(name);
  if (problem !== undefined) throw new ModelError(422, problem);
  if (mode !== 'standard' && mode !== 'embedded') throw new ModelError(422, `unknown agent mode "${mode}"`);
  if (store.agentNamed(name) !== undefined) throw new ModelError(409, 'resource already exists');
  addAgent(context, { name, mode, online: false });
  return created({ token: `grpc://${name}:${context.random.hex(43)}@127.0.0.1:8010?mode=${mode}` });
}

function remove({ store, params }: Call): Reply {
  const row = store.agentNamed(params['nameOrID'] ?? '');
  if (row !== undefined) store.agents.delete(row.id);
  return empty;
}

function view(row: AgentRow): Readonly<Record<string, Json>> {
  return {
    id: row.id,
    token: '',
    name: row.name,
    mode: row.mode,
    status: row.online ? 'CONNECTED' : 'DISCONNECTED',
    metadata: {},
    hostname: '',
    machine_id: '',
    kernel_version: '',
    version: '',
    goversion: '',
    compiler: '',
    platform: '',
  };
}
