import type { JsonObject } from '../json.ts';
import type { ControlType, RuleEffect, ProtectionVerdict } from './protection.ts';
import type { ResourceId } from '../resource.ts';

/** What one connection has of one aspect, before and after, as short texts. */
export type ProtectionMatrixCell = {
  readonly aspect: ControlType;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Which way it goes; absent where it stays. */
  readonly way?: ProtectionVerdict;
  /** There may be more than can be seen. */
  readonly atLeast?: true;
};

/** One connection with all that stands between it and people. */
export type ProtectionMatrixRow = {
  readonly connection: ResourceId;
  readonly tags: JsonObject;
  readonly comes?: true;
  readonly goes?: true;
  /** Which way it goes as a whole; absent where nothing about it changes. */
  readonly way?: ProtectionVerdict;
  /** The rules on it afterwards; before, where it goes. Absent where there are none. */
  readonly rules?: readonly (RuleEffect & { readonly rule: ResourceId })[];
  /** One for each aspect, in their order. */
  readonly cells: readonly ProtectionMatrixCell[];
};

/** All connections of a gateway × what protects them, sorted by name. */
export type ProtectionMatrix = readonly ProtectionMatrixRow[];
