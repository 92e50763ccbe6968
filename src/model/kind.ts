import type { DesiredResource } from './desired.ts';
import type { DocumentDiagnostic } from './diagnostic.ts';
import type { FieldRule } from './field.ts';
import type { JsonObject } from './json.ts';
import type { Pointer } from './pointer.ts';
import type { Spec } from './resource.ts';

/** The secrets of a manifest by path. A key that is missing from a completely stated map is certainly absent. */
export type DesiredSecrets = Pick<DesiredResource, 'secrets' | 'wholeSecrets'>;

/** Everything that the program knows about a kind; each file in `kinds/` defines one. */
export type Kind = {
  readonly name: string;
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
  /** Checks rules across the fields of a manifest's spec. */
  readonly check: (spec: JsonObject) => readonly DocumentDiagnostic[];
};

/** All kinds by name, in a fixed order. */
export type Registry = ReadonlyMap<string, Kind>;
