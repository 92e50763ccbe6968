import type { Gateway } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
import { createContext, openSession, type SessionOptions } from './session.ts';
import type { PreflightAnswers } from './dialect.ts';
import type { Client } from './http/client.ts';
import { keepAnswers, type KeptAnswers } from './http/keep-answers.ts';
import { confirmIds } from './live/confirm-ids.ts';
import { checksVersions, readAll, readOne } from './live/read.ts';
import { readInheritedKeys } from './live/read-inherited.ts';
import { mayRerouteInherited } from './dialects/rest.ts';
import { readAuditMark } from './service/open-service.ts';
import { switchRowsOn } from './write/write-rows.ts';
import { takeSnapshot } from './snapshot.ts';
import { sendCreate, sendDelete, sendUpdate } from './write/write.ts';

export type GatewayOptions = SessionOptions & { readonly registry: Registry };

/** Opens a gateway over HTTP; requests the server info where the dialect is `auto`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const session = await openSession(options);
  const context = createContext(session, options.registry);
  const kept: KeptAnswers = new Map();
  return {
    identify: session.identify,
    readsParts: Object.values(session.dialect.kinds).some((kind) => kind.supplement !== undefined),
    readAll: (kinds, part) => readAll({ ...context, client: keepAnswers(session.client, kept, part !== undefined) }, kinds, part),
    readOne: (live) => readOne(context, live),
    checksVersions: (listed) => checksVersions(context, listed),
    confirm: (ids) => confirmIds(context, ids),
    async preflight(proposal) {
      const { client, dialect } = session;
      const handshake = await session.handshake();
      const [answers, inherited] = await Promise.all([
        readPreflightAnswers(client, dialect.preflightReads(proposal, handshake)),
        mayRerouteInherited(proposal) ? readInheritedKeys(context) : undefined,
      ]);
      const result = dialect.preflight(proposal, handshake, answers);
      return inherited === undefined ? result : { ...result, inherited };
    },
    switchRowsOn: (kind, rows) => switchRowsOn(context, kind, rows),
    create: (request) => sendCreate(context, request),
    update: (fresh, request, onWritten) => sendUpdate(context, fresh, { request, onWritten }),
    remove: (fresh) => sendDelete(context, fresh),
    auditMark: () => readAuditMark(session),
    snapshot: async (live) => takeSnapshot(session, await session.handshake(), { live, inherited: context.inherited.keys }),
    clockAheadMs: session.client.clockAheadMs,
    close: session.close,
  };
}

/** The gateway does not have it, or it is not set up. */
const absentStatuses = [404, 405, 422, 501];
/** Other reasons that must not end the run: the role may not read it, or the gateway fails on it. */
const unavailableStatuses = [400, 403, 500];

async function readPreflightAnswers(client: Client, paths: readonly string[]): Promise<PreflightAnswers> {
  const answers = paths.map(async (path) => {
    const { status, body } = await client.send({ method: 'GET', path, accept: [...absentStatuses, ...unavailableStatuses] });
    if (absentStatuses.includes(status)) return [path, null] as const;
    return [path, status < 300 ? body : undefined] as const;
  });
  return new Map(await Promise.all(answers));
}
