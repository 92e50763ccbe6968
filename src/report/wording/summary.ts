import type { Position } from '../../model/diagnostic.ts';
import { remainingOrphans, type Action, type Plan, type Risk, riskClasses } from '../../model/plan/plan.ts';
import { notComparedCount, notComparedText } from '../../model/plan/not-compared.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { ChangedCheck, UncoveredCheck } from '../../model/plan/changed-check.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import { escapeTerminal } from '../escape.ts';
import { plural, shortList } from './phrases.ts';

/** A replacement is one object that another one replaces: its two changes count neither as create nor as update or delete. */
export type ActionCounts = Readonly<Record<Action | 'replace' | 'unchanged' | 'orphaned' | 'unmanaged', number>> & {
  /** Drift that the manifests accept; absent when there is none. */
  readonly accepted?: number;
  /** Attachments that apply leaves as they are; absent when there are none. */
  readonly heldAttachments?: number;
  readonly blockedAttachments?: number;
};

/** Counts the changes of each action; unmanaged connections only if the target reports them. */
export function countActions(
  plan: Pick<Plan, 'changes' | 'edges' | 'unchanged' | 'orphans' | 'unmanagedAccess' | 'accepted'>,
): ActionCounts {
  const counts = { create: 0, update: 0, rename: 0, replace: 0, delete: 0, blocked: 0, held: 0 };
  const replaced = new Set(plan.changes.filter(({ replacedBy, action }) => replacedBy !== undefined && action !== 'blocked'));
  const successors = new Set([...replaced].map(({ replacedBy }) => replacedBy));
  for (const change of plan.changes) {
    const isSuccessor = change.action === 'create' && successors.has(change.id);
    if (replaced.has(change)) counts.replace += 1;
    else if (!isSuccessor) counts[change.action] += 1;
  }
  const unmanaged = plan.unmanagedAccess?.length ?? 0;
  const orphaned = countOrphans(plan, new Set([...replaced].map(({ id }) => id)));
  return {
    ...counts,
    unchanged: plan.unchanged,
    orphaned,
    unmanaged,
    ...(plan.accepted.length === 0 ? {} : { accepted: plan.accepted.length }),
    ...countStayingEdges(plan),
  };
}

/** Counts the attachments that apply leaves as they are. */
export function countStayingEdges({ edges }: Pick<Plan, 'edges'>): Pick<ActionCounts, 'heldAttachments' | 'blockedAttachments'> {
  const [heldAttachments = 0, blockedAttachments = 0] = (['held', 'blocked'] as const).map(
    (action) => edges.filter((edge) => edge.action === action).length,
  );
  return { ...(heldAttachments === 0 ? {} : { heldAttachments }), ...(blockedAttachments === 0 ? {} : { blockedAttachments }) };
}

/** Counts the objects that stay live without a manifest; a replaced one that is closed counts as replaced. */
export function countOrphans(plan: Pick<Plan, 'changes' | 'orphans'>, replaced: ReadonlySet<ResourceId>): number {
  return remainingOrphans(plan).filter(({ id }) => !replaced.has(id)).length;
}

/** Returns `3 to create, 1 to update, 1 blocked (not written)`, without zeros. */
function countsText(counts: ActionCounts): string {
  const parts = [
    [counts.create, 'to create'],
    [counts.update, 'to update'],
    [counts.rename, 'to rename'],
    [counts.replace, 'to replace'],
    [counts.delete, 'to delete'],
    [counts.blocked, 'blocked (not written)'],
    [counts.held, 'held'],
    [counts.orphaned, 'orphaned (still live)'],
    [counts.unmanaged, 'unmanaged'],
  ] as const;
  const accepted = counts.accepted === undefined ? [] : [acceptedText(counts.accepted)];
  return [...parts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])), ...accepted].join(', ');
}

/** Returns `1 drift accepted in the manifests`. */
function acceptedText(count: number): string {
  return `${count === 1 ? '1 drift' : `${count} drifts`} accepted in the manifests`;
}

