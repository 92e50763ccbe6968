import type { Position } from './diagnostic.ts';
import type { Value } from './plan.ts';
import type { Pointer } from './pointer.ts';
import type { ResourceId } from './resource.ts';

export type ExplanationStatus = 'same' | 'differs' | 'kept' | 'ignored' | 'derived' | 'unknown' | 'secret' | 'foreign';

/** Why one field is, or is not, a change; never a secret's value. */
export type ExplanationRow = {
  readonly path: Pointer;
  readonly desired?: Value;
  readonly live?: Value;
  readonly base?: Value;
  readonly status: ExplanationStatus;
  readonly at?: Position;
  readonly why: string;
};

/** One resource, field by field. */
export type Explanation = {
  readonly id: ResourceId;
  readonly at?: Position;
  readonly summary: string;
  readonly rows: readonly ExplanationRow[];
};
