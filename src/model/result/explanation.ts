import type { Position } from '../diagnostic.ts';
import type { Origin, Value } from '../plan/plan.ts';
import type { Pointer } from '../pointer.ts';
import type { PolicyResult } from '../protection/policy.ts';
import type { ConnectionRule } from '../protection/protection.ts';
import type { ResourceId } from '../resource.ts';

export type ExplanationStatus = 'same' | 'differs' | 'kept' | 'ignored' | 'derived' | 'unknown' | 'secret' | 'foreign' | 'held' | 'blocked';

/** Who moved, and what becomes of it: `pending` is what an earlier merge changed and nobody has applied. */
export type ExplainedOrigin = Origin | 'pending' | 'adoption' | 'held';

/** One element, key or entry of a field that differs. */
export type ExplainedPart = {
  readonly path: Pointer;
  readonly before: Value;
  readonly after: Value;
  readonly origin?: ExplainedOrigin;
  readonly at?: Position;
  readonly why: string;
};

/** Whose an edge is: a foreign, an orphan's or a manager's one is never removed. */
export type EdgeOwner = 'manifests' | 'foreign' | 'orphan' | 'manager';

/** Why one field is, or is not, a change; never a secret's value. */
export type ExplanationRow = {
  readonly path: Pointer;
  readonly desired?: Value;
  readonly live?: Value;
  /** What was last applied. */
  readonly base?: Value;
  readonly status: ExplanationStatus;
  readonly origin?: ExplainedOrigin;
  readonly at?: Position;
  readonly why: string;
  /** What differs, where it is not the field as a whole. */
  readonly parts?: readonly ExplainedPart[];
  readonly owner?: EdgeOwner;
  /** Where manifests declare an edge: `file:line:column`. */
  readonly declared?: readonly string[];
};

/** One resource, field by field. */
export type Explanation = {
  readonly id: ResourceId;
  readonly at?: Position;
  /** The commit that was last wholly applied, where one is known. */
  readonly base?: string;
  readonly summary: string;
  readonly rows: readonly ExplanationRow[];
  /** The rules on it, live and after the plan; absent where there are none. */
  readonly rules?: readonly ConnectionRule[];
  /** What policies say of it; absent where none is about it. */
  readonly policies?: readonly PolicyResult[];
};
