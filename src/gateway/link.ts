import { hasField } from '../model/gateway.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../model/resource.ts';
import type { Client } from './client.ts';
import type { Addressed, Dialect, Introduction, WireKind } from './dialect.ts';
import { entryReader, type EntryReader } from './from-wire.ts';
import { openNames, type Names } from './names.ts';

/** One kind as this gateway speaks it. */
type Desk = { readonly kind: Kind; readonly wireKind: WireKind; readonly reader: EntryReader };

/** An open gateway: what reading and writing share. */
export type Link = {
  readonly url: string;
  readonly client: Client;
  readonly dialect: Dialect;
  readonly names: Names;
  /** Objects by uid as the last read of each alone showed them. */
  readonly recent: Map<string, LiveResource>;
  readonly introduction: () => Promise<Introduction>;
  readonly desk: (kind: string) => Promise<Desk>;
  /** Waits a little, longer after each attempt. */
  readonly pause: (attempt: number) => Promise<void>;
};

/** Opens what reading and writing share; of each kind only the fields that the gateway has. */
export function openLink(parts: Omit<Link, 'names' | 'recent' | 'desk'>, registry: Registry): Link {
  const names = openNames();
  const desks = new Map<string, Desk>();
  return {
    ...parts,
    names,
    recent: new Map(),
    async desk(name) {
      const { borrowed } = await parts.introduction();
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
export function identityOf(kind: Kind, id: ResourceId, spec: Parameters<Kind['identity']>[1]): ResourceId {
  return resourceId(kindOf(id), kind.identity(nameOf(id), spec));
}

export function addressOf(live: { readonly id: ResourceId; readonly uid: string }): Addressed {
  return { uid: live.uid, name: nameOf(live.id) };
}
