import type { Diagnostic, Position } from '../diagnostic.ts';
import type { Plan, Origin, Value } from '../plan/plan.ts';
import type { Protection, ConnectionRule } from '../protection/protection.ts';
import type { WrittenManifest } from './outcome.ts';
import type { ResourceId } from '../resource.ts';
import type { Pointer } from '../pointer.ts';
import type { PolicyResult } from '../protection/policy.ts';

/** One write to an object from the audit log of the gateway. */
export type AuditedWrite = {
  /** RFC 3339. */
  readonly at: string;
  /** The user; empty when unknown. */
  readonly by: string;
  /** Whether the caller itself wrote it, such as an apply. */
  readonly own: boolean;
  /** The address of the client. */
  readonly from: string;
  readonly method: string;
  readonly path: string;
  /** The kind of the object; empty when it is not one of our kinds. */
  readonly kind: string;
  /** The id and name of the object, as far as the log contains them. */
  readonly names: readonly string[];
};

/** The last apply was of a commit that the reviewed branch does not contain; `reason` is that of its override. */
export type UnmergedApply = { readonly commit: string; readonly branch: string; readonly reason?: string };

/** The changes on a gateway outside Ostiary since the last apply. */
export type Drift = {
  /** The plan that would revert the drift, including held changes. */
  readonly plan: Plan;
  /** The number of pending changes in the manifests; they are not drift. */
  readonly pending: number;
  /** The number of objects that an interrupted apply created and did not open; they are not drift. */
  readonly unfinished: number;
  /** The change of protection from the manifests to the live state. */
  readonly protection: Protection;
  /** The last writes to each changed object, newest first; absent without a readable audit log. */
  readonly writes?: ReadonlyMap<ResourceId, readonly AuditedWrite[]> | undefined;
  readonly adoption?: Adoption;
  readonly unmerged?: UnmergedApply | undefined;
  /** Why the record that the drift follows from is not proven, or is missing although the target was applied. */
  readonly unproven?: string | undefined;
};

/** A commit on a branch of its own. */
type Branch = {
  readonly name: string;
  readonly commit: string;
  /** Whether the branch already was at that commit. */
  readonly unchanged: boolean;
  /** Whether the branch was pushed to origin. */
  readonly pushed: boolean;
};

/** The result of adopting a drift into the manifests. */
export type Adoption = {
  /** The adopted part of the drift; absent when there is none. */
  readonly accepted?: Drift | undefined;
  /** The edited files, as paths for the user. */
  readonly files: readonly string[];
  /** New manifests for live objects. */
  readonly created?: readonly WrittenManifest[];
  /** Drift that manifests cannot express, or not unambiguously. */
  readonly left: readonly Diagnostic[];
  /** The branch for edits of this target. */
  readonly home?: string;
  /** The branch with the edits; absent when the working files were edited, or nothing was. */
  readonly branch?: Branch;
};

type ExplanationStatus =
  | 'same'
  | 'differs'
  | 'kept'
  | 'ignored'
  | 'derived'
  | 'not compared'
  | 'not written'
  | 'secret'
  | 'foreign'
  | 'held'
  | 'blocked';

/** Which side changed, and what apply does with it; `pending`: merged and not applied yet. */
export type ExplainedOrigin = Origin | 'pending' | 'adoption' | 'held';

/** One differing element, key or entry of a field. */
export type ExplainedPart = {
  readonly path: Pointer;
  readonly before: Value;
  readonly after: Value;
  readonly origin?: ExplainedOrigin;
  readonly at?: Position;
  readonly why: string;
};

/** The reason why one field is or is not a change; never the value of a secret. */
export type ExplanationRow = {
  readonly path: Pointer;
  readonly desired?: Value;
  readonly live?: Value;
  /** The value that was last applied. */
  readonly base?: Value;
  readonly status: ExplanationStatus;
  readonly origin?: ExplainedOrigin;
  readonly at?: Position;
  readonly why: string;
  /** The differing parts, if not the whole field differs. */
  readonly parts?: readonly ExplainedPart[];
};

/** A rule on the explained connection, and what it does there; an empty list if it protects nothing. */
export type ExplainedRule = ConnectionRule & { readonly verbs: readonly string[] };

/** The explanation of one resource, field by field. */
export type Explanation = {
  readonly id: ResourceId;
  readonly at?: Position;
  /** The last completely applied commit, if known. */
  readonly base?: string;
  readonly summary: string;
  readonly rows: readonly ExplanationRow[];
  /** The rules on the connection before and after the plan; absent when there are none. */
  readonly rules?: readonly ExplainedRule[];
  /** The results of the policies; absent when none applies. */
  readonly policies?: readonly PolicyResult[];
};