/** Returns the plan in one sentence. */
export function planSummaryText(plan: Plan): string {
  const counts = countActions(plan);
  const edges = stayingEdgesText(plan);
  if (isOutOfSync(plan, counts)) return `Nothing to apply, but not in sync: ${planParts(plan, counts)}.${edges}`;
  if (isUnwritten(plan)) return `Nothing to write: ${planParts(plan, counts)}.${edges}`;
  if (plan.changes.length === 0) {
    const unmanaged = counts.unmanaged === 0 ? '' : ` ${counts.unmanaged} unmanaged.`;
    if (plan.notCompared.length > 0) return `No changes seen; ${notComparedText(plan.notCompared)}.${edges}${unmanaged}`;
    if (plan.checks !== undefined) return `Nothing to write: ${plural(counts.unchanged, 'resource')} in sync.${edges}${unmanaged}`;
    // A refused plan may miss changes, such as removals that only a record shows.
    const first = plan.refusals.length > 0 ? 'No changes' : 'No changes. The gateway matches the manifests';
    return `${first}: ${plural(counts.unchanged, 'resource')} in sync.${edges}${unmanaged}`;
  }
  return `Plan: ${planParts(plan, counts)}.${edges}`;
}

/** Returns whether a plan shows several things, so that its end repeats the counts and the highest risk. */
export function showsSeveral(plan: Plan): boolean {
  return plan.changes.length + plan.accepted.length + plan.unwritten.length > 1 || stayingEdgesText(plan) !== '';
}

/** Returns whether a plan has nothing to show: no change, and nothing that manifests change without a write. */
export function hasNothingToShow(plan: Plan): boolean {
  return plan.changes.length === 0 && plan.checks === undefined && !isOutOfSync(plan, countActions(plan)) && !isUnwritten(plan);
}

function isOutOfSync({ changes, edges }: Plan, { orphaned }: ActionCounts): boolean {
  return changes.length === 0 && (orphaned > 0 || edges.some(({ action }) => action === 'held'));
}

function isUnwritten(plan: Plan): boolean {
  return plan.changes.length === 0 && (plan.accepted.length > 0 || unwrittenParts(plan).length > 0);
}

/** Returns `1 to update, 1 drift accepted in the manifests.` of a plan with changes. */
export function planCounts(plan: Plan): string {
  return `${[countsText(countActions(plan)), ...unwrittenParts(plan), ...uncomparedParts(plan)].join(', ')}.`;
}

/** Returns everything that a plan counts: `1 to update, 1 manifest changed without a write, 3 unchanged`. */
function planParts(plan: Plan, counts: ActionCounts): string {
  const parts = [countsText(counts), ...unwrittenParts(plan), `${counts.unchanged} unchanged`, ...uncomparedParts(plan)];
  return parts.filter((text) => text !== '').join(', ');
}

/** Returns `1 manifest that changes nothing on the gateway`. */
export function unwrittenText(count: number): string {
  return `${plural(count, 'manifest')} that ${count === 1 ? 'changes' : 'change'} nothing on the gateway`;
}

/** Returns `1 changed secret that the gateway has already, or keeps`. */
export function unwrittenSecretsText(count: number): string {
  return `${plural(count, 'changed secret')} that the gateway has already, or keeps`;
}

type Unwritten = Pick<Plan, 'unwritten' | 'unwrittenSecrets' | 'protection' | 'checks'>;

/** Returns what the manifests change without a write: one or two risks by name, unless a headline or a check states them, and the counts of the others. */
function unwrittenParts({ unwritten, unwrittenSecrets, protection, checks = [] }: Unwritten): readonly string[] {
  const stated = new Set(protection.headlines.flatMap(({ connections }) => connections));
  const isStated = (id: ResourceId): boolean => stated.has(id) || checks.some(({ check }) => check.endsWith(` of ${id}`));
  const risky = unwritten.filter(({ id, risks }) => !isStated(id) && risksText(risks) !== '');
  const named = risky.length > 2 ? [] : risky;
  return [
    ...named.map(({ id, risks }) => `risk ${risksText(risks)} of ${nameOf(id)}`),
    ...(unwritten.length === named.length ? [] : [unwrittenText(unwritten.length - named.length)]),
    ...(unwrittenSecrets.length === 0 ? [] : [unwrittenSecretsText(unwrittenSecrets.length)]),
  ];
}

