import type { Plan } from '../model/plan/plan.ts';
import type { Gateway } from '../model/gateway.ts';
import type { SecretLookup, WrittenStep } from './request.ts';
import type { AppError } from '../model/errors.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { ApplyEvent } from '../model/result/outcome.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Step } from '../model/plan/schedule.ts';
import type { PlannedObject } from './fingerprint.ts';
import type { StepResult } from './outcomes.ts';

/** All that carrying out a plan needs. */
export type ApplyInput = {
  readonly plan: Plan;
  /** The writes of the plan, in their order. */
  readonly steps: readonly Step[];
  /** What is live when apply begins. */
  readonly live: LiveState;
  readonly gateway: Gateway;
  readonly registry: Registry;
  readonly secretOf: SecretLookup;
  readonly concurrency: number;
  /** Aborted: what is in flight ends, nothing new begins. */
  readonly signal: AbortSignal;
  readonly observe: (event: ApplyEvent) => void;
  /** What the changed objects were when they were planned, by the keys of the changes, where that was some time ago. */
  readonly seen?: ReadonlyMap<ResourceId, PlannedObject>;
};

/** The run's memory: results by step, and where each object is. */
export type ApplyState = {
  readonly input: ApplyInput;
  readonly results: Map<string, { readonly change: ResourceId; readonly result: StepResult }>;
  readonly known: Map<ResourceId, Pick<LiveResource, 'id' | 'uid'>>;
  /** What the stage wrote so far. */
  readonly written: WrittenStep[];
  /** Why nothing more is begun: the gateway is out of reach. */
  stopped: AppError | undefined;
};

/** The kinds to list for reading objects again: their own, and those that tell what the ids of their edges are called. */
export function kindsToRead(kinds: readonly Kind[]): readonly string[] {
  const names = kinds.flatMap((kind) => [
    kind.name,
    ...kind.fields.flatMap((field) => (field.edge === undefined || field.refers === undefined ? [] : [field.refers])),
  ]);
  return [...new Set(names)].toSorted();
}
