import { agentSchema, heartbeatSchema } from './agent-routes.ts';
import { exactly, idSchema, ifMatch, inPath, refer, timeSchema, type Chapter } from './api/operation.ts';

const text = { type: 'string' } as const;
const status = { enum: ['online', 'offline'], description: 'online: a heartbeat came within `timeout_seconds`.' } as const;

const agent = {
  id: idSchema,
  name: text,
  status,
  last_seen: { type: ['string', 'null'], format: 'date-time', description: 'When the last heartbeat came; null: none did.' },
  hostname: { ...text, description: 'What the agent says of itself, as the next two; empty until it does.' },
  version: text,
  platform: text,
  created_at: timeSchema,
} as const;

const token = {
  ...text,
  description: 'Opens the heartbeat and nothing else. It is shown here and never again; only its hash is kept.',
} as const;
const id = inPath('id', 'The id of the agent, or its name.');

/** Tells of the agents. */
export const agentChapter: Chapter = {
  name: 'Agents',
  description: `What carries sessions to the resources. The interface has their ids in connections and the status that follows from
them, but none of these operations.`,
  schemas: {
    Agent: exactly(agent),
    AgentWithToken: exactly({ ...agent, token }),
    AgentBody: agentSchema,
    Heartbeat: exactly({ id: idSchema, name: text, status, timeout_seconds: { type: 'integer' } }),
    HeartbeatBody: heartbeatSchema,
  },
  operations: [
    {
      method: 'get',
      path: '/agents',
      id: 'listAgents',
      summary: 'List agents',
      description: 'Sorted by name.',
      parameters: [
        {
          name: 'status',
          in: 'query',
          description: 'Only agents of this status; empty: all.',
          schema: { enum: ['', 'online', 'offline'] },
        },
      ],
      answers: { 200: { description: 'The agents.', schema: { type: 'array', items: refer('Agent') } } },
      refuses: [422],
    },
    {
      method: 'post',
      path: '/agents',
      id: 'createAgent',
      summary: 'Register an agent',
      body: refer('AgentBody'),
      answers: { 201: { description: 'It is known now.', schema: refer('AgentWithToken'), headers: ['Location', 'ETag'] } },
      refuses: [409],
    },
    {
      method: 'get',
      path: '/agents/:id',
      id: 'readAgent',
      summary: 'Read an agent',
      parameters: [id],
      description: 'Its `ETag` changes with its token, not with every heartbeat.',
      answers: { 200: { description: 'The agent.', schema: refer('Agent'), headers: ['ETag'] } },
    },
    {
      method: 'delete',
      path: '/agents/:id',
      id: 'deleteAgent',
      summary: 'Remove an agent',
      description: 'One that serves a connection is refused; resources that named it name none.',
      parameters: [id, ifMatch],
      answers: { 204: { description: 'It is gone, and its token opens nothing.' } },
      refuses: [409, 412],
    },
    {
      method: 'post',
      path: '/agents/:id/token',
      id: 'renewAgentToken',
      summary: 'Give an agent a new token',
      description: 'The one before opens nothing any more.',
      parameters: [id, ifMatch],
      answers: { 201: { description: 'The agent with its token.', schema: refer('AgentWithToken'), headers: ['ETag'] } },
      refuses: [412],
    },
    {
      method: 'post',
      path: '/agents/heartbeat',
      id: 'beat',
      summary: 'Tell that an agent lives',
      description: `An agent is offline when \`timeout_seconds\` pass without a
heartbeat; three in that time are a good pace. A body may be left out; what it leaves out becomes empty.`,
      byAgent: true,
      bodyless: true,
      body: refer('HeartbeatBody'),
      answers: { 200: { description: 'It is noted.', schema: refer('Heartbeat') } },
    },
  ],
};
