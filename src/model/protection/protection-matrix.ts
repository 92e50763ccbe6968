import type { JsonObject } from '../json.ts';
import type { ControlType, RuleEffect, ProtectionVerdict } from './protection.ts';
import type { ResourceId } from '../resource.ts';

/** The controls of one type of one connection before and after, as short texts. */
export type ProtectionMatrixCell = {
  readonly aspect: ControlType;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The verdict; absent when unchanged. */
  readonly way?: ProtectionVerdict;
  /** There may be more controls than can be read. */
  readonly atLeast?: true;
};

/** One connection with all its controls. */
export type ProtectionMatrixRow = {
  readonly connection: ResourceId;
  readonly tags: JsonObject;
  readonly comes?: true;
  readonly goes?: true;
  /** The verdict as a whole; absent when nothing changes. */
  readonly way?: ProtectionVerdict;
  /** The rules after the plan, or before it for a deleted connection; absent when there are none. */
  readonly rules?: readonly (RuleEffect & { readonly rule: ResourceId })[];
  /** One cell per control type, in their order. */
  readonly cells: readonly ProtectionMatrixCell[];
};

/** All connections of a gateway and their controls, sorted by id. */
export type ProtectionMatrix = readonly ProtectionMatrixRow[];
