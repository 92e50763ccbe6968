import type { Diagnostic } from '../diagnostic.ts';
import type { Plan } from '../plan/plan.ts';
import type { Protection } from '../protection/protection.ts';
import type { WrittenManifest } from './pull-result.ts';
import type { ResourceId } from '../resource.ts';

/** One write to an object, as the gateway's audit log tells it. */
export type AuditedWrite = {
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
  readonly writes?: ReadonlyMap<ResourceId, readonly AuditedWrite[]>;
  /** What became of it where it was to be accepted. */
  readonly adoption?: Adoption;
};

/** A commit on a branch of its own. */
export type Branch = {
  readonly name: string;
  readonly commit: string;
  /** Whether the branch was at that commit before. */
  readonly unchanged: boolean;
  /** Whether origin has it. */
  readonly pushed: boolean;
};

/** What became of the wish that manifests say what is live. */
export type Adoption = {
  /** The part of the drift that the edited manifests say; absent where that is none of it. */
  readonly accepted?: Drift;
  /** The files that were edited, as the user would name them. */
  readonly files: readonly string[];
  /** Manifests that were made of live objects that had none. */
  readonly created?: readonly WrittenManifest[];
  /** What the manifests cannot say, or not without doubt. */
  readonly left: readonly Diagnostic[];
  /** The branch on which edits for this target are made. */
  readonly home?: string;
  /** Where the edits are; absent where the files themselves were edited, or nothing was. */
  readonly branch?: Branch;
};
