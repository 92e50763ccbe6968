import type { FieldRule } from '../../model/field.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import { resourceId, type ResourceId } from '../../model/resource.ts';
import { seal, type LiveSecret } from '../../model/secret.ts';
import type { ReadMode, WireKind } from '../dialect.ts';
import type { IdIndex } from '../id-index.ts';

/** Reads the wire entries of one kind. */
export type EntryReader = {
  /** Who the entry is; undefined where it lacks its id or its name. */
  readonly uidOf: (entry: JsonObject) => string | undefined;
  readonly idOf: (entry: JsonObject) => ResourceId | undefined;
  readonly read: (entry: JsonObject, known: KnownIdentity, view: ReadMode) => LiveResource;
};

/** Who an entry is known to be. */
type KnownIdentity = { readonly uid: string; readonly id: ResourceId };

/** What a live resource carries for the next write; a function, so that no printer reaches the secrets inside. */
type EntryCarrier = () => JsonObject;

type WireField = {
  readonly rule: FieldRule;
  readonly name: string;
  readonly wire: string;
  /** The value is in its one form as it comes. */
  readonly verbatim: boolean;
  /** The gateway's words → ours. */
  readonly words: ReadonlyMap<Json, string> | undefined;
};

const noEnds: readonly ResourceId[] = [];
const nothing: readonly Pointer[] = [];
const hidden: LiveSecret = { state: 'hidden', source: 'live' };

/** Prepares reading a kind: the fields are sorted out once, not once per object. */
export function entryReader(kind: Kind, wireKind: WireKind, names: IdIndex): EntryReader {
  const fields = kind.fields
    .filter((rule) => rule.manifestOnly !== true)
    .map((rule): WireField => {
      const verbatim = rule.refers === undefined && (rule.shape === 'scalar' || rule.shape === 'list' || rule.shape === 'map');
      const values = wireKind.valueNames?.[rule.name];
      const words = values === undefined ? undefined : new Map(Object.entries(values).map(([our, theirs]) => [theirs, our]));
      return { rule, name: rule.name, wire: wireKind.fieldNames[rule.name] ?? rule.name, verbatim, words };
    });
  const compared = fields.filter(({ rule }) => rule.edge === undefined && rule.secret === undefined);
  const edgeFields = fields.filter(({ rule }) => rule.edge !== undefined);
  const secretFields = fields
    .filter(({ rule }) => rule.secret !== undefined)
    .map(({ rule, name, wire }) => ({ single: rule.secret === 'plain', at: pointer(name), wire, pointers: new Map<string, Pointer>() }));

  function spec(entry: JsonObject): JsonObject {
    const result: Record<string, Json> = {};
    for (const { rule, name, wire, verbatim, words } of compared) {
      const value = entry[wire];
      if (value === undefined || value === null) result[name] = rule.empty;
      else if (verbatim) result[name] = words?.get(value) ?? value;
      else if (rule.refers !== undefined && typeof value === 'string') result[name] = names.textOf(rule.refers, value);
      else result[name] = normalizeValue(rule, value);
    }
    return result;
  }

  function edges(entry: JsonObject): Readonly<Record<string, readonly ResourceId[]>> {
    const result: Record<string, readonly ResourceId[]> = {};
    for (const { rule, name, wire } of edgeFields) {
      const uids = entry[wire];
      result[name] = Array.isArray(uids) && uids.length > 0 ? ends(rule.refers ?? '', uids) : noEnds;
    }
    return result;
  }

  function ends(refers: string, uids: readonly Json[]): readonly ResourceId[] {
    const ids = uids.map((uid: Json) => names.idOf(refers, typeof uid === 'string' ? uid : JSON.stringify(uid)));
    return ids.length < 2 ? ids : [...new Set(ids)].toSorted(compareText);
  }

  function sealed(value: Json | undefined): LiveSecret {
    return typeof value === 'string' ? seal('live', wireKind.secretSpelling?.fromWire(value) ?? value) : hidden;
  }

  function secrets(entry: JsonObject): Readonly<Record<Pointer, LiveSecret>> {
    const result: Record<Pointer, LiveSecret> = {};
    for (const { single, at, wire, pointers } of secretFields) {
      const value = entry[wire];
      if (value === undefined) continue;
      if (single && value !== '') result[at] = sealed(value);
      else if (isObject(value)) {
        for (const key of Object.keys(value)) {
          let path = pointers.get(key);
          if (path === undefined) pointers.set(key, (path = `${at}${pointer(key)}`));
          result[path] = sealed(value[key]);
        }
      }
    }
    return result;
  }

  /** What the caller may not see: secrets without a value, and secret fields that the gateway does not mention. */
  function unknown(entry: JsonObject, seen: LiveResource['secrets']): readonly Pointer[] {
    let found: Pointer[] | undefined;
    for (const path in seen) if (seen[path] === hidden) (found ??= []).push(path);
    for (const { at, wire } of secretFields) if (entry[wire] === undefined) (found ??= []).push(at);
    return found ?? nothing;
  }

  /** Secret fields that the list leaves out, but a read of the one object shows. */
  function leftOut(entry: JsonObject): readonly Pointer[] {
    return secretFields.filter(({ wire }) => entry[wire] === undefined).map(({ at }) => at);
  }

  return {
    uidOf: wireKind.uidOf,
    idOf(entry) {
      const name = kind.named ? entry['name'] : kind.identity('', entry);
      return typeof name !== 'string' || name === '' ? undefined : resourceId(kind.name, name);
    },
    read(sent, { uid, id }, view) {
      const entry = wireKind.stripUntrusted?.(sent, view) ?? sent;
      const raw: EntryCarrier = () => entry;
      const seen = secrets(entry);
      const missing = view.bulk && view.seesSecrets && wireKind.stripUntrusted !== undefined ? leftOut(entry) : nothing;
      const version = wireKind.secretsVersion?.(entry, view);
      const managedBy = entry['managed_by'];
      const created = entry['created_at'];
      const live: { -readonly [name in keyof LiveResource]: LiveResource[name] } = {
        id,
        uid,
        spec: spec(entry),
        secrets: seen,
        edges: edges(entry),
        raw,
        unknown: unknown(entry, seen),
      };
      if (missing.length > 0) live.leftOut = missing;
      if (version !== undefined) live.secretsVersion = version;
      if (typeof managedBy === 'string' && managedBy !== '') live.managedBy = managedBy;
      if (typeof created === 'string' && created === entry['updated_at']) live.untouched = true;
      return live;
    },
  };
}

/** The entry that a live resource was read from; empty where it came from elsewhere. */
export function entryOf(live: LiveResource): JsonObject {
  return isCarrier(live.raw) ? live.raw() : {};
}

function isCarrier(raw: unknown): raw is EntryCarrier {
  return typeof raw === 'function';
}
