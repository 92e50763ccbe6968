import type { Plan } from './plan.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** Where the value of one secret comes from; never the value. */
export type SecretProvenance = { readonly id: ResourceId; readonly path: Pointer; readonly source: string };

/** What a live object was when it was planned, told without its values. */
export type Fingerprint = {
  /** What the gateway knows the object by, or will. */
  readonly id: ResourceId;
  /** The gateway's own id. */
  readonly uid: string;
  /** A hash for every field that was compared. */
  readonly fields: Readonly<Record<string, string>>;
  /** What was not compared: what is ignored or kept, and what the planning role cannot see. */
  readonly without: readonly Pointer[];
};

/** A plan as a file keeps it, with all that must still be so when it is carried out. */
export type SavedPlan = {
  readonly plan: Plan;
  /** The version of the program that planned. */
  readonly tool: string;
  /** Whether all manifests were planned, and not a selection of them. */
  readonly whole: boolean;
  /** The first commits of the repository; empty where they are not known. */
  readonly repository: readonly string[];
  /** The objects that the plan writes, as they were. */
  readonly live: readonly Fingerprint[];
  /** Where the secrets of all planned manifests come from. */
  readonly sources: readonly SecretProvenance[];
};
