import type { Plan } from './plan.ts';
import type { Protection } from './protection.ts';
import type { ResourceId } from './resource.ts';

/** One write to an object, as the gateway's audit log tells it. */
export type Write = {
  /** RFC 3339. */
  readonly at: string;
  /** Who; empty where the gateway does not know. */
  readonly by: string;
  /** Whether it was the caller itself, such as an apply. */
  readonly own: boolean;
  /** The address that it came from. */
  readonly from: string;
  readonly method: string;
  readonly path: string;
  /** The kind of what was written; empty where it is none of ours. */
  readonly kind: string;
  /** The gateway's id or the name of what was written, as far as the log tells them. */
  readonly names: readonly string[];
};

/** What somebody changed on a gateway since the manifests were last applied there. */
export type Drift = {
  /** What would undo it: of the plan only what the gateway moved, and what it holds. */
  readonly plan: Plan;
  /** Changes of the manifests that are not applied yet; they are no drift. */
  readonly pending: number;
  /** Objects that an interrupted apply has created and not opened yet; they are no drift. */
  readonly unfinished: number;
  /** What it means for connections, seen from the manifests to what is live. */
  readonly protection: Protection;
  /** The last writes to each object that differs, the newest first; absent where the gateway keeps no log, or does not show it. */
  readonly writes?: ReadonlyMap<ResourceId, readonly Write[]>;
};
