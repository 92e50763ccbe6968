import type { JobLog } from '../../github/job-log.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { Checkout } from './checkout.ts';
import type { ActionStep } from './action-step.ts';
import type { Findings } from './findings.ts';
import type { ActionInputs } from './inputs.ts';

/** What a step of a workflow set out to do. */
export type ActionTask = {
  readonly inputs: ActionInputs;
  readonly run: WorkflowRun;
  readonly step: ActionStep;
  readonly checkout: Checkout;
};

/** What came of a step, and where it is told. */
export type TaskResult = {
  /** Undefined where the inputs were wrong. */
  readonly task: ActionTask | undefined;
  readonly findings: Findings;
  readonly exitCode: number;
  readonly log: JobLog;
  readonly context: CliContext;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** The target that a step was asked to go to, where it was named. */
export function targetNameOf(task: ActionTask | undefined): string | undefined {
  return task?.inputs.flags['target'];
}
