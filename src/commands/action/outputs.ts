import type { Json } from '../../model/json.ts';
import { hasDifferences, highestPlanRisk, riskClasses } from '../../model/plan/plan.ts';
import { isDrifted } from '../../reconcile/drift/filter-drift.ts';
import { countActions } from '../../report/wording/counts.ts';
import { driftCounts } from '../../report/subjects/drift.ts';
import { outcomeCounts } from '../../report/subjects/apply.ts';
import { absolutePath } from '../../project/resolved-config.ts';
import type { ActionInputs } from './inputs.ts';
import type { TaskResult } from './task.ts';

/** The result of the step for one target, or for all; without a plan, its fields are left out. */
export type TargetResult = {
  readonly outcome: Outcome;
  readonly 'exit-code': number;
  readonly changed?: boolean;
  readonly counts?: Readonly<Record<string, number>>;
  readonly 'max-risk'?: string;
  readonly 'protection-lost'?: boolean;
  readonly digest?: string;
  readonly 'plan-path'?: string;
  readonly issue?: number;
  readonly 'pull-request'?: number;
};

/** The outcomes of a step, the most important first. */
const outcomes = [
  'error',
  'invalid',
  'unreachable',
  'unfinished',
  'refused',
  'drifted',
  'reverted',
  'adopted',
  'applied',
  'planned',
  'clean',
  'valid',
] as const;

type Outcome = (typeof outcomes)[number];

/** Returns the result of one target. */
export function targetResultOf(done: TaskResult): TargetResult {
  const { findings, exitCode } = done;
  const { plan, result, saved, drift } = findings;
  const counts = result === undefined ? plan && countActions(plan) : outcomeCounts(result.outcomes, plan ?? {});
  return {
    outcome: outcomeOf(done),
    'exit-code': exitCode,
    ...(drift === undefined
      ? {}
      : {
          changed: isDrifted(drift.plan),
          counts: driftCounts(drift),
          'protection-lost': drift.protection.losing.length > 0,
        }),
    ...(plan === undefined
      ? {}
      : {
          changed: hasDifferences(plan),
          digest: plan.digest,
          'max-risk': highestPlanRisk(plan) ?? 'none',
          'protection-lost': plan.protection.losing.length > 0,
        }),
    ...(counts === undefined ? {} : { counts }),
    ...(saved === undefined ? {} : { 'plan-path': absolutePath(saved, done.context) }),
  };
}

const failures: Readonly<Record<number, Outcome>> = { 3: 'invalid', 4: 'unreachable', 5: 'unfinished', 6: 'refused' };

function outcomeOf({ task, findings: { drift, result }, exitCode }: TaskResult): Outcome {
  const isAccepted = (drift?.adoption?.files ?? []).length > 0;
  const drifted = isAccepted ? 'adopted' : drift !== undefined && isDrifted(drift.plan) ? 'drifted' : 'clean';
  const done = { validate: 'valid', plan: 'planned', apply: 'applied', drift: result === undefined ? drifted : 'reverted' } as const;
  if (task !== undefined && (exitCode === 0 || exitCode === 2)) return done[task.step.mode];
  return failures[exitCode] ?? 'error';
}

/** Returns the outputs that are known before anything is reported to GitHub. */
export function outputsOf(
  results: readonly TargetResult[],
  { several, sarif }: Pick<ActionInputs, 'several'> & { readonly sarif: string | undefined },
): Readonly<Record<string, string>> {
  const [only] = results;
  const { 'exit-code': _, ...found } = several || only === undefined ? joined(results) : only;
  return { ...words(found), ...(sarif === undefined ? {} : { 'sarif-path': sarif }) };
}

/** Returns the outputs that come from reporting: the final outcome, numbers of issues and pull requests; with several targets, all results by target. */
export function reportOutputsOf(
  results: readonly NamedResult[],
  { several }: Pick<ActionInputs, 'several'>,
): Readonly<Record<string, string>> {
  const [only] = results;
  const { outcome } = joined(results.map(({ result }) => result));
  if (!several) return words({ outcome, issue: only?.result.issue, 'pull-request': only?.result['pull-request'] });
  const targets = results.flatMap(({ target, result }) => (target === undefined ? [] : [[target, result] as const]));
  return words({ outcome, targets: Object.fromEntries(targets) });
}

/** The result of a target, and its name if there is one. */
type NamedResult = { readonly target: string | undefined; readonly result: TargetResult };

/** Merges the results of all targets: adds up the counts, keeps the most important outcome and the highest risk. */
function joined(results: readonly TargetResult[]): TargetResult {
  const given = <T>(one: (result: TargetResult) => T | undefined): readonly T[] => results.map(one).filter((value) => value !== undefined);
  const changed = given((one) => one.changed);
  const lost = given((one) => one['protection-lost']);
  const counts = given((one) => one.counts);
  const risks = given((one) => one['max-risk']);
  return {
    outcome: outcomes.find((outcome) => results.some((one) => one.outcome === outcome)) ?? 'error',
    'exit-code': 0,
    ...(changed.length === 0 ? {} : { changed: changed.includes(true) }),
    ...(counts.length === 0 ? {} : { counts: summed(counts) }),
    ...(risks.length === 0 ? {} : { 'max-risk': riskClasses.findLast((one) => risks.includes(one)) ?? 'none' }),
    ...(lost.length === 0 ? {} : { 'protection-lost': lost.includes(true) }),
  };
}

function summed(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function words(values: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, string>> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}
