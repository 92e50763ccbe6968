import type { JsonObject } from '../json.ts';
import type { Aspect, Attached, Way } from './protection.ts';
import type { ResourceId } from '../resource.ts';

/** What one connection has of one aspect, before and after, as short texts. */
export type PictureCell = {
  readonly aspect: Aspect;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Which way it goes; absent where it stays. */
  readonly way?: Way;
  /** There may be more than can be seen. */
  readonly atLeast?: true;
};

/** One connection with all that stands between it and people. */
export type PictureRow = {
  readonly connection: ResourceId;
  readonly tags: JsonObject;
  readonly comes?: true;
  readonly goes?: true;
  /** Which way it goes as a whole; absent where nothing about it changes. */
  readonly way?: Way;
  /** The rules on it afterwards; before, where it goes. Absent where there are none. */
  readonly rules?: readonly (Attached & { readonly rule: ResourceId })[];
  /** One for each aspect, in their order. */
  readonly cells: readonly PictureCell[];
};

/** All connections of a gateway × what protects them, sorted by name. */
export type Picture = readonly PictureRow[];
