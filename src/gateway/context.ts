import { hasField } from '../model/gateway.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../model/resource.ts';
import type { Client } from './http/client.ts';
import type { ObjectAddress, Dialect, Capabilities, WireKind } from './dialect.ts';
import { entryReader, type EntryReader } from './live/from-wire.ts';
import { createIdIndex, type IdIndex } from './id-index.ts';

/** One kind as this gateway speaks it. */
type KindBinding = { readonly kind: Kind; readonly wireKind: WireKind; readonly reader: EntryReader };

/** An open gateway: what reading and writing share. */
export type GatewayContext = {
  readonly url: string;
  readonly client: Client;
  readonly dialect: Dialect;
  readonly idIndex: IdIndex;
  /** Objects by uid as the last read of each alone showed them. */
  readonly recentReads: Map<string, LiveResource>;
  readonly capabilities: () => Promise<Capabilities>;
  readonly bindingFor: (kind: string) => Promise<KindBinding>;
  /** Waits a little, longer after each attempt. */
  readonly pause: (attempt: number) => Promise<void>;
};

/** Opens what reading and writing share; of each kind only the fields that the gateway has. */
export function createContext(parts: Omit<GatewayContext, 'idIndex' | 'recentReads' | 'bindingFor'>, registry: Registry): GatewayContext {
  const names = createIdIndex();
  const desks = new Map<string, KindBinding>();
  return {
    ...parts,
    idIndex: names,
    recentReads: new Map(),
    async bindingFor(name) {
      const { borrowed } = await parts.capabilities();
      const present = desks.get(name);
      if (present !== undefined) return present;
      const { dialect } = parts;
      const whole = registry.get(name);
      const wireKind = dialect.kinds[name];
      if (whole === undefined || wireKind === undefined) throw new Error(`the dialect ${dialect.name} has no kind ${name}`);
      const speech = { dialect: dialect.name, ...(borrowed === undefined ? {} : { borrowed }) };
      const kind = { ...whole, fields: whole.fields.filter((field) => hasField(speech, name, field)) };
      const desk = { kind, wireKind, reader: entryReader(kind, wireKind, names) };
      desks.set(name, desk);
      return desk;
    },
  };
}

/** The id under which the gateway knows what the request writes. */
export function gatewayIdOf(kind: Kind, id: ResourceId, spec: Parameters<Kind['identity']>[1]): ResourceId {
  return resourceId(kindOf(id), kind.identity(nameOf(id), spec));
}

export function addressOf(live: { readonly id: ResourceId; readonly uid: string }): ObjectAddress {
  return { uid: live.uid, name: nameOf(live.id) };
}
