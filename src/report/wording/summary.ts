import type { Headline, HeadlineVerdict, RerouteTarget } from '../../model/protection/protection.ts';
import { highestPlanRisk, remainingOrphans, type Action, type Plan, type RiskClass } from '../../model/plan/plan.ts';
import { notComparedCount, notComparedText } from '../../model/plan/not-compared.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { ChangedCheck } from '../../model/plan/changed-check.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import { escapeTerminal } from '../escape.ts';
import { clip } from '../wrap.ts';
import { shortPosition } from './value.ts';

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
  const successors = new Set([...replaced].flatMap(({ needs }) => needs));
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

/** Returns everything that a plan counts: `1 to update, 1 manifest changed without a write, 3 unchanged`. */
function planParts(plan: Plan, counts: ActionCounts): string {
  const parts = [countsText(counts), ...unwrittenParts(plan), `${counts.unchanged} unchanged`, ...uncomparedParts(plan)];
  return parts.filter((text) => text !== '').join(', ');
}

/** Returns `1 manifest changed without a write`. */
export function unwrittenText(count: number): string {
  return `${plural(count, 'manifest')} changed without a write`;
}

/** Returns `1 secret changed in the manifests without a write`. */
export function unwrittenSecretsText(count: number): string {
  return `${plural(count, 'secret')} changed in the manifests without a write`;
}

