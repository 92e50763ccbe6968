import { relative } from 'node:path';
import { headOf, mayBeInRepository, repositoryOf } from '../../git/repository.ts';
import type { JobLog } from '../../github/job-log.ts';
import type { WaitingTime } from '../../github/github-client.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext, CommandEvent } from '../context/cli-context.ts';
import { repositoryPaths } from '../../disk/walk.ts';
import type { ActionStep } from './action-step.ts';
import type { Proposal } from './proposal.ts';
import type { ActionInputs } from './inputs.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { TargetFindings } from '../../report/document.ts';

/** The events of a command, merged. */
export type Findings = Omit<TargetFindings, 'target'> & {
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

/** What a step of a workflow does for one target. */
export type ActionTask = {
  readonly inputs: ActionInputs;
  readonly run: WorkflowRun;
  readonly step: ActionStep;
  /** Undefined if the checkout is merged. */
  readonly proposal: Proposal | undefined;
  readonly checkout: Checkout;
};

/** The result of a task, and what its report needs. */
export type TaskResult = {
  /** Undefined if the inputs were invalid. */
  readonly task: ActionTask | undefined;
  readonly findings: Findings;
  readonly exitCode: number;
  readonly log: JobLog;
  readonly context: CliContext;
  readonly waits: Waits;
};

/** How the job waits for GitHub, and how long it has. */
export type Waits = WaitingTime & { readonly sleep: (milliseconds: number) => Promise<void> };

/** Returns the name of the task's target, if the inputs name one. */
export function targetNameOf(task: ActionTask | undefined): string | undefined {
  return task?.inputs.flags['target'];
}

/** The commit in the working tree. `pathOf` returns a file's path in the repository, undefined outside it. */
type Checkout = { readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** Reads the checkout from the job's variables. */
export function checkoutFromEnvironment(run: WorkflowRun, context: CliContext): Checkout {
  return { commit: run.commit, pathOf: repositoryPaths(relative(run.workspace, context.cwd), context) };
}

/**
 * Reads the checkout from git, because it can have another commit than the event, in another folder; without a repository,
 * from the job's variables.
 */
export async function readCheckout(run: WorkflowRun, context: CliContext): Promise<Checkout> {
  const repository = mayBeInRepository(context.cwd) ? await repositoryOf({ folder: context.cwd, env: context.env }) : undefined;
  if (repository === undefined) return checkoutFromEnvironment(run, context);
  return { commit: (await headOf(repository)) ?? run.commit, pathOf: repositoryPaths(repository.prefix, context) };
}
