import type { FieldRule, Kind } from '../model/kind.ts';
import { isObject, type Json, type JsonObject, distinctSorted } from '../model/json.ts';
import type { LiveResource } from '../model/live.ts';
import { normalizeValue } from '../model/spec/normalize.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import { resourceId, type ResourceId } from '../model/resource.ts';
import { seal, type LiveSecret } from '../model/secret.ts';
import type { ReadMode, WireKind } from './dialect.ts';
import type { IdIndex } from './id-index.ts';
import { withTools } from '../model/spec/tool-lists.ts';
import { withoutImplied } from './implied-element.ts';

/** Reads the wire entries of one kind. */
export type EntryReader = {
  /** Returns the gateway's id of the entry; undefined where the entry has none. */
  readonly uidOf: (entry: JsonObject) => string | undefined;
  /** Returns `Kind/name` of the entry; undefined where the entry has no name. */
  readonly idOf: (entry: JsonObject) => ResourceId | undefined;
  readonly read: (entry: JsonObject, identity: EntryIdentity, mode: ReadMode) => LiveResource;
};

type EntryIdentity = { readonly uid: string; readonly id: ResourceId };

/** Holds what a live resource carries for the next write; a function, so that no printer reaches the secrets inside. */
type EntryCarrier = () => JsonObject;

/** A field whose value is compared: neither an edge field nor a secret. */
type SpecField = {
  readonly rule: FieldRule;
  readonly name: string;
  readonly wire: string;
  /** The wire value needs no normalization. */
  readonly verbatim: boolean;
  /** The gateway's value → ours, where they differ. */
  readonly valueNames: ReadonlyMap<Json, string> | undefined;
};

type EdgeField = { readonly name: string; readonly wire: string; readonly refers: string; readonly byName: boolean };

type SecretField = {
  /** One secret, as opposed to a map of secrets. */
  readonly single: boolean;
  readonly at: Pointer;
  readonly wire: string;
  /** By key of the map: its pointer, made once per kind. */
  readonly pointers: Map<string, Pointer>;
};

const noEnds: readonly ResourceId[] = [];
const noPointers: readonly Pointer[] = [];
const hidden: LiveSecret = { state: 'hidden', source: 'live' };

/** Returns a reader for a kind. Fields are classified once per kind, not once per object: this is a hot path. */
export function entryReader(kind: Kind, wireKind: WireKind, idIndex: IdIndex): EntryReader {
  const rules = kind.fields.filter((rule) => rule.manifestOnly !== true);
  const specFields = rules
    .filter(({ edge, secret }) => edge === undefined && secret === undefined)
    .map((rule) => specField(rule, wireKind));
  const specContext = { empty: Object.fromEntries(specFields.map(({ name, rule }) => [name, rule.empty])), idIndex };
  const edgeFields = rules.filter(({ edge }) => edge !== undefined).map((rule) => edgeField(rule, wireKind));
  const secretFields = rules.filter(({ secret }) => secret !== undefined).map((rule) => secretField(rule, wireKind));
  const decodeSecret = wireKind.secretSpelling?.fromWire;
  const texts = new Map<string, string>();

  return {
    uidOf: wireKind.uidOf,
    idOf(entry) {
      const name = kind.named ? entry['name'] : kind.identity('', entry);
      return typeof name !== 'string' || name === '' ? undefined : resourceId(kind.name, name);
    },
    read(sent, { uid, id }, mode) {
      const entry = withSharedTexts(wireKind.stripUntrusted?.(sent, mode) ?? sent, edgeFields, texts);
      const leftOut = mode.bulk && mode.seesSecrets && wireKind.listsOmitSecrets === true ? absentSecrets(entry, secretFields) : noPointers;
      // Such an object is read alone before a write, and the entries of fifty thousand take a hundred megabytes.
      const raw: EntryCarrier | undefined = leftOut.length > 0 ? undefined : () => entry;
      const secrets = readSecrets(entry, secretFields, decodeSecret);
      const unknown = hiddenPointers(entry, secrets, secretFields);
      const live: { -readonly [name in keyof LiveResource]: LiveResource[name] } = {
        id,
        uid,
        spec: withTools(readSpec(entry, specFields, specContext), secrets, unknown),
        secrets,
        edges: readEdges(entry, edgeFields, idIndex),
        raw,
        unknown,
      };
      const secretsVersion = wireKind.secretsVersion?.(entry, mode);
      const version = wireKind.version?.(entry);
      const links = wireKind.linksOf?.(entry) ?? [];
      const managedBy = entry['managed_by'];
      const created = entry['created_at'];
      if (leftOut.length > 0) live.leftOut = leftOut;
      if (secretsVersion !== undefined) live.secretsVersion = secretsVersion;
      if (version !== undefined) live.version = version;
      if (links.length > 0) live.links = links;
      if (wireKind.isLabel?.(entry) === true) live.isLabel = true;
      if (typeof managedBy === 'string' && managedBy !== '') live.managedBy = managedBy;
      if (typeof created === 'string' && created === entry['updated_at']) live.untouched = true;
      return live;
    },
  };
}

