import type { Outcome, OutcomeStatus } from '../model/outcome.ts';
import type { Change } from '../model/plan.ts';
import type { Step } from './steps.ts';

/** What became of one step. */
export type StepResult = Pick<Outcome, 'status' | 'code' | 'message' | 'hint'>;

const worst: readonly OutcomeStatus[] = ['failed', 'blocked', 'interrupted', 'skipped', 'done', 'already'];

/** Joins the results of a change's steps: the worst one tells. */
export function outcomeOf(change: Change, steps: readonly Step[], results: ReadonlyMap<string, StepResult>): Outcome {
  if (change.action === 'blocked') {
    return {
      id: change.id,
      action: change.action,
      status: 'blocked',
      code: 'plan/managed',
      message: `managed by ${change.managedBy ?? 'somebody else'}`,
    };
  }
  const mine = steps
    .filter((step) => step.change.id === change.id)
    .map((step) => results.get(step.key) ?? { status: 'interrupted' as const });
  const result = worst.flatMap((status) => mine.find((one) => one.status === status) ?? [])[0];
  return { id: change.id, action: change.action, ...(result ?? { status: 'already' }) };
}

/** Tells whether what needs the step may go on. */
export function isSuccess(result: StepResult | undefined): boolean {
  return result?.status === 'done' || result?.status === 'already';
}
