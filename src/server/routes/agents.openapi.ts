import { asText, type JsonObject } from '../../model/json.ts';
import { type ApiSection, exactObject, idSchema, schemaRef, timeSchema } from './api-section.ts';
import type { Hono } from 'hono';
import {
  agentNameProblem,
  agentTimeoutSeconds,
  createAgent,
  findAgent,
  findAgentByToken,
  listAgents,
  recordHeartbeat,
  removeAgent,
  renewAgentToken,
} from '../rules/agents.ts';
import type { RejectLogin } from './request-context.ts';
import { keyFromHeaders } from '../principal.ts';
import { InvalidBody, requireNoProblems } from '../rejection.ts';
import { bodyValidator } from '../rules/body-validator.ts';
import { readBody, smallBodyBytes } from './request-body.ts';
import { type AppEnv, authorOf, writeTargetOf } from './request-context.ts';
import { inWriteLock, type Store } from '../store/store.ts';

type AgentRoutesOptions = { readonly store: Store; readonly now: () => Date };

/** Serves the heartbeat, the only route for the token of an agent. */
export function serveHeartbeat(
  app: Hono<AppEnv>,
  { store, now, rejectLogin }: AgentRoutesOptions & { readonly rejectLogin: RejectLogin },
): void {
  const validate = bodyValidator(heartbeatBodySchema);
  app.post('/agents/heartbeat', async (c) => {
    const token = keyFromHeaders(c.req.header('Authorization'), undefined);
    const found = token === undefined ? undefined : await findAgentByToken(store.db, token);
    if (found === undefined)
      throw rejectLogin(c, token === undefined ? 'missing agent token: send Authorization: Bearer TOKEN' : 'unknown agent token');
    c.set('callerName', `agent ${found.name}`);
    const body = await readBody(c.env.incoming, { limit: smallBodyBytes, missing: {} });
    requireNoProblems(validate(body));
    const textIn = (field: string): string => asText(body[field]);
    const beat = { hostname: textIn('hostname'), version: textIn('version'), platform: textIn('platform') };
    const agent = await recordHeartbeat(store.db, found, beat, now());
    if (agent === undefined) throw rejectLogin(c, 'unknown agent token');
    return c.json({ id: agent.id, name: agent.name, status: agent.status, timeout_seconds: agentTimeoutSeconds });
  });
}

/** Serves the administration of agents. */
export function serveAgents(app: Hono<AppEnv>, { store, now }: AgentRoutesOptions): void {
  const validate = bodyValidator(agentBodySchema);
  app.get('/agents', async (c) => {
    const status = c.req.query('status') ?? '';
    if (!['', 'online', 'offline'].includes(status)) throw new InvalidBody([{ field: 'status', reason: 'must be online or offline' }]);
    const agents = await listAgents(store.db, now());
    return c.json(agents.filter((agent) => status === '' || agent.status === status));
  });
  app.post('/agents', async (c) => {
    const body = await readBody(c.env.incoming, { limit: smallBodyBytes });
    requireNoProblems(validate(body));
    const name = asText(body['name']);
    const problem = agentNameProblem(name);
    if (problem !== undefined) throw new InvalidBody([{ field: '/name', reason: problem }]);
    const created = await inWriteLock(store.db, (trx) => createAgent(trx, name, authorOf(c, now())));
    return c.json(created.agent, 201, { Location: `/agents/${created.agent.id}`, ETag: created.tag });
  });
  app.get('/agents/:id', async (c) => {
    const { agent, tag } = await findAgent(store.db, c.req.param('id'), now());
    return c.json(agent, 200, { ETag: tag });
  });
  app.delete('/agents/:id', async (c) => {
    await inWriteLock(store.db, (trx) => removeAgent(trx, writeTargetOf(c), authorOf(c, now())));
    return c.body(null, 204);
  });
  app.post('/agents/:id/token', async (c) => {
    const { agent, tag } = await inWriteLock(store.db, (trx) => renewAgentToken(trx, writeTargetOf(c), authorOf(c, now())));
    return c.json(agent, 201, { ETag: tag });
  });
}

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

/** Describes agents. */
export const agentSection: ApiSection = {
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
      parameters: [
        {
          name: 'status',
          in: 'query',
          description: 'Only agents with this status; empty: all.',
          schema: { enum: ['', 'online', 'offline'] },
        },
      ],
      answer: [200, 'The agents.', { type: 'array', items: schemaRef('Agent') }],
      errors: [422],
    },
    {
      route: 'POST /agents',
      id: 'createAgent',
      summary: 'Register an agent',
      body: 'AgentBody',
      tagged: true,
      answer: [201, 'The agent is registered.', 'AgentWithToken'],
      errors: [409],
    },
    {
      route: 'GET /agents/:id',
      id: 'readAgent',
      summary: 'Read an agent',
      named: id,
      tagged: true,
      description: 'Its `ETag` changes with its token, not with every heartbeat.',
      answer: [200, 'The agent.', 'Agent'],
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
    },
    {
      route: 'POST /agents/:id/token',
      id: 'renewAgentToken',
      summary: 'Rotate the token of an agent',
      description: 'The earlier token becomes invalid.',
      named: id,
      tagged: true,
      answer: [201, 'The agent with its new token.', 'AgentWithToken'],
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
    },
  ],
};
