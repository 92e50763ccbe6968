import type { JsonObject } from '../../model/json.ts';
import { documentJson } from '../document-json.ts';
import type { ApplyResult, Outcome, OutcomeStatus } from '../../model/result/outcome.ts';
import { type Action, deletedOutside } from '../../model/plan/plan.ts';
import type { Result, ResultsBlock, Sign } from '../blocks.ts';
import type { AppliedPlan, ReportDocument } from '../document.ts';
import { allowancesBlock, noticesBlock } from '../rows/lines.ts';
import { orphanNotices } from '../rows/groups.ts';
import { countOrphans, countStayingEdges, stayingEdgesText, type ActionCounts } from '../wording/summary.ts';
import { outsideBlocks } from './plan.ts';

/** Returns the document of applies. Below a plan, a section does not repeat where the target is. */
export function applyDocument(applied: readonly AppliedPlan[], hasPlace = true): ReportDocument {
  return {
    json: () => ({ version: 1, targets: applied.map(appliedObject) }),
    sections: () =>
      applied.map(({ plan, result }) => ({
        verdict: {
          before: 'Apply to ',
          name: plan.target.name,
          after: `${isFinished(result) ? '' : ' not finished'}: ${resultText(result, plan)}`,
        },
        ...(hasPlace ? { place: { where: plan.target.url }, summary: { type: 'apply', digest: plan.seals.digest } } : {}),
        blocks: [
          ...(hasPlace ? [allowancesBlock(plan.allowed ?? [])] : []),
          noticesBlock(orphanNotices({ orphans: [], changes: [], ...plan })),
          resultsBlock(result),
          ...(hasPlace ? outsideBlocks(plan) : []),
        ],
      })),
  };
}

function appliedObject({ plan: { target, seals, allowed = [], ...plan }, result }: AppliedPlan): JsonObject {
  return documentJson({ target, ...seals, allowed, ...result, counts: outcomeCounts(result.outcomes, plan) }, 'apply#/$defs/applied');
}

type OutcomeWord = Exclude<OutcomeStatus, 'done' | 'already'> | 'created' | 'updated' | 'renamed' | 'deleted' | 'unchanged';

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

/** Counts of an apply: outcomes by their word, objects that stay live without a manifest, and attachments that stay as they are. */
type OutcomeCounts = Readonly<Record<OutcomeWord | 'replaced' | 'orphaned' | 'unmanaged', number>> &
  Pick<ActionCounts, 'heldAttachments' | 'blockedAttachments'>;

/** Counts outcomes by their word. A finished replacement counts once: neither as created nor as updated or deleted. */
export function outcomeCounts(outcomes: readonly Outcome[], plan: Partial<AppliedPlan['plan']>): OutcomeCounts {
  const { changes = [], orphans = [], unmanagedAccess = [], edges = [] } = plan;
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
  const replaced = changes.filter(({ id, replacedBy }) => replacedBy !== undefined && finished.has(id));
  const [ids, successors] = [new Set(replaced.map(({ id }) => id)), new Set(replaced.map(({ replacedBy }) => replacedBy))];
  counts.orphaned = countOrphans({ orphans, changes }, ids);
  for (const outcome of outcomes) {
    const word = outcomeWord(outcome);
    if (ids.has(outcome.id)) counts.replaced += 1;
    else if (word !== 'created' || !successors.has(outcome.id)) counts[word] += 1;
  }
  return { ...counts, ...countStayingEdges({ edges }) };
}

/** Returns whether a part of the change is left to do. */
export function isUnfinished({ status, code }: Outcome): boolean {
  if (status === 'blocked') return code !== 'plan/managed' && code !== deletedOutside;
  return status === 'failed' || status === 'skipped' || status === 'interrupted';
}

/** The order in which outcomes are omitted for length; the first ones stay longest. */
const order: Readonly<Record<OutcomeStatus, number>> = { failed: 0, interrupted: 1, skipped: 2, blocked: 3, held: 4, done: 5, already: 6 };

const signs: Readonly<Partial<Record<OutcomeWord, Sign>>> = {
  created: '+',
  updated: '~',
  renamed: '~',
  deleted: '-',
  failed: '-',
  interrupted: '-',
  blocked: '!',
  held: '=',
};

/** Returns the outcomes of an apply. */
function resultsBlock({ outcomes }: ApplyResult): ResultsBlock {
  const results = outcomes.map((outcome): Result => {
    const { id, status, begun, code, message, hint } = outcome;
    const word = outcomeWord(outcome);
    const sign = signs[word];
    return {
      name: id,
      word,
      ...(sign === undefined ? {} : { sign }),
      code,
      message,
      hint,
      isFailure: status === 'failed' || begun === true || (status === 'blocked' && isUnfinished(outcome)),
      order: order[status],
    };
  });
  return { type: 'results', results };
}

/** Returns a sentence such as `Applied: 3 created, 1 updated.`, or `Not finished: 1 failed, 2 not started, 3 created.` */
export function appliedText(result: ApplyResult, plan: Partial<AppliedPlan['plan']> = {}): string {
  return `${isFinished(result) ? 'Applied' : 'Not finished'}: ${resultText(result, plan)}`;
}

function isFinished({ outcomes }: ApplyResult): boolean {
  return !outcomes.some(isUnfinished);
}

/** Returns a sentence such as `3 created, 1 updated.`; what is left to do comes first. */
function resultText({ outcomes, interrupted }: ApplyResult, plan: Partial<AppliedPlan['plan']>): string {
  const counts = outcomeCounts(outcomes, plan);
  const half = outcomes.filter(({ status, begun }) => status === 'interrupted' && begun === true).length;
  const left = [
    [counts.failed, 'failed'],
    [half, 'half written'],
    [counts.interrupted - half, 'not started'],
    [counts.skipped, 'skipped'],
  ] as const;
  const counted = [...left, ...countedWords.map((word) => [counts[word], word] as const)].flatMap(([count, word]) =>
    count > 0 ? [`${count} ${word}`] : [],
  );
  const text = outcomes.length === 0 ? ['nothing to do', ...counted] : counted;
  return `${text.join(', ')}.${stayingEdgesText({ edges: plan.edges ?? [] })}${interrupted ? ' Interrupted: plan and apply again to finish.' : ''}`;
}

const countedWords = [
  'created',
  'updated',
  'renamed',
  'replaced',
  'deleted',
  'unchanged',
  'blocked',
  'held',
  'orphaned',
  'unmanaged',
] as const;
