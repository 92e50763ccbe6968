import type { Outcome, OutcomeStatus } from '../model/outcome.ts';
import type { Change } from '../model/plan.ts';

/** What became of one step. */
export type StepResult = Pick<Outcome, 'status' | 'code' | 'message' | 'hint'>;

/** The worse a status, the lower its rank. */
const ranks: Readonly<Record<OutcomeStatus, number>> = { failed: 0, blocked: 1, interrupted: 2, skipped: 3, done: 4, already: 5 };

/** Joins the results of a change's steps: the worst one tells. A blocked change has none. */
export function outcomeOf({ id, action, managedBy }: Change, results: readonly StepResult[]): Outcome {
  if (action === 'blocked') {
    return { id, action, status: 'blocked', code: 'plan/managed', message: `managed by ${managedBy ?? 'somebody else'}` };
  }
  const worst = results.reduce((left, right) => (ranks[right.status] < ranks[left.status] ? right : left));
  return { id, action, ...worst };
}

/** Tells whether what needs the step may go on. */
export function isSuccess(result: StepResult | undefined): boolean {
  return result?.status === 'done' || result?.status === 'already';
}
