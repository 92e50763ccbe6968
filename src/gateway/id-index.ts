import { isUuid, kindOf, nameOf, resourceId, type ResourceId } from '../model/resource.ts';
import type { LookupEntry } from '../model/live.ts';

/** Ids by uid, and uids by id. */
type IdPairs = { readonly ids: Map<string, ResourceId>; readonly uids: Map<ResourceId, string> };

/** Maps uids to names and back. Each read and write updates it, so that names can be sent as uids. */
export type IdIndex = {
  /** Replaces all pairs of a kind; the two maps are inverse to each other, and the caller gives them away. */
  readonly replace: (kind: string, known: IdPairs) => void;
  readonly learn: (id: ResourceId, uid: string) => void;
  readonly forget: (id: ResourceId, uid: string) => void;
  /** Returns the id of a uid; `Kind/uid` where its name is unknown. */
  readonly idOf: (kind: string, uid: string) => ResourceId;
  /** Returns the uid of an id; undefined where the name is unknown and is not a uid itself. */
  readonly uidOf: (id: ResourceId) => string | undefined;
  readonly replaceLookup: (kind: string, named: readonly LookupEntry[]) => void;
  /** Returns the name of something that manifests only refer to; its uid where the name is unknown or not unique. */
  readonly textOf: (kind: string, uid: string) => string;
  /** Returns the uid of something that manifests only refer to, by name or uid; undefined where the name is unknown or not unique. */
  readonly lookupUid: (kind: string, text: string) => string | undefined;
};

type LookupIndex = { readonly texts: ReadonlyMap<string, string>; readonly uids: ReadonlyMap<string, string> };

/** Returns an empty index. */
export function createIdIndex(): IdIndex {
  const kinds = new Map<string, IdPairs>();
  const lookups = new Map<string, LookupIndex>();

  function known(kind: string): IdPairs {
    const present = kinds.get(kind);
    if (present !== undefined) return present;
    const fresh = { ids: new Map<string, ResourceId>(), uids: new Map<ResourceId, string>() };
    kinds.set(kind, fresh);
    return fresh;
  }

  return {
    replace(kind, { ids, uids }) {
      kinds.set(kind, { ids, uids });
    },
    learn(id, uid) {
      const { ids, uids } = known(kindOf(id));
      const before = ids.get(uid);
      if (before !== undefined && before !== id) uids.delete(before);
      ids.set(uid, id);
      uids.set(id, uid);
    },
    forget(id, uid) {
      const { ids, uids } = known(kindOf(id));
      ids.delete(uid);
      uids.delete(id);
    },
    idOf: (kind, uid) => kinds.get(kind)?.ids.get(uid) ?? resourceId(kind, uid),
    uidOf(id) {
      const name = nameOf(id);
      const { ids, uids } = known(kindOf(id));
      return uids.get(id) ?? (ids.has(name) || isUuid(name) ? name : undefined);
    },
    replaceLookup(kind, named) {
      const uids = new Map<string, string>();
      const allUids = new Set(named.map(({ uid }) => uid));
      const ambiguous = new Set<string>();
      for (const { uid, name } of named) {
        if (uids.has(name) || allUids.has(name.toLowerCase())) ambiguous.add(name);
        uids.set(name, uid);
      }
      // A name never replaces the id of something else.
      for (const name of ambiguous) uids.delete(name);
      lookups.set(kind, { uids, texts: new Map([...uids].map(([name, uid]) => [uid, name])) });
    },
    textOf: (kind, uid) => lookups.get(kind)?.texts.get(uid) ?? uid,
    lookupUid: (kind, text) => lookups.get(kind)?.uids.get(text) ?? (isUuid(text) ? text : undefined),
  };
}
