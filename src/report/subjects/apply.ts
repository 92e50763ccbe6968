import { definedFields, type JsonObject } from '../../model/json.ts';
import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import type { Action } from '../../model/plan/plan.ts';
import type { AppliedPlan, ReportBlock, ReportDocument } from '../document.ts';
import { orphanNotices } from './groups.ts';
import { countOrphans } from '../wording/counts.ts';
import { targetObject } from './plan.ts';

/** Returns the document of applies. Pages also show the blocks of the plan that was applied. Below a plan, a section needs no heading. */
export function applyDocument(
  applied: readonly AppliedPlan[],
  planBlocks: () => readonly ReportBlock[] = () => [],
  hasHeading = true,
): ReportDocument {
  return {
    json: () => ({ version: 1, targets: applied.map(appliedObject) }),
    sections: () =>
      applied.map(({ plan, result }) => ({
        ...(hasHeading ? { heading: { title: 'Apply to', name: plan.target.name, url: plan.target.url } } : {}),
        summary: { type: 'apply', plan, result },
        blocks: [
          { type: 'notices', lines: orphanNotices({ orphans: [], changes: [], ...plan }) },
          { type: 'outcomes', result },
        ],
        pageBlocks: planBlocks,
      })),
  };
}

function appliedObject({ plan, result }: AppliedPlan): JsonObject {
  const { target, tree, digest, allowed = [] } = plan;
  return {
    target: targetObject(target),
    tree,
    digest,
    allowed: allowed.map(({ code, reason }) => ({ code, reason })),
    outcomes: result.outcomes.map(({ id, action, status, begun, code, message, hint }) =>
      definedFields({ id, action, status, begun, code, message, hint }),
    ),
    counts: { ...outcomeCounts(result.outcomes, plan) },
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

/** Counts of an apply: outcomes by their word, and objects that stay live without a manifest. */
export type OutcomeCounts = Readonly<Record<OutcomeWord | 'replaced' | 'orphaned' | 'unmanaged', number>>;

/** Counts outcomes by their word. A finished replacement counts once: neither as created nor as updated or deleted. */
export function outcomeCounts(outcomes: readonly Outcome[], plan: Partial<AppliedPlan['plan']>): OutcomeCounts {
  const { changes = [], orphans = [], unmanagedAccess = [] } = plan;
  const counts = {
    created: 0,
    updated: 0,
    renamed: 0,
    replaced: 0,
    deleted: 0,
    unchanged: 0,
    failed: 0,
    skipped: 0,
    blocked: 0,
    held: 0,
    interrupted: 0,
    orphaned: 0,
    unmanaged: unmanagedAccess.length,
  };
  const finished = new Set(outcomes.flatMap(({ id, status }) => (status === 'done' ? [id] : [])));
  const replaced = changes.filter(({ id, reasons }) => reasons.includes('replaced') && finished.has(id));
  const [ids, successors] = [new Set(replaced.map(({ id }) => id)), new Set(replaced.flatMap(({ needs }) => needs))];
  counts.orphaned = countOrphans({ orphans, changes }, ids);
  for (const outcome of outcomes) {
    const word = outcomeWord(outcome);
    if (ids.has(outcome.id)) counts.replaced += 1;
    else if (word !== 'created' || !successors.has(outcome.id)) counts[word] += 1;
  }
  return counts;
}

/** Returns whether a part of the change is left to do. */
export function isUnfinished({ status, code }: Outcome): boolean {
  if (status === 'blocked') return code !== 'plan/managed';
  return status === 'failed' || status === 'skipped' || status === 'interrupted';
}

const countedWords = [...outcomeWords.slice(0, 3), 'replaced', ...outcomeWords.slice(3), 'orphaned', 'unmanaged'] as const;

/** Returns a sentence such as `Applied: 3 created, 1 updated.`, or `Not finished: 3 created, 1 failed, 2 not started.` */
export function appliedText({ outcomes, interrupted }: ApplyResult, plan: Partial<AppliedPlan['plan']> = {}): string {
  const counts = outcomeCounts(outcomes, plan);
  const half = outcomes.filter(({ status, begun }) => status === 'interrupted' && begun === true).length;
  const counted = countedWords.flatMap((word) => {
    const parts =
      word === 'interrupted'
        ? ([
            [half, 'half written'],
            [counts.interrupted - half, 'not started'],
          ] as const)
        : ([[counts[word], word]] as const);
    return parts.flatMap(([count, label]) => (count > 0 ? [`${count} ${label}`] : []));
  });
  const rest = interrupted ? ' Interrupted: plan and apply again to finish.' : '';
  const verdict = outcomes.some(isUnfinished) ? 'Not finished' : 'Applied';
  const isIdle = outcomes.length === 0 ? ['nothing to do'] : [];
  return `${verdict}: ${[...isIdle, ...counted].join(', ')}.${rest}`;
}
