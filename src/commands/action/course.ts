import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import { UsageError } from '../../model/errors.ts';
import { argvOf, type Inputs, type Mode } from './inputs.ts';
import { tokenVariable } from '../setting.ts';
import type { World } from '../world.ts';

/** What a step does: a command line, and what is to be said beside its result. */
export type Course = {
  readonly mode: Mode;
  readonly argv: readonly string[];
  /** Sentences for the head of the report. */
  readonly notes: readonly string[];
  /** Where the plan's JSON goes. */
  readonly planPath?: string;
};

/** Makes a command line of inputs and event: a proposal without secrets is checked alone, and none is applied before the merge. */
export function courseOf(inputs: Inputs, run: WorkflowRun, world: World): Course {
  const { mode } = inputs;
  if (mode === 'validate') return { mode, argv: argvOf(inputs, mode), notes: [] };
  if (mode === 'apply') {
    refuseUnmerged(run);
    return { mode, argv: argvOf(inputs, mode, ['--yes']), notes: [] };
  }
  const reason = withoutSecrets(inputs, run, world);
  if (reason !== undefined) return { mode: 'validate', argv: argvOf(inputs, 'validate'), notes: [reason] };
  const planPath = join(run.temp, `ostiary-plan-${randomUUID()}.json`);
  return { mode, argv: argvOf(inputs, mode, [`--report=json=${planPath}`]), notes: [], planPath };
}

function refuseUnmerged({ event, pullRequest }: WorkflowRun): void {
  if (pullRequest === undefined || pullRequest.merged) return;
  throw new UsageError(
    `mode: apply runs after the merge, and pull request ${pullRequest.number} of this ${event} is not merged`,
    'run it on push to the branch, or on a pull request that was closed by its merge',
  );
}

/** Why nothing can be asked of a gateway here: who proposes the change gets no secrets. */
function withoutSecrets({ flags }: Inputs, { pullRequest }: WorkflowRun, world: World): string | undefined {
  if (pullRequest === undefined || (!pullRequest.fork && pullRequest.author !== 'dependabot[bot]')) return undefined;
  if ((world.env[tokenVariable(flags, world)] ?? '') !== '') return undefined;
  const who = pullRequest.fork ? 'comes from a fork, which gets no secrets' : 'comes from Dependabot, which gets no secrets of Actions';
  return `This pull request ${who}: the manifests were checked, and no gateway was asked. The plan is made after the merge.`;
}
