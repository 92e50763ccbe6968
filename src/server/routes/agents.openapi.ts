import { asText, type JsonObject } from '../../model/json.ts';
import { InvalidBody, Rejection } from '../rejection.ts';
import {
  agentNameProblem,
  agentTimeoutSeconds,
  createAgent,
  findAgent,
  listAgents,
  recordHeartbeat,
  removeAgent,
  renewAgentToken,
} from '../rules/agents.ts';
import { inWriteLock, type Store } from '../store/store.ts';
import { type ApiSection, exactObject, idSchema, queryParameter, schemaRef, timeSchema } from './api-section.ts';
import { smallBodyBytes } from './request-body.ts';
import { authorOf, writeTargetOf } from './request-context.ts';

const text = { type: 'string' } as const;
const status = { enum: ['online', 'offline'], description: 'online: the last heartbeat was within `timeout_seconds`.' } as const;

const agent = {
  id: idSchema,
  name: text,
  status,
  last_seen: { type: ['string', 'null'], format: 'date-time', description: 'The time of the last heartbeat, or null.' },
  hostname: { ...text, description: 'Reported by the agent, like the next two fields; empty before the first heartbeat.' },
  version: text,
  platform: text,
  created_at: timeSchema,
} as const;

const token = {
  ...text,
  description: 'The token is valid only for heartbeats. It is returned only once; the gateway stores only its hash.',
} as const;
const id = 'The ID or name of the agent.';

const schemaVersion = 'https://json-schema.org/draft/2020-12/schema';

const agentBodySchema: JsonObject = {
  $schema: schemaVersion,
  title: 'Agent',
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 254,
      pattern: '^[^/\\u0000-\\u001f\\u007f-\\u009f]*$',
      $comment: 'no / and no control or invisible characters',
      description: 'Unique; without / and invisible characters.',
    },
  },
};

const heartbeatText = { type: 'string', maxLength: 255, default: '' } as const;

const heartbeatBodySchema: JsonObject = {
  $schema: schemaVersion,
  title: 'Heartbeat',
  type: 'object',
  additionalProperties: false,
  properties: { hostname: heartbeatText, version: heartbeatText, platform: heartbeatText },
};

/** Describes and serves the administration of agents, and the heartbeat, the only route for the token of an agent. */
export function agentSection(store: Store): ApiSection {
  return {
    name: 'Agents',
    description: `Agents connect the gateway to the resources. The interface has only their IDs and status in connections; these operations are
additional.`,
    schemas: {
      Agent: exactObject(agent),
      AgentWithToken: exactObject({ ...agent, token }),
      AgentBody: agentBodySchema,
      Heartbeat: exactObject({ id: idSchema, name: text, status, timeout_seconds: { type: 'integer' } }),
      HeartbeatBody: heartbeatBodySchema,
    },
    operations: [
      {
        route: 'GET /agents',
        id: 'listAgents',
        summary: 'List agents',
        description: 'Sorted by name.',
        parameters: [queryParameter('status', 'Only agents with this status; empty: all.', { enum: ['', 'online', 'offline'] })],
        answer: [200, 'The agents.', { type: 'array', items: schemaRef('Agent') }],
        errors: [422],
        async serve(_c, _body, { status: asked = '' }) {
          const agents = await listAgents(store);
          return { json: agents.filter((one) => asked === '' || one.status === asked) };
        },
      },
      {
        route: 'POST /agents',
        id: 'createAgent',
        summary: 'Register an agent',
        body: 'AgentBody',
        tagged: true,
        answer: [201, 'The agent is registered.', 'AgentWithToken'],
        errors: [409],
        mostBytes: smallBodyBytes,
        async serve(c, body) {
          const name = asText(body['name']);
          const problem = agentNameProblem(name);
          if (problem !== undefined) throw new InvalidBody([{ field: '/name', reason: problem }]);
          return inWriteLock(store.db, (trx) => createAgent(trx, name, authorOf(c, store.now())));
        },
      },
      {
        route: 'GET /agents/:id',
        id: 'readAgent',
        summary: 'Read an agent',
        named: id,
        tagged: true,
        description: 'Its `ETag` changes with its token, not with every heartbeat.',
        answer: [200, 'The agent.', 'Agent'],
        serve: (c) => findAgent(store, writeTargetOf(c).text),
      },
      {
        route: 'DELETE /agents/:id',
        id: 'deleteAgent',
        summary: 'Remove an agent',
        description: 'An agent with connections cannot be removed; its resources lose their agent.',
        named: id,
        tagged: true,
        answer: [204, 'The agent and its token are deleted.'],
        errors: [409],
        serve: (c) => inWriteLock(store.db, (trx) => removeAgent(trx, writeTargetOf(c), authorOf(c, store.now()))),
      },
      {
        route: 'POST /agents/:id/token',
        id: 'renewAgentToken',
        summary: 'Rotate the token of an agent',
        description: 'The earlier token becomes invalid.',
        named: id,
        tagged: true,
        answer: [201, 'The agent with its new token.', 'AgentWithToken'],
        serve: (c) => inWriteLock(store.db, (trx) => renewAgentToken(trx, writeTargetOf(c), authorOf(c, store.now()))),
      },
      {
        route: 'POST /agents/heartbeat',
        id: 'beat',
        summary: 'Record a heartbeat',
        description: `An agent is offline after \`timeout_seconds\` without a
heartbeat; send about three heartbeats in that time. The body is optional; omitted fields become empty.`,
        hasOptionalBody: true,
        body: 'HeartbeatBody',
        answer: [200, 'The heartbeat is recorded.', 'Heartbeat'],
        mostBytes: smallBodyBytes,
        async serve(c, body) {
          const beat = { hostname: asText(body['hostname']), version: asText(body['version']), platform: asText(body['platform']) };
          const found = await recordHeartbeat(store, c.get('agent'), beat);
          if (found === undefined) throw new Rejection(401, 'unknown agent token', { 'WWW-Authenticate': 'Bearer' });
          return { json: { id: found.id, name: found.name, status: found.status, timeout_seconds: agentTimeoutSeconds } };
        },
      },
    ],
  };
}
