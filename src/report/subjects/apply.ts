import { definedFields, type JsonObject } from '../../model/json.ts';
import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import type { Action } from '../../model/plan/plan.ts';
import type { AppliedPlan, ReportBlock, ReportDocument } from '../document.ts';
import { targetObject } from './plan.ts';

/** Returns the document of applies. Pages also show the blocks of the plan that was applied. */
export function applyDocument(applied: readonly AppliedPlan[], planBlocks: () => readonly ReportBlock[] = () => []): ReportDocument {
  return {
    json: () => ({ version: 1, targets: applied.map(appliedObject) }),
    sections: () =>
      applied.map(({ plan, result }) => ({
        heading: { title: 'Apply to', name: plan.target.name, url: plan.target.url },
        summary: { type: 'apply', plan, result },
        blocks: [{ type: 'outcomes', result }],
        pageBlocks: planBlocks,
      })),
  };
}

function appliedObject({ plan: { target, tree, digest, allowed = [] }, result }: AppliedPlan): JsonObject {
  return {
    target: targetObject(target),
    tree,
    digest,
    allowed: allowed.map(({ code, reason }) => ({ code, reason })),
    outcomes: result.outcomes.map(({ id, action, status, begun, code, message, hint }) =>
      definedFields({ id, action, status, begun, code, message, hint }),
    ),
    counts: outcomeCounts(result.outcomes),
    interrupted: result.interrupted,
  };
}

const outcomeWords = [
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
export type OutcomeWord = (typeof outcomeWords)[number];

const done: Readonly<Record<Action, OutcomeWord>> = {
  create: 'created',
  update: 'updated',
  rename: 'renamed',
  delete: 'deleted',
  blocked: 'blocked',
  held: 'held',
};

/** Returns the outcome of a change in one word. */
export function outcomeWord({ status, action }: Outcome): OutcomeWord {
  if (status === 'done') return done[action];
  return status === 'already' ? 'unchanged' : status;
}

/** Counts outcomes by their word. */
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

/** Returns whether a part of the change is left to do. */
export function isUnfinished({ status }: Outcome): boolean {
  return status === 'failed' || status === 'skipped' || status === 'interrupted';
}

/** Returns a sentence such as `Applied: 3 created, 1 updated.`, or `Not finished: 3 created, 1 failed, 2 skipped.` */
export function appliedText({ outcomes, interrupted }: ApplyResult): string {
  const counts = outcomeCounts(outcomes);
  const counted = outcomeWords.flatMap((word) => (counts[word] > 0 ? [`${counts[word]} ${word}`] : []));
  const rest = interrupted ? ' Interrupted: plan and apply again to finish.' : '';
  const verdict = outcomes.some(isUnfinished) ? 'Not finished' : 'Applied';
  return `${verdict}: ${counted.length === 0 ? 'nothing to do' : counted.join(', ')}.${rest}`;
}
