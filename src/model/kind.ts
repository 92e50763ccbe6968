import { memoizeByObject } from './collections.ts';
import type { DesiredResource } from './desired.ts';
import type { DocumentDiagnostic } from './diagnostic.ts';
import { equal, type Json, type JsonObject } from './json.ts';
import { pointer, type Pointer } from './pointer.ts';
import { kindOf, type ResourceId, type Spec } from './resource.ts';

/** How a field's value is compared and written. */
export type Shape =
  | { readonly shape: 'scalar' }
  | { readonly shape: 'list' }
  | { readonly shape: 'set' }
  | { readonly shape: 'map' }
  | { readonly shape: 'object'; readonly fields: readonly FieldRule[] }
  | { readonly shape: 'keyed'; readonly key: string; readonly fields: readonly FieldRule[] };

/**
 * How two values become one that is as strict as both (`x-ostiary-protects`), for the state between two writes: `entries` and `union` more entries (layers join `entries`, and replace a `union`),
 * `everybody` more entries, of which none is everybody, `fewer` fewer entries, `lower` / `higher`
 * numbers (null is the weakest), `most` a higher number (null means all), `threshold` a lower number (null is the
 * gateway's own value, which cannot be compared), `enabled` / `disabled` the word or the boolean, `tools` the lists of tools in a map,
 * `steps` the type of a rule that governs the steps of both.
 */
export type Protects =
  | 'entries'
  | 'union'
  | 'everybody'
  | 'fewer'
  | 'lower'
  | 'higher'
  | 'most'
  | 'threshold'
  | 'enabled'
  | 'disabled'
  | 'tools'
  | 'steps';

/** One field of a kind, derived from its schema; the schema is the only source of a field's rules. */
export type FieldRule = Shape & {
  readonly name: string;
  readonly required: boolean;
  /** The value of an omitted or null field. */
  readonly empty: Json;
  /** The value of an omitted field: the empty value, the live value, or the value that the kind derives (else the live value). */
  readonly omitted: 'empty' | 'kept' | 'derived';
  readonly protects?: Protects;
  /** The list of which this number says how many are needed, or this switch that all are (`x-ostiary-counts`). */
  readonly counts?: string;
  /** The kind of resource that the value refers to by name or id. */
  readonly refers?: string;
  /** The field lists edges from this end; it is never compared as a field. */
  readonly edge?: 'rule' | 'connection';
  /** The edges are names on the wire, of objects that need not exist yet. */
  readonly byName?: boolean;
  /** An empty list of edges includes everything, so that manifests always state it. */
  readonly open?: boolean;
  /** The field is a secret: a map of base64 values or references, or a single plain text. */
  readonly secret?: 'base64' | 'plain';
  /** The value that closes access; an object is created with it when its protection can only be attached later. */
  readonly closed?: Json;
  /** The field exists only in manifests and is never sent. */
  readonly manifestOnly?: boolean;
  /** The only dialect that has the field. */
  readonly dialect?: string;
  /** Another dialect whose gateways have the field when they report it; without `dialect`, no other gateways have it. */
  readonly borrowed?: string;
  /** The element that every list of the field contains, although manifests do not state it; null is a list of everything. */
  readonly implied?: string;
  /** An element may be a map with an end of its own; the element itself is under this key. */
  readonly timed?: string;
  /**
   * The gateway saves the value after the rest of the object, in a second transaction. Of two writes, the first one has the new value (`replaced`), or both
   * values (`joined`).
   */
  readonly late?: 'replaced' | 'joined';
};

/** The secrets of a manifest by path. A key that is missing from a completely stated map is certainly absent. */
export type DesiredSecrets = Pick<DesiredResource, 'secrets' | 'wholeSecrets'>;

/** Everything that the program knows about a kind; each file in `kinds/` defines one. */
export type Kind = {
  readonly name: string;
  /** The only dialect whose gateways have the kind. */
  readonly dialect?: string;
  /**
   * How several objects of the kind combine on one connection (`x-ostiary-combines`): what one grants no other takes away (`granted`), or one of them
   * decides (`governed`). Without it, each protects, and none grants.
   */
  readonly combines?: 'granted' | 'governed';
  /** The annotated JSON Schema of the manifest, the source of every field's rules. */
  readonly schema: JsonObject;
  readonly fields: readonly FieldRule[];
  /** Returns the name of the resource on the gateway, from the manifest's name and spec. */
  readonly identity: (name: string, spec: JsonObject) => string;
  /** Whether the gateway stores the manifest's name as the field `name`. */
  readonly named: boolean;
  /** Whether the gateway lets the name change. */
  readonly renamable: boolean;
  /** Returns the values that the gateway fills in for omitted `derived` fields; some depend on the value of a secret. */
  readonly derived: (spec: Spec, secrets?: DesiredSecrets) => JsonObject;
  /** Returns the other values that the gateway may have filled in when the deciding secret is not stated. */
  readonly derivedOtherwise?: (spec: Spec, secrets: DesiredSecrets) => JsonObject;
  /** Returns secrets that a gateway adds to a map without them. */
  readonly derivedSecrets?: (spec: Spec, secrets: DesiredSecrets) => Readonly<Record<Pointer, string>>;
  /** Returns values that omitted fields take on create only. */
  readonly createDefaults: (name: string) => JsonObject;
  /** Checks rules across the fields of a manifest's spec; `stated` is the spec as the manifest has it, with edges and selectors. */
  readonly check: (spec: JsonObject, stated?: JsonObject) => readonly DocumentDiagnostic[];
};

/** All kinds by name, in a fixed order. */
export type Registry = ReadonlyMap<string, Kind>;

/** Returns the fields that are compared one by one: no secrets, no edges, and no fields that only manifests have. */
export function comparedFields(kind: Kind): readonly FieldRule[] {
  return kind.fields.filter((field) => field.secret === undefined && field.edge === undefined && field.manifestOnly !== true);
}

/** A field that closes access to a kind, with the value that closes it. */
type ClosableField = { readonly path: Pointer; readonly value: Json; readonly empty: Json; readonly name: string };

/** Returns the fields that close access to a kind, with the value that closes it; made once, because each object is asked for them. */
export function closableFields({ fields }: Kind): readonly ClosableField[] {
  return closableAmong(fields);
}

/** Returns whether access to the objects of a kind can be closed. */
export function isClosable(kind: Kind | undefined): kind is Kind {
  return kind !== undefined && closableFields(kind).length > 0;
}

/** Returns whether a resource is of a kind that can be closed, as connections are. */
export function isConnection(id: ResourceId, registry: Registry): boolean {
  return isClosable(registry.get(kindOf(id)));
}

/** Returns whether an object has something that can be closed, and that is open. */
export function isOpen(kind: Kind, spec: JsonObject): boolean {
  return closableFields(kind).some(({ name, value }) => !equal(spec[name], value));
}

/** Returns whether an object can be closed and is closed. */
export function isClosed(kind: Kind | undefined, { spec }: { readonly spec: JsonObject }): boolean {
  return isClosable(kind) && !isOpen(kind, spec);
}

const closableAmong = memoizeByObject((fields: readonly FieldRule[]) =>
  fields.flatMap(({ name, closed, empty }): readonly ClosableField[] =>
    closed === undefined ? [] : [{ path: pointer(name), value: closed, empty, name }],
  ),
);
