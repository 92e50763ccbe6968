import type { Context, Hono } from 'hono';
import type { JsonObject } from '../../model/json.ts';
import { clientAddress } from '../address.ts';
import { agentTimeoutSeconds } from '../agent-status.ts';
import { createAgent, findAgent, recordHeartbeat, listAgents, agentNameProblem, removeAgent, renewAgentToken } from './agents.ts';
import type { AppEnv } from '../app-env.ts';
import { keyFromHeaders } from '../auth/principal.ts';
import { authorOf } from '../http/request-context.ts';
import { readBody } from '../http/request-body.ts';
import { createFailedLoginCounter } from '../failed-logins.ts';
import type { Store } from '../objects/object-reader.ts';
import { InvalidBody, Rejection } from '../http/rejection.ts';
import { compileBodyValidator, type BodyValidator } from '../validation.ts';
import { inWriteLock, type WriteTarget } from '../objects/object-writer.ts';

type Parts = { readonly store: Store; readonly now: () => Date };

const schemaVersion = 'https://json-schema.org/draft/2020-12/schema';

/** What a body that registers an agent must be. */
export const agentBodySchema: JsonObject = {
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
      description: 'Unique; no / and no character that is invisible.',
    },
  },
};

const heartbeatText = { type: 'string', maxLength: 255, default: '' } as const;

/** What an agent may say of itself with a heartbeat. */
export const heartbeatBodySchema: JsonObject = {
  $schema: schemaVersion,
  title: 'Heartbeat',
  type: 'object',
  additionalProperties: false,
  properties: { hostname: heartbeatText, version: heartbeatText, platform: heartbeatText },
};

/** Serves the one route that an agent's token opens. */
export function serveHeartbeat(app: Hono<AppEnv>, { store, now, trustProxy }: Parts & { readonly trustProxy: boolean }): void {
  const validate = compileBodyValidator(heartbeatBodySchema);
  const failedLogins = createFailedLoginCounter();
  app.post('/agents/heartbeat', async (c) => {
    const challenge = { 'WWW-Authenticate': 'Bearer' };
    const token = keyFromHeaders(c.req.header('Authorization'), undefined);
    if (token === undefined) throw new Rejection(401, 'an agent token is needed: Authorization: Bearer TOKEN', challenge);
    const said = await readBody(c.env.incoming, {});
    refuse(validate, said);
    const text = (field: string): string => (typeof said[field] === 'string' ? said[field] : '');
    const beat = { hostname: text('hostname'), version: text('version'), platform: text('platform') };
    const agent = await recordHeartbeat(store.db, token, beat, now());
    if (agent === undefined) {
      const pause = failedLogins(clientAddress(c.env.incoming, trustProxy), now());
      if (pause > 0) throw new Rejection(429, 'too many wrong tokens came from this address', { 'Retry-After': String(pause) });
      throw new Rejection(401, 'the agent token is unknown', challenge);
    }
    c.set('who', `agent ${agent.name}`);
    return c.json({ id: agent.id, name: agent.name, status: agent.status, timeout_seconds: agentTimeoutSeconds });
  });
}

/** Serves agents to those who administer them. */
export function serveAgents(app: Hono<AppEnv>, { store, now }: Parts): void {
  const validate = compileBodyValidator(agentBodySchema);
  app.get('/agents', async (c) => {
    const status = c.req.query('status') ?? '';
    if (!['', 'online', 'offline'].includes(status)) throw new InvalidBody([{ field: 'status', reason: 'must be online or offline' }]);
    const agents = await listAgents(store.db, now());
    return c.json(agents.filter((agent) => status === '' || agent.status === status));
  });
  app.post('/agents', async (c) => {
    const body = await readBody(c.env.incoming);
    refuse(validate, body);
    const name = typeof body['name'] === 'string' ? body['name'] : '';
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
    await inWriteLock(store.db, (trx) => removeAgent(trx, referenceIn(c), authorOf(c, now())));
    return c.body(null, 204);
  });
  app.post('/agents/:id/token', async (c) => {
    const { agent, tag } = await inWriteLock(store.db, (trx) => renewAgentToken(trx, referenceIn(c), authorOf(c, now())));
    return c.json(agent, 201, { ETag: tag });
  });
}

function referenceIn({ req }: Context<AppEnv>): WriteTarget {
  return { text: req.param('id') ?? '', ifMatch: req.header('If-Match') };
}

function refuse(validate: BodyValidator, body: JsonObject): void {
  const problems = validate(body);
  if (problems.length > 0) throw new InvalidBody(problems);
}