/** Returns an entry whose lists of edges share equal texts: thousands of connections list the same rules, and the entry is kept. */
function withSharedTexts(entry: JsonObject, fields: readonly EdgeField[], texts: Map<string, string>): JsonObject {
  const share = (end: Json): Json => {
    if (typeof end !== 'string') return end;
    const known = texts.get(end);
    if (known === undefined) texts.set(end, end);
    return known ?? end;
  };
  const shared: Record<string, Json> = {};
  for (const { wire } of fields) {
    const ends = entry[wire];
    if (Array.isArray(ends) && ends.length > 0) shared[wire] = ends.map(share);
  }
  return Object.keys(shared).length === 0 ? entry : { ...entry, ...shared };
}

/** Returns the entry that a live resource was read from; an empty object where it came from elsewhere. */
export function wireEntryOf(live: LiveResource): JsonObject {
  return isCarrier(live.raw) ? live.raw() : {};
}

function isCarrier(raw: unknown): raw is EntryCarrier {
  return typeof raw === 'function';
}

function specField(rule: FieldRule, { fieldNames, valueNames }: WireKind): SpecField {
  const values = valueNames?.[rule.name];
  return {
    rule,
    name: rule.name,
    wire: fieldNames[rule.name] ?? rule.name,
    verbatim: rule.refers === undefined && (rule.shape === 'scalar' || rule.shape === 'list' || rule.shape === 'map'),
    valueNames: values === undefined ? undefined : new Map(Object.entries(values).map(([ours, theirs]) => [theirs, ours])),
  };
}

function edgeField({ name, refers = '', byName = false }: FieldRule, { fieldNames }: WireKind): EdgeField {
  return { name, wire: fieldNames[name] ?? name, refers, byName };
}

function secretField({ name, secret }: FieldRule, { fieldNames }: WireKind): SecretField {
  return { single: secret === 'plain', at: pointer(name), wire: fieldNames[name] ?? name, pointers: new Map<string, Pointer>() };
}

type SpecContext = { readonly empty: JsonObject; readonly idIndex: IdIndex };

/** Reads all fields into a copy of their empty values: an object that has its fields already needs half the memory and time. */
function readSpec(entry: JsonObject, fields: readonly SpecField[], { empty, idIndex }: SpecContext): JsonObject {
  const spec: Record<string, Json> = { ...empty };
  for (const { rule, name, wire, verbatim, valueNames } of fields) {
    const value = entry[wire];
    if (value === undefined || value === null) continue;
    if (verbatim) spec[name] = valueNames?.get(value) ?? value;
    else if (rule.refers !== undefined && typeof value === 'string') spec[name] = idIndex.textOf(rule.refers, value);
    else spec[name] = normalizeValue(rule, rule.implied === undefined ? value : withoutImplied(rule.implied, value));
  }
  return spec;
}

function readEdges(entry: JsonObject, fields: readonly EdgeField[], idIndex: IdIndex): Readonly<Record<string, readonly ResourceId[]>> {
  const edges: Record<string, readonly ResourceId[]> = {};
  for (const { name, wire, refers, byName } of fields) {
    const ends = entry[wire];
    const idOf = byName ? (end: string) => resourceId(refers, end) : (end: string) => idIndex.idOf(refers, end);
    edges[name] = Array.isArray(ends) && ends.length > 0 ? edgeEnds(ends, idOf) : noEnds;
  }
  return edges;
}

function edgeEnds(ends: readonly Json[], idOf: (end: string) => ResourceId): readonly ResourceId[] {
  const ids = ends.map((end: Json) => idOf(typeof end === 'string' ? end : JSON.stringify(end)));
  return ids.length < 2 ? ids : distinctSorted(ids);
}

type DecodeSecret = ((value: string) => string) | undefined;

function readSecrets(entry: JsonObject, fields: readonly SecretField[], decode: DecodeSecret): Readonly<Record<Pointer, LiveSecret>> {
  const secrets: Record<Pointer, LiveSecret> = {};
  for (const { single, at, wire, pointers } of fields) {
    const value = entry[wire];
    if (value === undefined) continue;
    if (single && value !== '') secrets[at] = liveSecret(value, decode);
    else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        let path = pointers.get(key);
        if (path === undefined) pointers.set(key, (path = `${at}${pointer(key)}`));
        secrets[path] = liveSecret(value[key], decode);
      }
    }
  }
  return secrets;
}

function liveSecret(value: Json | undefined, decode: DecodeSecret): LiveSecret {
  return typeof value === 'string' ? seal('live', decode?.(value) ?? value) : hidden;
}

/** Lists what the caller may not see: secrets without a value, and secret fields that the gateway does not mention. */
function hiddenPointers(entry: JsonObject, secrets: LiveResource['secrets'], fields: readonly SecretField[]): readonly Pointer[] {
  let found: Pointer[] | undefined;
  for (const path in secrets) if (secrets[path] === hidden) (found ??= []).push(path);
  for (const { at, wire } of fields) if (entry[wire] === undefined) (found ??= []).push(at);
  return found ?? noPointers;
}

/** Lists the secret fields that a bulk read leaves out, but a read of the one object shows. */
function absentSecrets(entry: JsonObject, fields: readonly SecretField[]): readonly Pointer[] {
  return fields.filter(({ wire }) => entry[wire] === undefined).map(({ at }) => at);
}
