import { randomUUID } from 'node:crypto';
import { openJobLog, type JobLog, maskCommands } from '../../github/job-log.ts';
import { resolveAgreedDigest } from './agreement.ts';
import { prepareTasks, type PreparedTasks, type EventReceiver } from './prepare-tasks.ts';
import { createStep, fallbackToValidate } from './action-step.ts';
import { addEvent, type Findings } from './findings.ts';
import { printExitCodes, worstExitCode } from '../run-for-targets.ts';
import { runGuarded } from '../context/guard.ts';
import { run as runCommand } from '../program.ts';
import { targetNameOf, type ActionTask, type TaskResult } from './task.ts';
import { tellGitHub } from './tell.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';

/**
 * Runs one step of a workflow: converts the inputs to a command line for each target, runs them and reports the results on
 * GitHub. Never throws.
 */
export async function action(context: CliContext, sleep: TaskResult['sleep']): Promise<number> {
  const log = openJobLog(context.stdout.write, randomUUID());
  const inner = actionContext(context, log);
  const results = await tellingsOf({ log, context, inner, sleep });
  const told = await runGuarded(async () => tellGitHub(results), { context: inner, color: false });
  log.close();
  const ended = worstExitCode(results.map(endOf));
  return ended === 0 ? told : ended;
}

type Job = Pick<TaskResult, 'log' | 'context' | 'sleep'> & { readonly inner: CliContext };

/** Runs the tasks of all targets one after another; a failed target does not stop the others. */
async function tellingsOf(job: Job): Promise<readonly TaskResult[]> {
  const { log, context, sleep, inner } = job;
  const listener = listenerOf(job);
  let begun: PreparedTasks | undefined;
  let task: ActionTask | undefined;
  const exitCode = await runGuarded(
    async () => {
      begun = await prepareTasks(context, listener, (known) => {
        task = known;
      });
      return 0;
    },
    { context: listener.context, color: false },
  );
  if (begun === undefined) return [{ task, findings: listener.findings(), exitCode, log, context, sleep }];
  const results: TaskResult[] = [];
  for (const one of begun.tasks) {
    if (results.length > 0) inner.stdout.write('\n\n');
    results.push(await runTask(one, { env: begun.env, oneOfSeveral: begun.tasks.length > 1 }, job));
  }
  const codes = new Map(results.map((telling) => [targetNameOf(telling.task) ?? '', telling.exitCode]));
  if (results.length > 1) printExitCodes(codes, { color: false, quiet: false }, inner);
  return results;
}

type Listener = EventReceiver & { readonly findings: () => Findings };

/** Makes a context that collects events; masks secrets at once. */
function listenerOf({ log, inner }: Pick<Job, 'log' | 'inner'>): Listener {
  let findings: Findings = { diagnostics: [] };
  const onEvent = (event: CommandEvent): void => {
    if ('secret' in event) log.command(maskCommands(event.secret));
    findings = addEvent(findings, event);
  };
  return { context: { ...inner, onEvent }, onEvent, findings: () => findings };
}

/** Runs the command line of one target. */
async function runTask(given: ActionTask, place: Pick<CliContext, 'env' | 'oneOfSeveral'>, job: Job): Promise<TaskResult> {
  const { log, context, sleep } = job;
  const { context: heard, findings } = listenerOf(job);
  const listening: CliContext = { ...heard, ...place };
  let task = given;
  const exitCode = await runGuarded(
    async () => {
      const { run, inputs } = given;
      const agreed = await resolveAgreedDigest(inputs, { run, context: listening, sleep });
      const step = await fallbackToValidate(agreed === inputs ? given.step : createStep(agreed, run), agreed, { run, context: listening });
      task = { ...given, step };
      return runCommand(step.argv, listening);
    },
    { context: listening, color: false },
  );
  return { task, findings: findings(), exitCode, log, context, sleep };
}

/** Returns the step's exit code for a target. Drift is an expected result, so it fails the step only with detailed-exitcode. */
function endOf({ task, exitCode }: TaskResult): number {
  return exitCode === 2 && task?.step.mode === 'drift' && !task.inputs.detailed ? 0 : exitCode;
}

/** Makes a context with one stream for all output, so that no text overtakes the command that allows it. */
function actionContext(context: CliContext, log: JobLog): CliContext {
  const output = { write: log.text, isTTY: false, columns: undefined };
  return { ...context, interactive: false, stdout: output, stderr: output };
}
