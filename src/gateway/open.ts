import type { Gateway } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
import type { Client } from './client.ts';
import type { Inquired } from './dialect.ts';
import { openLine, type LineOptions } from './line.ts';
import { openLink } from './link.ts';
import { confirm, readAll, readOne } from './read.ts';
import { create, remove, update } from './write.ts';

export type GatewayOptions = LineOptions & { readonly registry: Registry };

/** Opens a gateway over HTTP; asks it who it is unless the dialect is given. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { url, client, dialect, answers, introduction, identify, pause, close } = await openLine(options);
  const link = openLink({ url, client, dialect, introduction, pause }, options.registry);
  return {
    identify,
    readAll: (kinds) => readAll(link, kinds),
    readOne: (live) => readOne(link, live),
    confirm: (ids) => confirm(link, ids),
    async preflight(proposal) {
      const told = await answers();
      return dialect.preflight(proposal, told, await inquire(client, dialect.inquiries?.(proposal, told) ?? []));
    },
    create: (request) => create(link, request),
    update: (fresh, request) => update(link, fresh, request),
    remove: (fresh) => remove(link, fresh),
    close,
  };
}

/** There is no such thing, or nothing of it is set up. */
const absent = [404, 405, 422, 501];
/** What else is no reason to end the run: a role that may not read it, or something that does not work there. */
const untold = [400, 403, 500];

async function inquire(client: Client, paths: readonly string[]): Promise<Inquired> {
  const told = paths.map(async (path) => {
    const { status, body } = await client.send({ method: 'GET', path, accept: [...absent, ...untold] });
    if (absent.includes(status)) return [path, null] as const;
    return [path, status < 300 ? body : undefined] as const;
  });
  return new Map(await Promise.all(told));
}
