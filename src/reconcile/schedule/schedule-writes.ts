import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import type { Diff, Plan } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Schedule, Step } from '../../model/plan/schedule.ts';
import { singleWritesOf } from './exposure-windows.ts';
import { scheduleSteps } from './schedule-steps.ts';

/** The input of a schedule besides the changes; `indivisible` has the reason why the gateway does not accept the joined form, by the id of the change. */
type ScheduleInput = {
  readonly live: LiveState;
  readonly registry: Registry;
  readonly indivisible: ReadonlyMap<ResourceId, string>;
};

/** Orders all writes of a plan; rules that the gateway accepts only as one write get the slots that expose the least. */
export function withExposureWindows(
  plan: Pick<Diff, 'changes' | 'edges'>,
  steps: readonly Step[],
  { live, registry, indivisible }: ScheduleInput,
): Schedule {
  const singleWrites = singleWritesOf(plan, indivisible, live, registry);
  return singleWrites.length === 0
    ? { steps, singleWrites }
    : { steps: rescheduleSteps({ ...plan, singleWrites }, live, registry), singleWrites };
}

/** Orders the writes of an earlier plan: single writes keep their slots. */
export function rescheduleSteps(
  plan: Pick<Diff, 'changes' | 'edges'> & Pick<Plan, 'singleWrites'>,
  live: LiveState,
  registry: Registry,
): readonly Step[] {
  return scheduleSteps(plan, live, registry, new Map(plan.singleWrites.map(({ id, slot }) => [id, slot])));
}
