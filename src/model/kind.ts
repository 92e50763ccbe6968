import type { DesiredResource } from './desired.ts';
import type { Finding } from './diagnostic.ts';
import type { FieldRule } from './field.ts';
import type { JsonObject } from './json.ts';
import type { Pointer } from './pointer.ts';
import type { Spec } from './resource.ts';

/** The secrets of a manifest by path; those of a map that is given whole and has no such key are absent for sure. */
export type DesiredSecrets = Pick<DesiredResource, 'secrets' | 'wholeSecrets'>;

/** Everything that the rest of the house knows of a kind; one file in `kinds/` makes one. */
export type Kind = {
  readonly name: string;
  /** The annotated JSON Schema of the manifest: where every field's rule lives. */
  readonly schema: JsonObject;
  readonly fields: readonly FieldRule[];
  /** The name under which the gateway knows the resource, from the manifest's name and spec. */
  readonly identity: (name: string, spec: JsonObject) => string;
  /** Whether the gateway stores the manifest's name as the field `name`. */
  readonly named: boolean;
  /** Whether the gateway lets the name change. */
  readonly renamable: boolean;
  /** The values of omitted `derived` fields, as far as the gateway fills them in; some rest on a secret's value. */
  readonly derived: (spec: Spec, secrets?: DesiredSecrets) => JsonObject;
  /** What it may have filled in instead, where the secret that decides is not stated. */
  readonly derivedOtherwise?: (spec: Spec, secrets: DesiredSecrets) => JsonObject;
  /** Secrets that a gateway adds to a map that lacks them. */
  readonly derivedSecrets?: (spec: Spec, secrets: DesiredSecrets) => Readonly<Record<Pointer, string>>;
  /** Values that an omitted field takes on create only. */
  readonly createDefaults: (name: string) => JsonObject;
  /** Rules across fields of a manifest's spec. */
  readonly check: (spec: JsonObject) => readonly Finding[];
};

/** All kinds by name, in a fixed order. */
export type Registry = ReadonlyMap<string, Kind>;
