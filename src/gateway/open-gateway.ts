import type { Gateway } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
import type { Client } from './http/client.ts';
import type { PreflightAnswers } from './dialect.ts';
import { openSession, type SessionOptions } from './session.ts';
import { createContext } from './context.ts';
import { confirmIds, readAll, readOne } from './live/read.ts';
import { createResource, removeResource, updateResource } from './write/write.ts';

export type GatewayOptions = SessionOptions & { readonly registry: Registry };

/** Opens a gateway over HTTP; asks it who it is unless the dialect is given. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { url, client, dialect, handshake: answers, capabilities: introduction, identify, pause, close } = await openSession(options);
  const link = createContext({ url, client, dialect, capabilities: introduction, pause }, options.registry);
  return {
    identify,
    readAll: (kinds) => readAll(link, kinds),
    readOne: (live) => readOne(link, live),
    confirm: (ids) => confirmIds(link, ids),
    async preflight(proposal) {
      const told = await answers();
      return dialect.preflight(proposal, told, await readPreflightAnswers(client, dialect.preflightReads?.(proposal, told) ?? []));
    },
    create: (request) => createResource(link, request),
    update: (fresh, request) => updateResource(link, fresh, request),
    remove: (fresh) => removeResource(link, fresh),
    close,
  };
}

/** There is no such thing, or nothing of it is set up. */
const absentStatuses = [404, 405, 422, 501];
/** What else is no reason to end the run: a role that may not read it, or something that does not work there. */
const unavailableStatuses = [400, 403, 500];

async function readPreflightAnswers(client: Client, paths: readonly string[]): Promise<PreflightAnswers> {
  const told = paths.map(async (path) => {
    const { status, body } = await client.send({ method: 'GET', path, accept: [...absentStatuses, ...unavailableStatuses] });
    if (absentStatuses.includes(status)) return [path, null] as const;
    return [path, status < 300 ? body : undefined] as const;
  });
  return new Map(await Promise.all(told));
}
