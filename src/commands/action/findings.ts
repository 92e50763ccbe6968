import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { CommandEvent } from '../context/cli-context.ts';

/** The events of a command, merged. */
export type Findings = {
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan;
  readonly result?: ApplyResult;
  readonly drift?: Drift;
  /** The file that the plan was saved in. */
  readonly saved?: string;
};

/** Adds an event; drops repeated diagnostics, and diagnostics that repeat a refusal of the plan. */
export function addEvent(findings: Findings, event: CommandEvent): Findings {
  if ('secret' in event) return findings;
  if ('saved' in event) return { ...findings, ...event };
  if ('plan' in event) return { ...findings, ...event, diagnostics: untold(findings.diagnostics, event.plan) };
  if ('drift' in event) return { ...findings, ...event };
  const known = new Set(findings.diagnostics.map((one) => JSON.stringify(one)));
  const fresh = event.diagnostics.filter((one) => !known.has(JSON.stringify(one)));
  return { ...findings, diagnostics: untold([...findings.diagnostics, ...fresh], findings.plan) };
}

function untold(diagnostics: readonly Diagnostic[], plan: Plan | undefined): readonly Diagnostic[] {
  if (plan === undefined) return diagnostics;
  const known = new Set(plan.refusals.map(({ code, message }) => `${code} ${message}`));
  return diagnostics.filter(({ code, message }) => !known.has(`${code} ${message}`));
}
