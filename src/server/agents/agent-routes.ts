import type { Hono } from 'hono';
import { agentBodySchema, heartbeatBodySchema } from './agents.openapi.ts';
import {
  agentNameProblem,
  agentTimeoutSeconds,
  createAgent,
  findAgent,
  listAgents,
  recordHeartbeat,
  removeAgent,
  renewAgentToken,
} from './agents.ts';
import { createFailedLoginCounter } from '../auth/authenticate-request.ts';
import { keyFromHeaders } from '../auth/principal.ts';
import { InvalidBody, Rejection, requireNoProblems } from '../http/rejection.ts';
import { compileBodyValidator, readBody } from '../http/request-body.ts';
import { type AppEnv, authorOf, clientAddress, writeTargetOf } from '../http/request-context.ts';
import { type Store, inWriteLock } from '../store/store.ts';

type AgentRoutesOptions = { readonly store: Store; readonly now: () => Date };

/** Serves the heartbeat, the only route for the token of an agent. */
export function serveHeartbeat(app: Hono<AppEnv>, { store, now, trustProxy }: AgentRoutesOptions & { readonly trustProxy: boolean }): void {
  const validate = compileBodyValidator(heartbeatBodySchema);
  const countFailedLogin = createFailedLoginCounter();
  app.post('/agents/heartbeat', async (c) => {
    const challenge = { 'WWW-Authenticate': 'Bearer' };
    const token = keyFromHeaders(c.req.header('Authorization'), undefined);
    if (token === undefined) throw new Rejection(401, 'an agent token is needed: Authorization: Bearer TOKEN', challenge);
    const body = await readBody(c.env.incoming, {});
    requireNoProblems(validate(body));
    const textIn = (field: string): string => (typeof body[field] === 'string' ? body[field] : '');
    const beat = { hostname: textIn('hostname'), version: textIn('version'), platform: textIn('platform') };
    const agent = await recordHeartbeat(store.db, token, beat, now());
    if (agent === undefined) {
      const waitSeconds = countFailedLogin(clientAddress(c.env.incoming, trustProxy), now());
      if (waitSeconds > 0) throw new Rejection(429, 'too many wrong tokens came from this address', { 'Retry-After': String(waitSeconds) });
      throw new Rejection(401, 'the agent token is unknown', challenge);
    }
    c.set('callerName', `agent ${agent.name}`);
    return c.json({ id: agent.id, name: agent.name, status: agent.status, timeout_seconds: agentTimeoutSeconds });
  });
}

/** Serves the administration of agents. */
export function serveAgents(app: Hono<AppEnv>, { store, now }: AgentRoutesOptions): void {
  const validate = compileBodyValidator(agentBodySchema);
  app.get('/agents', async (c) => {
    const status = c.req.query('status') ?? '';
    if (!['', 'online', 'offline'].includes(status)) throw new InvalidBody([{ field: 'status', reason: 'must be online or offline' }]);
    const agents = await listAgents(store.db, now());
    return c.json(agents.filter((agent) => status === '' || agent.status === status));
  });
  app.post('/agents', async (c) => {
    const body = await readBody(c.env.incoming);
    requireNoProblems(validate(body));
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
    await inWriteLock(store.db, (trx) => removeAgent(trx, writeTargetOf(c), authorOf(c, now())));
    return c.body(null, 204);
  });
  app.post('/agents/:id/token', async (c) => {
    const { agent, tag } = await inWriteLock(store.db, (trx) => renewAgentToken(trx, writeTargetOf(c), authorOf(c, now())));
    return c.json(agent, 201, { ETag: tag });
  });
}
