import type { Plan } from './plan.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** The source of one secret; never its value. */
export type SecretProvenance = { readonly id: ResourceId; readonly path: Pointer; readonly source: string };

/** The state of a live object at planning time, without its values. */
export type Fingerprint = {
  /** The identity on the gateway, after the plan. */
  readonly id: ResourceId;
  /** The gateway's own id. */
  readonly uid: string;
  /** A hash of every compared field. */
  readonly fields: Readonly<Record<string, string>>;
  /** Paths that were not compared: ignored or kept ones, and those that the token cannot read. */
  readonly without: readonly Pointer[];
};

/** A plan file with the conditions that must still hold when it is applied. */
export type SavedPlan = {
  readonly plan: Plan;
  /** The version of Ostiary that created the plan. */
  readonly tool: string;
  /** Whether the plan covers all manifests, not a selection. */
  readonly whole: boolean;
  /** The root commits of the repository; empty when they are unknown. */
  readonly repository: readonly string[];
  /** The state of the objects that the plan writes. */
  readonly live: readonly Fingerprint[];
  /** The sources of the secrets of all planned manifests. */
  readonly sources: readonly SecretProvenance[];
};
