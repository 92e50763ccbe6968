import { randomUUID } from 'node:crypto';
import { openJobLog, type JobLog, maskCommands } from '../../github/job-log.ts';
import { overrideCommands, withDecisions, type Decisions } from './decisions.ts';
import { prepareTasks, type PreparedTasks, type EventReceiver } from './prepare-tasks.ts';
import {
  addEvent,
  createStep,
  fallbackToValidate,
  type Findings,
  targetNameOf,
  type ActionTask,
  type TaskResult,
  type Waits,
} from './task.ts';
import { printExitCodes, worstExitCode } from '../run-for-targets.ts';
import { runGuarded } from '../context/guard.ts';
import { runCommandLine } from '../context/run-command-line.ts';
import { workflowCommands } from './workflow-commands.ts';
import { reportToGitHub } from './report-to-github.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';

const plainFlags = { color: false, quiet: false } as const;

/**
 * Runs one step of a workflow: converts the inputs to a command line for each target, runs them and reports the results on
 * GitHub. Never throws.
 */
export async function action(context: CliContext, sleep: Waits['sleep']): Promise<number> {
  const log = openJobLog(context.stdout.write, randomUUID());
  const inner = actionContext(context, log);
  const results = await runTasks({ log, context, inner, waits: { sleep, waited: 0 } });
  const reported = await runGuarded(async () => reportToGitHub(results), { context: inner, flags: plainFlags });
  log.close();
  const ended = worstExitCode(results.map(stepExitCode));
  return ended === 0 ? reported : ended;
}

type Job = Pick<TaskResult, 'log' | 'context' | 'waits'> & { readonly inner: CliContext };

/** Runs the tasks of all targets one after another; a failed target does not stop the others. */
async function runTasks(job: Job): Promise<readonly TaskResult[]> {
  const { log, context, waits, inner } = job;
  const recorder = recordFindings(job);
  let prepared: PreparedTasks | undefined;
  let task: ActionTask | undefined;
  const exitCode = await runGuarded(
    async () => {
      prepared = await prepareTasks(context, recorder, (known) => {
        task = known;
      });
      return 0;
    },
    { context: recorder.context, flags: plainFlags },
  );
  if (prepared === undefined) return [{ task, findings: recorder.findings(), exitCode, log, context, waits }];
  const results: TaskResult[] = [];
  for (const one of prepared.tasks) {
    if (results.length > 0) inner.stdout.write('\n\n');
    const { env, cwd } = prepared;
    results.push(
      await runTask(
        one,
        { env, oneOfSeveral: prepared.tasks.length > 1 },
        { ...job, context: { ...context, cwd }, inner: { ...inner, cwd } },
      ),
    );
  }
  await prepared.cache?.save();
  const codes = new Map(results.map(({ task: done, exitCode: code }) => [targetNameOf(done) ?? '', code]));
  if (results.length > 1) printExitCodes(codes, plainFlags, inner);
  return results;
}

type FindingsRecorder = EventReceiver & { readonly findings: () => Findings };

/** Makes a context that collects events; masks secrets at once. */
function recordFindings({ log, inner }: Pick<Job, 'log' | 'inner'>): FindingsRecorder {
  let findings: Findings = { diagnostics: [] };
  const onEvent = (event: CommandEvent): void => {
    if ('secret' in event) log.command(maskCommands(event.secret));
    findings = addEvent(findings, event);
  };
  return { context: { ...inner, onEvent }, onEvent, log, findings: () => findings };
}

/** Runs the command line of one target. */
async function runTask(given: ActionTask, place: Pick<CliContext, 'env' | 'oneOfSeveral'>, job: Job): Promise<TaskResult> {
  const { log, context, waits } = job;
  const { context: recorded, findings } = recordFindings(job);
  const taskContext: CliContext = { ...recorded, ...place };
  let task = given;
  let decisions: Decisions = { inputs: given.inputs };
  const exitCode = await runGuarded(
    async () => {
      const { run, inputs, proposal } = given;
      decisions = await withDecisions(inputs, { run, context: taskContext, waits });
      const { inputs: decided } = decisions;
      const step = await fallbackToValidate(
        decided === inputs ? given.step : createStep(decided, { ...run, commit: given.checkout.commit }, proposal),
        decided,
        {
          run,
          proposal,
          context: taskContext,
        },
      );
      task = { ...given, step };
      return runCommandLine(step.argv, taskContext, { byHeading: { 'Commands:': Object.values(workflowCommands) } });
    },
    { context: taskContext, flags: plainFlags },
  );
  const found = findings();
  const diagnostics = [...found.diagnostics, ...overrideCommands(found, decisions)];
  return { task, findings: { ...found, diagnostics }, exitCode, log, context, waits };
}

/** Returns the step's exit code for a target. Drift is an expected result, so it fails the step only with detailed-exitcode. */
function stepExitCode({ task, exitCode }: TaskResult): number {
  return exitCode === 2 && task?.step.mode === 'drift' && !task.inputs.detailed ? 0 : exitCode;
}

/** Makes a context with one stream for all output, so that no text overtakes the command that allows it. */
function actionContext(context: CliContext, log: JobLog): CliContext {
  const output = { write: log.text, isTTY: false, columns: undefined, ansi: false };
  return { ...context, interactive: false, stdout: output, stderr: output };
}
