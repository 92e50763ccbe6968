import type { AppError } from '../model/errors.ts';
import type { Gateway } from '../model/gateway.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { JournalEntry } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Secret } from '../model/secret.ts';
import type { StepResult } from './outcomes.ts';
import type { Written } from './verify.ts';

/** All that carrying out a plan needs. */
export type ApplyInput = {
  readonly plan: Plan;
  /** What is live when apply begins. */
  readonly live: LiveState;
  readonly gateway: Gateway;
  readonly registry: Registry;
  /** The value of a secret that the plan names by its source. */
  readonly secretOf: (id: ResourceId, path: Pointer) => Secret | undefined;
  readonly concurrency: number;
  /** Aborted: what is in flight ends, nothing new begins. */
  readonly signal: AbortSignal;
  readonly observe: (event: Omit<JournalEntry, 'at'>) => void;
};

/** The run's memory: results by step, and where each object is. */
export type Progress = {
  readonly input: ApplyInput;
  readonly results: Map<string, StepResult>;
  readonly known: Map<ResourceId, Pick<LiveResource, 'id' | 'uid'>>;
  readonly written: Written[];
  stopped: AppError | undefined;
};
