import type { Plan } from '../model/plan/plan.ts';
import type { Gateway } from '../model/gateway.ts';
import type { SecretLookup, WrittenStep } from './request.ts';
import type { AppError } from '../model/errors.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { ApplyEvent, WrittenSecrets } from '../model/result/outcome.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Step } from '../model/plan/schedule.ts';
import type { PlannedObject } from './fingerprint.ts';
import type { StepResult } from './outcomes.ts';

/** The input for executing a plan. */
export type ApplyInput = {
  readonly plan: Plan;
  /** The writes of the plan, in their order. */
  readonly steps: readonly Step[];
  /** The live state when apply starts. */
  readonly live: LiveState;
  readonly gateway: Gateway;
  readonly registry: Registry;
  readonly secretOf: SecretLookup;
  readonly concurrency: number;
  /** When aborted, steps in flight finish and no new step starts. */
  readonly signal: AbortSignal;
  readonly observe: (event: ApplyEvent) => void;
  /** For a saved plan: the changed objects as they were when it was made, by the keys of the changes. */
  readonly seen?: ReadonlyMap<ResourceId, PlannedObject>;
};

/** The mutable state of a run: results by step, and the address of each object. */
export type ApplyState = {
  readonly input: ApplyInput;
  readonly results: Map<string, { readonly change: ResourceId; readonly result: StepResult }>;
  readonly known: Map<ResourceId, Pick<LiveResource, 'id' | 'uid'>>;
  /** The version of the secrets of each object after the writes of this run, by the key of the change. */
  readonly secretVersions: Map<ResourceId, WrittenSecrets>;
  /** The objects that were written, by their ids, as the last read showed them; only those whose secrets lists leave out. */
  readonly reread: Map<ResourceId, LiveResource>;
  /** The steps of the stage that wrote. */
  readonly written: WrittenStep[];
  /** What deletions of the stage read in bulk, by the kinds. */
  readonly stageReads: Map<string, ReturnType<Gateway['readAll']>>;
  /** The error after which no step starts: the gateway cannot be reached. */
  stopped: AppError | undefined;
};

/** Returns the kinds to list when objects are read again: their own, and the kinds that resolve the ids of their edges to names. */
export function kindsToRead(kinds: readonly Kind[]): readonly string[] {
  const names = kinds.flatMap((kind) => [
    kind.name,
    ...kind.fields.flatMap((field) => (field.edge === undefined || field.refers === undefined ? [] : [field.refers])),
  ]);
  return [...new Set(names)].toSorted();
}
