import type { Gateway } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
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
    preflight: async (proposal) => dialect.preflight(proposal, await answers()),
    create: (request) => create(link, request),
    update: (fresh, request) => update(link, fresh, request),
    remove: (fresh) => remove(link, fresh),
    close,
  };
}
