import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import type { Action, Plan } from '../../model/plan/plan.ts';

/** A plan and what became of it. */
export type AppliedPlan = {
  readonly plan: Pick<Plan, 'target' | 'tree' | 'digest'> & Partial<Pick<Plan, 'allowed'>>;
  readonly result: ApplyResult;
};

const participles = [
  'created',
  'updated',
  'renamed',
  'deleted',
  'unchanged',
  'failed',
  'skipped',
  'blocked',
  'held',
  'interrupted',
] as const;
export type OutcomeWord = (typeof participles)[number];

const done: Readonly<Record<Action, OutcomeWord>> = {
  create: 'created',
  update: 'updated',
  rename: 'renamed',
  delete: 'deleted',
  blocked: 'blocked',
  held: 'held',
};

/** What became of a change, in one word. */
export function outcomeWord({ status, action }: Outcome): OutcomeWord {
  if (status === 'done') return done[action];
  return status === 'already' ? 'unchanged' : status;
}

/** How many outcomes there are of each sort. */
export function outcomeCounts(outcomes: readonly Outcome[]): Readonly<Record<OutcomeWord, number>> {
  const counts = {
    created: 0,
    updated: 0,
    renamed: 0,
    deleted: 0,
    unchanged: 0,
    failed: 0,
    skipped: 0,
    blocked: 0,
    held: 0,
    interrupted: 0,
  };
  for (const outcome of outcomes) counts[outcomeWord(outcome)] += 1;
  return counts;
}

/** Tells whether something of the change is left to do. */
export function isUnfinished({ status }: Outcome): boolean {
  return status === 'failed' || status === 'skipped' || status === 'interrupted';
}

/** `Applied: 3 created, 1 updated.`, or `Not finished: 3 created, 1 failed, 2 skipped.` */
export function appliedText({ outcomes, interrupted }: ApplyResult): string {
  const counts = outcomeCounts(outcomes);
  const counted = participles.flatMap((word) => (counts[word] > 0 ? [`${counts[word]} ${word}`] : []));
  const rest = interrupted ? ' Interrupted: plan and apply again to finish.' : '';
  const verdict = outcomes.some(isUnfinished) ? 'Not finished' : 'Applied';
  return `${verdict}: ${counted.length === 0 ? 'nothing to do' : counted.join(', ')}.${rest}`;
}
