import type { Outcome, OutcomeStatus } from '../model/result/outcome.ts';
import type { Change } from '../model/plan/plan.ts';
import type { StepPart } from '../model/plan/schedule.ts';

/** The result of one step. */
export type StepResult = Pick<Outcome, 'status' | 'code' | 'message' | 'hint'>;

/** A step and its result. */
export type ExecutedStep = { readonly part: StepPart; readonly result: StepResult };

/** Ranks of statuses; the worst status has the lowest rank. */
const ranks: Readonly<Record<OutcomeStatus, number>> = { failed: 0, blocked: 1, held: 2, interrupted: 3, skipped: 4, done: 5, already: 6 };

/** Combines the results of a change's steps, in their order: the worst result decides. A blocked or held change has no steps. */
export function outcomeOf({ id, action, managedBy, error, fields }: Change, steps: readonly ExecutedStep[]): Outcome {
  if (error !== undefined) return { id, action, status: 'blocked', ...error };
  if (action === 'blocked') {
    return { id, action, status: 'blocked', code: 'plan/managed', message: `managed by ${managedBy ?? 'another manager'}` };
  }
  if (action === 'held') {
    const did = fields.some(({ incomparable }) => incomparable === true) ? 'changed' : 'tightened';
    return { id, action, status: 'held', code: 'plan/held', message: `drift held: ${did} outside Ostiary` };
  }
  const results = steps.map((step) => step.result);
  const worst = results.reduce((left, right) => (ranks[right.status] < ranks[left.status] ? right : left));
  const [first] = steps;
  if (first === undefined || !isSuccess(first.result) || isSuccess(worst)) return { id, action, ...worst };
  return { id, action, ...worst, begun: true, message: begunMessage(first, worst) };
}

/** Returns what an unfinished change has done, and why the rest is missing. */
function begunMessage(first: ExecutedStep, { status, message = status }: StepResult): string {
  if (first.part === 'close') {
    const missing = status === 'interrupted' ? 'not deleted: interrupted' : message;
    return `closed, not deleted: ${missing}`;
  }
  if (first.part !== 'closed') {
    if (status === 'interrupted') return 'first of two writes done, second not started: interrupted';
    return `first of two writes done, second ${status === 'failed' ? 'failed' : 'not started'}: ${message}`;
  }
  // An object that existed before may have been opened since.
  const closed = first.result.status === 'done' ? 'created, still closed' : 'already exists, may still be closed';
  if (status === 'interrupted') return `${closed}: interrupted before opening`;
  return status === 'failed' ? `created closed, opening failed: ${message}` : `${closed}: ${message}`;
}

/** Counts the outcomes by status. */
export function countsByStatus(outcomes: readonly Outcome[]): Readonly<Record<OutcomeStatus, number>> {
  const counts = { done: 0, already: 0, failed: 0, skipped: 0, blocked: 0, held: 0, interrupted: 0 };
  for (const { status } of outcomes) counts[status] += 1;
  return counts;
}

/** Returns whether steps that need this one may start. */
export function isSuccess(result: StepResult | undefined): boolean {
  return result?.status === 'done' || result?.status === 'already';
}