function unwrittenParts({ unwritten, unwrittenSecrets }: Pick<Plan, 'unwritten' | 'unwrittenSecrets'>): readonly string[] {
  return [
    ...(unwritten.length === 0 ? [] : [unwrittenText(unwritten.length)]),
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

/** Returns a count with its noun: `1 error`, `2 errors`. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const longestEntry = 1000;

/** Returns the first entries of a list, clipped, and `and N more` for the rest. */
export function shortList(entries: readonly string[], most: number): readonly string[] {
  const shown = entries.slice(0, most).map((entry) => (entry.length > longestEntry ? clip(entry, longestEntry) : entry));
  return entries.length <= most ? shown : [...shown, `and ${entries.length - most} more`];
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

/** The first line of a report, around the name of its target; the name is empty if the report is about no target. */
export type Verdict = { readonly before: string; readonly name: string; readonly after: string };

/** Returns a verdict as text; each format has its own form of the name. */
export function verdictText({ before, name, after }: Verdict, nameText: (name: string) => string = String): string {
  return `${before}${name === '' ? '' : nameText(name)}${after}`;
}

/** Returns the verdict of a plan: the worst news first. */
export function planVerdict(plan: Plan): Verdict {
  const counts =
    plan.changes.length === 0
      ? planSummaryText(plan)
      : `${[countsText(countActions(plan)), ...unwrittenParts(plan), ...uncomparedParts(plan)].join(', ')}.`;
  const parts = [
    ...(plan.refusals.length === 0 ? [] : ['Refused.']),
    ...checksTexts(plan),
    ...withEffect(counts, plan.protection.headlines, highestPlanRisk(plan)),
  ];
  return { before: 'Plan for ', name: plan.target.name, after: `: ${[...parts, ...outsideTexts(plan)].join(' ')}` };
}

/** Returns `Changes its checks: policy has-a-reviewer removed, limits.updates of target prod changed.` */
function checksTexts({ checks = [] }: Pick<Plan, 'checks'>): readonly string[] {
  if (checks.length === 0) return [];
  return [`Changes its checks: ${shortList(checks.map(checkText), namedChecks).join(', ')}.`];
}

const namedChecks = 2;

function checkText(one: ChangedCheck): string {
  const name = clip(one.check, longestCheck);
  return one.action === 'uncovered'
    ? `${name} no longer covers ${shortList(one.connections.map(nameOf), 1).join(' ')}`
    : `${name} ${one.action}`;
}

const longestCheck = 80;

const mostChecks = 20;

/** Returns a line for each check that a plan changes: `Check changed: limits.updates of target prod, from 0.3 to 1`. */
export function checkNotices({ checks = [] }: Pick<Plan, 'checks'>): readonly string[] {
  const lines = checks.map((one) => {
    const { check, action, at } = one;
    const place = at === undefined || action === 'removed' ? '' : `  ${shortPosition(at)}`;
    return escapeTerminal(`Check ${changeOfCheck(one)}: ${[check, ...valuesOfCheck(one)].join(', ')}${place}`);
  });
  return shortList(lines, mostChecks);
}

function changeOfCheck(one: ChangedCheck): string {
  return one.action === 'uncovered' ? `no longer covers ${shortList(one.connections.map(nameOf), mostChecks).join(', ')}` : one.action;
}

function valuesOfCheck(one: ChangedCheck): readonly string[] {
  if (one.action === 'uncovered') return [];
  const { before, after } = one;
  if (before !== undefined && after !== undefined) return [`from ${before} to ${after}`];
  return [before, after].filter((value) => value !== undefined);
}

/** Returns what is not part of the plan: `2 changes outside Ostiary that manifests do not declare: weakens protection of 1 connection.` */
function outsideTexts({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  if (outside === undefined || outside.changes.length === 0) return [];
  const { changes, headlines } = outside;
  const effect = withEffect('', headlines).join('');
  const end = headlines.length === 0 ? '.' : `: ${effect.charAt(0).toLowerCase()}${effect.slice(1)}`;
  return [`${plural(changes.length, 'change')} outside Ostiary that manifests do not declare${end}`];
}

/** Returns counts beside the worst effect on protection; an effect that is not good comes first. */
export function withEffect(counts: string, headlines: readonly Headline[], highest?: RiskClass): readonly string[] {
  const direction = worstEffect(headlines, highest);
  const connections = new Set(headlines.flatMap((headline) => (headline.direction === direction ? headline.connections : [])));
  if (direction === 'strengthens' || direction === 'neutral')
    return connections.size === 0 ? [counts] : [counts, effectText(direction, connections.size)];
  const [target, ...others] = new Set(headlines.flatMap((headline) => (headline.direction === direction ? (headline.target ?? []) : [])));
  const reroute = others.length > 0 || target === undefined || target === 'other' || connections.size === 0 ? undefined : reroutes[target];
  return [reroute?.(plural(connections.size, 'connection')) ?? effectText(direction, connections.size), counts];
}

const reroutes: Readonly<Record<Exclude<RerouteTarget, 'other'>, (connections: string) => string>> = {
  endpoint: (connections) => `Sends credentials of ${connections} to another endpoint.`,
  agent: (connections) => `Sends credentials of ${connections} to another agent.`,
  command: (connections) => `Passes credentials of ${connections} to another command.`,
  code: (connections) => `Runs code from another repository on ${connections}.`,
};

/** Returns the worst effect; one that is certain comes before one that is unknown, and a deletion that no headline names is a count. */
function worstEffect(headlines: readonly Headline[], highest: RiskClass | undefined): HeadlineVerdict {
  const has = (verdict: HeadlineVerdict): boolean => headlines.some(({ direction }) => direction === verdict);
  const risk = highest !== undefined && isEffect(highest) && (highest !== 'availability' || has(highest)) ? highest : 'strengthens';
  // What is not enforced is said where nothing else is.
  if (risk === 'strengthens') return (headlines.find((one) => one.direction !== 'neutral') ?? headlines[0])?.direction ?? risk;
  const certain = (['reroutes', 'exposes'] as const).find(has);
  return risk === 'unknown' && certain !== undefined ? certain : risk;
}

const effects: Readonly<Record<HeadlineVerdict, readonly [effect: string, object: string]>> = {
  weakens: ['Weakens protection', ' of '],
  unknown: ['Unknown effect on protection', ' of '],
  exposes: ['Gives access without review', ' to '],
  reroutes: ['Reroutes credentials or code', ' of '],
  availability: ['Blocks users', ' of '],
  neutral: ['Changes no enforced protection', ' of '],
  strengthens: ['Strengthens protection', ' of '],
};

function isEffect(risk: RiskClass): risk is HeadlineVerdict {
  return risk !== 'neutral' && Object.hasOwn(effects, risk);
}

function effectText(direction: HeadlineVerdict, connections: number): string {
  const [effect, object] = effects[direction];
  return `${effect}${connections === 0 ? '' : `${object}${plural(connections, 'connection')}`}.`;
}
