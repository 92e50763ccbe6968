import type { JobLog } from '../../github/job-log.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { World } from '../world.ts';
import type { Checkout } from './checkout.ts';
import type { Course } from './course.ts';
import type { Findings } from './findings.ts';
import type { Inputs } from './inputs.ts';

/** What a step of a workflow set out to do. */
export type Step = {
  readonly inputs: Inputs;
  readonly run: WorkflowRun;
  readonly course: Course;
  readonly checkout: Checkout;
};

/** What came of a step, and where it is told. */
export type Telling = {
  /** Undefined where the inputs were wrong. */
  readonly step: Step | undefined;
  readonly findings: Findings;
  readonly exitCode: number;
  readonly log: JobLog;
  readonly world: World;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** The target that a step was asked to go to, where it was named. */
export function targetOf(step: Step | undefined): string | undefined {
  return step?.inputs.flags['target'];
}