function uncomparedParts({ notCompared }: Pick<Plan, 'notCompared'>): readonly string[] {
  return notCompared.length === 0 ? [] : [notComparedCount(notCompared)];
}

/** Returns ` 1 attachment held. 2 attachments blocked.`; empty text if the plan leaves no attachment as it is. */
export function stayingEdgesText({ edges }: Pick<Plan, 'edges'>): string {
  return (['held', 'blocked'] as const)
    .map((word) => [edges.filter(({ action }) => action === word).length, word] as const)
    .flatMap(([count, word]) => (count === 0 ? [] : [` ${plural(count, 'attachment')} ${word}.`]))
    .join('');
}

/** Returns `weakens (review), strengthens (input)`, the most severe class first; empty text where all risks are neutral. */
export function risksText(risks: readonly Risk[] | undefined): string {
  return riskClasses
    .toReversed()
    .flatMap((one) => {
      const names = (risks ?? []).flatMap(({ code, class: other }) => (other === one ? [code.slice('risk/'.length)] : []));
      return one === 'neutral' || names.length === 0 ? [] : [`${one} (${[...new Set(names)].join(', ')})`];
    })
    .join(', ');
}

/** Returns `5 policies on 31 connections as of 2026-11-21: 1 violated, 2 unknown, 1 waived`; empty text without policies. */
export function policiesText(report: PolicyReport | undefined): string {
  if (report === undefined) return '';
  const { today, policies, connections, findings, waived } = report;
  const violations = findings.filter(({ result }) => result === 'violated');
  const violated = violations.length;
  const errors = violations.filter(({ severity }) => severity === 'error').length;
  const warnings = violated - errors;
  const severities = [...(errors === 0 ? [] : [plural(errors, 'error')]), plural(warnings, 'warning')].join(', ');
  const counts = [
    ...(violated === 0 ? [] : [`${violated} violated${warnings === 0 ? '' : ` (${severities})`}`]),
    ...(findings.length === violated ? [] : [`${findings.length - violated} unknown`]),
    ...(waived.length === 0 ? [] : [`${waived.length} waived`]),
  ];
  const many = policies === 1 ? '1 policy' : `${policies} policies`;
  return `${many} on ${plural(connections, 'connection')} as of ${today}: ${counts.length === 0 ? 'all satisfied' : counts.join(', ')}`;
}

const mostChecks = 20;

/** Returns a line for each check that a plan changes, with its place: `Check changed: limits.updates of target prod, from 0.3 to 1`. */
export function checkNotices({ checks = [] }: Pick<Plan, 'checks'>): readonly Notice[] {
  const lines = checks.slice(0, mostChecks).map((one): Notice => {
    const text = escapeTerminal(`Check ${changeOfCheck(one)}: ${[one.check, ...valuesOfCheck(one)].join(', ')}`);
    return { text, at: one.action === 'removed' ? undefined : one.at };
  });
  return checks.length > mostChecks ? [...lines, { text: `and ${checks.length - mostChecks} more` }] : lines;
}

/** What a reader must know first, and the place that it is about; escaped. */
export type Notice = { readonly text: string; readonly at?: Position | undefined };

function changeOfCheck(one: ChangedCheck): string {
  return one.action === 'uncovered' ? uncoveredText(one, mostChecks) : one.action;
}

/** Returns `no longer covers a, b and 3 more`; of a check without a place, which is gone, `removed (covered a, b and 3 more)`. */
export function uncoveredText({ at, connections }: UncoveredCheck, most: number): string {
  const covered = shortList(connections.map(nameOf), most).join(most === 1 ? ' ' : ', ');
  return at === undefined ? `removed (covered ${covered})` : `no longer covers ${covered}`;
}

function valuesOfCheck(one: ChangedCheck): readonly string[] {
  if (one.action === 'uncovered') return [];
  const { before, after } = one;
  if (before !== undefined && after !== undefined) return [`from ${before} to ${after}`];
  return [before, after].filter((value) => value !== undefined);
}
