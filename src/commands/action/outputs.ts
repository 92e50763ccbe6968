import type { Drift } from '../../model/drift.ts';
import { isWritten } from '../../model/plan.ts';
import { highestRiskOf } from '../../model/plan-risk.ts';
import { isDrifted } from '../../plan/drift.ts';
import { countsOf } from '../../report/counts.ts';
import { driftCounts } from '../../report/drift-rows.ts';
import { outcomeCounts } from '../../report/outcomes.ts';
import type { Step, Telling } from './step.ts';

/** The step's outputs; those of a plan are left out where there is none. */
export function outputsOf({ step, findings, exitCode }: Telling): Readonly<Record<string, string>> {
  const { plan, result, saved, drift } = findings;
  const counts = result === undefined ? plan && countsOf(plan) : outcomeCounts(result.outcomes);
  return {
    outcome: outcomeOf(step, findings, exitCode),
    ...(drift === undefined ? {} : driftOutputs(drift)),
    ...(plan === undefined ? {} : { changed: String(plan.changes.some(isWritten)), digest: plan.digest }),
    ...(plan === undefined
      ? {}
      : { 'max-risk': highestRiskOf(plan) ?? 'none', 'protection-lost': String((plan.protection?.losing ?? []).length > 0) }),
    ...(counts === undefined ? {} : { counts: JSON.stringify(counts) }),
    ...(saved === undefined ? {} : { 'plan-path': saved }),
    ...(step?.inputs.sarif === undefined ? {} : { 'sarif-path': step.inputs.sarif }),
  };
}

function driftOutputs(drift: Drift): Readonly<Record<string, string>> {
  const counts = driftCounts(drift);
  return {
    changed: String(isDrifted(drift.plan)),
    counts: JSON.stringify(counts),
    'protection-lost': String(drift.protection.losing.length > 0),
  };
}

const failures: Readonly<Record<number, string>> = { 3: 'invalid', 4: 'unreachable', 5: 'unfinished', 6: 'refused' };

function outcomeOf(step: Step | undefined, { drift, result }: Telling['findings'], exitCode: number): string {
  const isAccepted = drift?.adoption?.accepted !== undefined;
  const drifted = isAccepted ? 'adopted' : drift !== undefined && isDrifted(drift.plan) ? 'drifted' : 'clean';
  const done = { validate: 'valid', plan: 'planned', apply: 'applied', drift: result === undefined ? drifted : 'reverted' } as const;
  if (step !== undefined && (exitCode === 0 || exitCode === 2)) return done[step.course.mode];
  return failures[exitCode] ?? 'error';
}
