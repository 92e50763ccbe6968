import { resolve } from 'node:path';
import { isFolder, readRunnerFile } from '../../disk/write.ts';
import { UsageError } from '../../model/errors.ts';
import { withGitCredentials, readWorkflowRun, type WorkflowRun } from '../../github/workflow-run.ts';
import { pathForTarget, requirePathPerTarget, selectTargets, type TargetSelector } from '../../project/select-targets.ts';
import { digestFromComment } from './decisions.ts';
import { readCheckout, checkoutFromEnvironment } from './checkout.ts';
import { findProposal } from './proposal.ts';
import { createStep, reportSecrets } from './action-step.ts';
import { senderOf } from './open-run-github.ts';
import { restoreRunCache, type RunCache } from './run-cache.ts';
import type { JobLog } from '../../github/job-log.ts';
import { linesOf, readInputs, type ActionInputs } from './inputs.ts';
import type { ActionTask } from './task.ts';
import { readNetwork } from '../context/network.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';

/** The tasks of a step, one for each target, and the environment and the folder to run them in. */
export type PreparedTasks = Pick<CliContext, 'env' | 'cwd'> & {
  readonly tasks: readonly ActionTask[];
  readonly cache: RunCache | undefined;
};

/** A context, the receiver of its events, and the log of the job. */
export type EventReceiver = { readonly context: CliContext; readonly onEvent: (event: CommandEvent) => void; readonly log: JobLog };

/** Reads the inputs, the event and the checkout; calls `onTask` with each intermediate state, for the report of an error. */
export async function prepareTasks(
  context: CliContext,
  { context: inner, onEvent, log }: EventReceiver,
  onTask: (task: ActionTask) => void,
): Promise<PreparedTasks> {
  const inputs = readInputs(context.env);
  const first = firstTask(inputs, context);
  const { run } = first;
  onTask({ ...first, inputs: withoutComment(inputs) });
  if (inputs.token !== '') onEvent({ secret: inputs.token });
  const env = withGitCredentials(context.env, inputs.token, run.page);
  const cwd = workingDirectoryOf(inputs, run, context);
  const inGit: CliContext = { ...inner, env, cwd };
  const checkout = await readCheckout(run, inGit);
  // Before anything is sent to GitHub: an invalid proxy fails the step once.
  readNetwork(context.env);
  // Until the checkout is known to belong to the event, its comment stays as it is.
  onTask({ ...first, checkout, inputs: withoutComment(inputs) });
  const proposal = await findProposal(inputs, run, inGit);
  onTask({ ...first, checkout, ...(inputs.several ? { inputs: withoutComment(inputs) } : {}) });
  const cache = await restoreRunCache(inputs, { run, env: context.env, log, send: senderOf(context.env) });
  const cached = cache === undefined ? inputs : { ...inputs, flags: { ...inputs.flags, cache: cache.folder } };
  const tasks = splitByTarget(cached, inGit).map((own) => ({
    inputs: own,
    run,
    checkout,
    proposal,
    step: createStep(own, { ...run, commit: checkout.commit }, proposal),
  }));
  // The output of one target can contain a secret of another.
  if (tasks.length > 1) for (const task of tasks) await reportSecrets(task.inputs, { proposal, context: inGit });
  return { tasks, env, cwd, cache };
}

/** Returns the folder that the step works in. Throws UsageError if the input names no folder. */
function workingDirectoryOf({ workingDirectory }: ActionInputs, { workspace }: WorkflowRun, { cwd }: CliContext): string {
  if (workingDirectory === undefined) return cwd;
  const folder = resolve(workspace, workingDirectory);
  if (isFolder(folder)) return folder;
  throw new UsageError(
    `the working-directory "${workingDirectory}" does not exist`,
    'name a folder of the repository, and check it out first',
  );
}

/** Returns inputs without a comment; several targets have no comment in common, because it would never be updated. */
function withoutComment(inputs: ActionInputs): ActionInputs {
  const { target, ...flags } = inputs.flags;
  return { ...inputs, comment: false, flags: inputs.several || target === undefined ? flags : { ...flags, target } };
}

function firstTask(inputs: ActionInputs, context: CliContext): ActionTask {
  const { env } = context;
  const event = env['GITHUB_EVENT_PATH'] ?? '';
  const run = readWorkflowRun(env, event === '' ? '' : readRunnerFile(event));
  const step = { mode: inputs.mode, argv: [], notes: [] };
  return { inputs, run, step, proposal: undefined, checkout: checkoutFromEnvironment(run, context) };
}

/** Returns the inputs for each selected target, with files of its own. Throws UsageError for an invalid selection. */
function splitByTarget(inputs: ActionInputs, context: CliContext): readonly ActionInputs[] {
  const names = selectTargets(aimOf(inputs), context);
  if (names === undefined) return [inputs];
  const { environment } = inputs;
  if (environment?.includes('{target}') === false)
    throw new UsageError(`several targets would use the same environment "${environment}"`, 'add {target} to its name');
  const { 'all-targets': _, ...flags } = inputs.flags;
  const written = files.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  requirePathPerTarget(written.flatMap(([name, text]) => (name === 'report' ? linesOf(text).map(pathOf) : [text])));
  return names.map((target) => ({
    ...inputs,
    flags: { ...flags, ...Object.fromEntries(written.map(([name, text]) => [name, pathForTarget(text, target)])), target },
  }));
}

/** Inputs that name files to write. */
const files = ['report', 'out', 'journal'] as const;

function pathOf(report: string): string {
  return report.slice(report.indexOf('=') + 1);
}

function aimOf({ flags: { config, target, url, plan, digest, 'all-targets': all } }: ActionInputs): TargetSelector {
  // Each target has its own comment, and so its own digest.
  const one = digest === digestFromComment ? undefined : digest;
  const given = Object.entries({ config, target, url, plan, digest: one }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), allTargets: all !== undefined };
}
