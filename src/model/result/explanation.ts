import type { Position } from '../diagnostic.ts';
import type { Origin, Value } from '../plan/plan.ts';
import type { Pointer } from '../pointer.ts';
import type { PolicyResult } from '../protection/policy.ts';
import type { ConnectionRule } from '../protection/protection.ts';
import type { ResourceId } from '../resource.ts';

export type ExplanationStatus = 'same' | 'differs' | 'kept' | 'ignored' | 'derived' | 'unknown' | 'secret' | 'foreign' | 'held' | 'blocked';

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

/** The owner of an edge; edges of foreign rules, orphans and managers are never removed. */
export type EdgeOwner = 'manifests' | 'foreign' | 'orphan' | 'manager';

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
  readonly owner?: EdgeOwner;
  /** The positions that declare an edge: `file:line:column`. */
  readonly declared?: readonly string[];
};

/** The explanation of one resource, field by field. */
export type Explanation = {
  readonly id: ResourceId;
  readonly at?: Position;
  /** The last completely applied commit, if known. */
  readonly base?: string;
  readonly summary: string;
  readonly rows: readonly ExplanationRow[];
  /** The rules on the connection before and after the plan; absent when there are none. */
  readonly rules?: readonly ConnectionRule[];
  /** The results of the policies; absent when none applies. */
  readonly policies?: readonly PolicyResult[];
};
