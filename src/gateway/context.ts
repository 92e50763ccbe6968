import { hasField } from '../model/gateway.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../model/resource.ts';
import type { ObjectAddress, WireKind } from './dialect.ts';
import { createIdIndex, type IdIndex } from './id-index.ts';
import { entryReader, type EntryReader } from './live/from-wire.ts';
import type { GatewaySession } from './session.ts';

/** One kind as this gateway has it: the kind with only the fields of this gateway, its wire form, its reader. */
type KindBinding = { readonly kind: Kind; readonly wireKind: WireKind; readonly reader: EntryReader };

/** What reading and writing share while a gateway is open. */
export type GatewayContext = Pick<GatewaySession, 'url' | 'client' | 'dialect' | 'capabilities' | 'pause'> & {
  readonly idIndex: IdIndex;
  /** By uid: the result of the last read of that one object. */
  readonly recentReads: Map<string, LiveResource>;
  /** Returns how this gateway has a kind; throws where the dialect has no such kind. */
  readonly bindingFor: (kind: string) => Promise<KindBinding>;
};

/** Makes what reading and writing share. */
export function createContext({ url, client, dialect, capabilities, pause }: GatewaySession, registry: Registry): GatewayContext {
  const idIndex = createIdIndex();
  const bindings = new Map<string, KindBinding>();
  return {
    url,
    client,
    dialect,
    capabilities,
    pause,
    idIndex,
    recentReads: new Map(),
    async bindingFor(name) {
      const { borrowed } = await capabilities();
      const present = bindings.get(name);
      if (present !== undefined) return present;
      const registered = registry.get(name);
      const wireKind = dialect.kinds[name];
      if (registered === undefined || wireKind === undefined) throw new Error(`the dialect ${dialect.name} has no kind ${name}`);
      const speech = { dialect: dialect.name, ...(borrowed === undefined ? {} : { borrowed }) };
      const kind = { ...registered, fields: registered.fields.filter((field) => hasField(speech, name, field)) };
      const binding = { kind, wireKind, reader: entryReader(kind, wireKind, idIndex) };
      bindings.set(name, binding);
      return binding;
    },
  };
}

/** Returns the id that the gateway uses for what a request writes. */
export function gatewayIdOf(kind: Kind, id: ResourceId, spec: Parameters<Kind['identity']>[1]): ResourceId {
  return resourceId(kindOf(id), kind.identity(nameOf(id), spec));
}

/** Returns what a path needs of a live object. */
export function addressOf(live: { readonly id: ResourceId; readonly uid: string }): ObjectAddress {
  return { uid: live.uid, name: nameOf(live.id) };
}
