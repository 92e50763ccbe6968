import type { Json } from './json.ts';

/** How a field's value is compared and written. */
export type Shape =
  | { readonly shape: 'scalar' }
  | { readonly shape: 'list' }
  | { readonly shape: 'set' }
  | { readonly shape: 'map' }
  | { readonly shape: 'object'; readonly fields: readonly FieldRule[] }
  | { readonly shape: 'keyed'; readonly key: string; readonly fields: readonly FieldRule[] };

/**
 * Which values protect more (`x-ostiary-protects`): `entries` more entries, `fewer` fewer entries, `lower` / `higher`
 * numbers (null is the weakest), `most` a higher number (null means all), `threshold` a lower number (null is the
 * gateway's own value, which cannot be compared), `enabled` / `disabled` the word or the boolean.
 */
export type Protects = 'entries' | 'fewer' | 'lower' | 'higher' | 'most' | 'threshold' | 'enabled' | 'disabled';

/** One field of a kind, derived from its schema; the schema is the only source of a field's rules. */
export type FieldRule = Shape & {
  readonly name: string;
  readonly required: boolean;
  /** The value of an omitted or null field. */
  readonly empty: Json;
  /** The value of an omitted field: the empty value, the live value, or the value that the kind derives (else the live value). */
  readonly omitted: 'empty' | 'kept' | 'derived';
  readonly protects?: Protects;
  /** The field with the required number of entries, such as `min_review_approvals`; it counts when it is a number. */
  readonly enough?: string;
  /** The kind of resource that the value refers to by name or id. */
  readonly refers?: string;
  /** The field lists edges from this end; it is never compared as a field. */
  readonly edge?: 'rule' | 'connection';
  /** The field is a secret: a map of base64 values or references, or a single plain text. */
  readonly secret?: 'base64' | 'plain';
  /** The value that closes access; an object is created with it when its protection can only be attached later. */
  readonly closed?: Json;
  /** The field exists only in manifests and is never sent. */
  readonly manifestOnly?: boolean;
  /** The only dialect that has the field. */
  readonly dialect?: string;
  /** Another dialect whose gateways have the field when they report it. */
  readonly borrowed?: string;
  /** The gateway attaches the value after it has saved the object, so the object is unprotected in between. */
  readonly late?: boolean;
};
