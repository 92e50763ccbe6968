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
 * Which way a value protects more: `entries` more of them, `fewer` less of them, `lower` / `higher` numbers
 * (null is the weakest), `most` a higher number (null is all there are), `threshold` a lower number (null is the
 * gateway's own, which nobody can compare), `enabled` / `disabled` the word or the boolean.
 */
export type Protects = 'entries' | 'fewer' | 'lower' | 'higher' | 'most' | 'threshold' | 'enabled' | 'disabled';

/** One field of a kind as its schema describes it; the schema is the only place where a rule is written. */
export type FieldRule = Shape & {
  readonly name: string;
  readonly required: boolean;
  /** The value that an omitted or null field has. */
  readonly empty: Json;
  /** What omitting means: the empty value, what is live, or what the kind derives (else what is live). */
  readonly omitted: 'empty' | 'kept' | 'derived';
  readonly protects?: Protects;
  /** The field that says how many of the entries are enough, where it is a number. */
  readonly enough?: string;
  /** The kind that the value refers to by name or id. */
  readonly refers?: string;
  /** The field lists edges, seen from this side; never compared as a field. */
  readonly edge?: 'rule' | 'connection';
  /** The field is a secret: a map of base64 values or references, or a single plain text. */
  readonly secret?: 'base64' | 'plain';
  /** The value that closes access, for creating an object before its protection can be attached. */
  readonly closed?: Json;
  /** The field exists in manifests only and never travels. */
  readonly manifestOnly?: boolean;
  /** The one dialect that has the field. */
  readonly dialect?: string;
  /** A dialect whose gateways may have it, too: those that say so. */
  readonly borrowed?: string;
  /** The gateway attaches the value after it has saved the object: what it protects is open in between. */
  readonly late?: boolean;
};
