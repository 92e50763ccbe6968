import type { JobLog } from '../../github/job-log.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { Checkout } from './checkout.ts';
import type { ActionStep } from './action-step.ts';
import type { Findings } from './findings.ts';
import type { ActionInputs } from './inputs.ts';

/** What a step of a workflow does for one target. */
export type ActionTask = {
  readonly inputs: ActionInputs;
  readonly run: WorkflowRun;
  readonly step: ActionStep;
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
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Returns the name of the task's target, if the inputs name one. */
export function targetNameOf(task: ActionTask | undefined): string | undefined {
  return task?.inputs.flags['target'];
}
